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
  const DType dtype = dtype_of(call, "dtype") == DType::None ? x.dtype() : dtype_of(call, "dtype");
  if (x.dtype() == DType::String || dtype == DType::String || dtype_bytes(dtype) != dtype_bytes(x.dtype()))
    call.fail(ErrorCode::Unsupported, "elements of {} and {} are not equally large", dtype_name(x.dtype()),
              dtype_name(dtype));
  const bool has_shape = given(call, 1) || call.has_attr("shape");
  const Dims dims = has_shape ? dims_of(call, "shape", 1) : x.dims();
  const auto size = static_cast<int64_t>(dtype_bytes(dtype));
  const int64_t bytes = call.integer("relative_byte_offset"), offset = bytes / size;
  if (bytes < 0 || bytes % size != 0)
    call.fail(ErrorCode::InvalidArgument, "relative_byte_offset is {}, no multiple of the {} bytes of {}", bytes, size,
              dtype_name(dtype));
  const PrimExpr count = product(dims);
  if (prove_less(product(x.dims()), count + offset) == Proof::Yes)
    call.fail(ErrorCode::ShapeMismatch, "{} has {} elements, {} behind the first {} are asked for", x.name,
              to_text(product(x.dims())), to_text(count), offset);
  Expr flat = make_call("flatten", {call.arg(0)});
  if (offset != 0 || prove_equal(count, product(x.dims())) != Proof::Yes)
    flat = make_call("strided_slice", {flat, make_shape({offset}), make_shape({simplify(count + offset)})},
                     {{"axes", std::vector<int64_t>{0}}});
  if (dtype != x.dtype()) flat = make_call("reinterpret", {flat}, {{"dtype", dtype}});
  return make_call("reshape", {flat, make_shape(dims)}, {{"allowzero", true}});
}

}  // namespace ingot::ops
