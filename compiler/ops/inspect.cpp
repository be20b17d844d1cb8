#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "runtime/symbolic/simplify.h"

// Relax's inspect.*: what is known of a tensor, as prims; and memory.view, its bytes under another shape or dtype.
namespace ingot::ops {

using namespace ir;

namespace {

size_t dimension(const CallSite& call, const Operand& x) { return static_cast<size_t>(call.axis("axis", x.rank())); }

// Of DLPack, where booleans are unsigned integers of one bit.
int64_t dtype_code(DType dtype) {
  if (dtype == DType::BFloat16) return 4;
  return is_float(dtype) ? 2 : is_signed_int(dtype) ? 0 : 1;
}

DType unsigned_of(int64_t bytes) {
  return bytes == 1 ? DType::UInt8 : bytes == 2 ? DType::UInt16 : bytes == 4 ? DType::UInt32 : DType::UInt64;
}

Expr seen_as(const Expr& x, DType from, DType to) {
  return from == to ? x : make_call("reinterpret", {x}, {{"dtype", to}});
}

// How far the parts of an element lie from its lowest bit, in memory order.
Expr shifts(int64_t whole, int64_t part) {
  const DType dtype = unsigned_of(whole);
  const Expr places = make_call("arange", {make_prim(0), make_prim(whole / part), make_prim(1)}, {{"dtype", dtype}});
  return make_call("multiply", {places, scalar(dtype, static_cast<double>(8 * part))});
}

// Unsigned elements of `whole` bytes as twice, four or eight times as many of `part` bytes.
Expr split_elements(const Expr& x, int64_t whole, int64_t part) {
  const Expr moved =
      make_call("right_shift", {make_call("expand_dims", {x}, {{"axis", int64_t{1}}}), shifts(whole, part)});
  return make_call("flatten", {make_call("cast", {moved}, {{"dtype", unsigned_of(part)}})});
}

// The reverse, to `count` elements.
Expr joined_elements(const Expr& x, const PrimExpr& count, int64_t part, int64_t whole) {
  const Expr parts = make_call("reshape", {x, make_shape({count, whole / part})}, {{"allowzero", true}});
  const Expr moved =
      make_call("left_shift", {make_call("cast", {parts}, {{"dtype", unsigned_of(whole)}}), shifts(whole, part)});
  return make_call("sum", {moved}, {{"axis", std::vector<int64_t>{1}}});
}

int64_t byte_offset(const CallSite& call) {
  if (!given(call, 3)) return call.integer("relative_byte_offset");
  const auto known = constant_integers(call, 3);
  if (!known || known->size() != 1 || !known->front().as_const())
    call.fail(ErrorCode::TypeError, "{} must be a prim that is known at compile time", call.name_of(3));
  return *known->front().as_const();
}

}  // namespace

Meaning define_inspect(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto name = call.op().name;
  if (x.dtype() == DType::String) call.fail(ErrorCode::TypeError, "{} holds strings", x.name);
  if (name == "tensor_ndim") return make_prim(static_cast<int64_t>(x.rank()));
  if (name == "tensor_shape_i") return make_prim(x.dims()[dimension(call, x)]);
  if (name == "tensor_stride_i") {
    const size_t d = dimension(call, x) + 1;
    return make_prim(product(std::span(x.dims()).subspan(d)));
  }
  if (name == "tensor_dtype_code") return make_prim(dtype_code(x.dtype()));
  if (name == "tensor_dtype_bits")
    return make_prim(x.dtype() == DType::Bool ? 1 : 8 * static_cast<int64_t>(dtype_bytes(x.dtype())));
  if (name == "tensor_dtype_lanes") return make_prim(1);
  // Every tensor begins where its elements begin.
  return make_prim(0);
}

Meaning define_memory_view(const CallSite& call) {
  const auto x = operand(call, 0);
  const DType dtype = dtype_of(call, "dtype", 2) == DType::None ? x.dtype() : dtype_of(call, "dtype", 2);
  for (const DType of : {x.dtype(), dtype})
    if (of == DType::String) call.fail(ErrorCode::TypeError, "the bytes of strings cannot be seen as elements");
  const bool has_shape = given(call, 1) || call.has_attr("shape");
  const Dims dims = has_shape ? dims_of(call, "shape", 1) : x.dims();
  const auto before = static_cast<int64_t>(dtype_bytes(x.dtype())), size = static_cast<int64_t>(dtype_bytes(dtype));
  const int64_t bytes = byte_offset(call);
  if (bytes < 0 || bytes % size != 0)
    call.fail(ErrorCode::InvalidArgument, "relative_byte_offset is {}, no multiple of the {} bytes of {}", bytes, size,
              dtype_name(dtype));
  // Parts that elements of both dtypes consist of.
  const int64_t part = std::min(size, before);
  const PrimExpr have = simplify(product(x.dims()) * (before / part)), offset = bytes / part,
                 count = simplify(product(dims) * (size / part));
  if (exceeds(call, count + offset, have)) {
    if (size == before)
      call.fail(ErrorCode::ShapeMismatch, "{} has {} elements, {} behind the first {} are asked for", x.name,
                to_text(have), to_text(count), to_text(offset));
    call.fail(ErrorCode::ShapeMismatch, "{} has {} bytes, {} behind the first {} are asked for", x.name,
              to_text(simplify(have * part)), to_text(simplify(count * part)), bytes);
  }
  Expr flat = make_call("flatten", {call.arg(0)});
  if (size < before) flat = split_elements(seen_as(flat, x.dtype(), unsigned_of(before)), before, size);
  if (bytes != 0 || prove_equal(count, have) != Proof::Yes)
    flat = make_call("strided_slice", {flat, make_shape({offset}), make_shape({simplify(count + offset)})},
                     {{"axes", std::vector<int64_t>{0}}});
  if (size > before) flat = joined_elements(seen_as(flat, x.dtype(), unsigned_of(part)), product(dims), part, size);
  flat = seen_as(flat, size == before ? x.dtype() : unsigned_of(size), dtype);
  return make_call("reshape", {flat, make_shape(dims)}, {{"allowzero", true}});
}

}  // namespace ingot::ops
