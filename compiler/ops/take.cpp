#include <limits>

#include "compiler/ops/composed.h"
#include "compiler/ops/coordinates.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

// Operators that read at places which other tensors name. Unless a mode says otherwise, a negative index counts from
// the end, and one outside of the tensor is an IndexOutOfRange fault when it is used.
namespace ingot::ops {

using namespace ir;
using tir::Indices;

namespace {

enum class OutOfRange : uint8_t { Fault, Clip, Wrap, NotANumber };

OutOfRange mode_of(const CallSite& call) {
  const std::string mode = call.text("mode");
  if (mode == "raise" || mode == "fast") return OutOfRange::Fault;
  if (mode == "clip") return OutOfRange::Clip;
  if (mode == "wrap") return OutOfRange::Wrap;
  if (mode == "nan") return OutOfRange::NotANumber;
  call.fail(ErrorCode::InvalidArgument,
            "mode is \"{}\", possible are \"clip\", \"wrap\", \"fast\", \"nan\" and \"raise\"", mode);
}

// Binds an index that the program computes, so that it can stand in indices of buffers. Only a fault tells negative
// indices, which count from the end, from others that are outside.
PrimExpr bind_index(const Element& value, const PrimExpr& extent, OutOfRange mode, std::vector<tir::Stmt>& statements) {
  const Element index = cast(DType::Int64, value);
  const Element end = element(DType::Int64, extent);
  Element place = index;
  if (mode == OutOfRange::Fault) place = select(index < 0, index + end, index);
  if (mode == OutOfRange::Clip || mode == OutOfRange::NotANumber) place = min(max(index, 0), end - 1);
  if (mode == OutOfRange::Wrap) place = apply(tir::ExprOp::FloorMod, index, end);
  const auto var = tir::make_let("at", DType::Int64);
  statements.push_back(tir::let(var, place.expr));
  return PrimExpr(var->index);
}

}  // namespace

namespace {

// With a prim as the index: by the tensor of it.
std::optional<Expr> by_tensor(const CallSite& call) {
  const auto& index = call.info(1);
  if (index == nullptr || index->kind != InfoKind::Prim) return std::nullopt;
  const Expr tensor = make_builtin("prim_to_tensor", {call.arg(1)}, tensor_info(index->dtype, Dims{}));
  return make_call("take", {call.arg(0), tensor}, call.attrs());
}

// The first dimensions that x and the indices share.
size_t batch_dims(const CallSite& call, size_t index_rank) {
  const int64_t given = call.integer("batch_dims");
  const int64_t batch = given < 0 ? given + static_cast<int64_t>(index_rank) : given;
  const int64_t axis = call.has_attr("axis") ? call.axis("axis", operand(call, 0).rank()) : 0;
  if (batch < 0 || batch > static_cast<int64_t>(index_rank) || batch > axis)
    call.fail(ErrorCode::InvalidArgument, "batch_dims is {}; the indices have rank {}, the axis is {}", given,
              index_rank, axis);
  return static_cast<size_t>(batch);
}

}  // namespace

StructInfo infer_take(const CallSite& call) {
  if (by_tensor(call)) return infer_composed(call);
  const auto x = operand(call, 0);
  const auto indices = operand(call, 1);
  require_integer(call, indices);
  if (mode_of(call) == OutOfRange::NotANumber) require_float(call, x);
  if (!call.has_attr("axis")) return tensor_like(x, indices.dims());
  const auto axis = static_cast<size_t>(call.axis("axis", x.rank()));
  const size_t batch = batch_dims(call, indices.rank());
  for (size_t d = 0; d < batch; ++d)
    require_equal(call, "batch dimensions", x, x.dims()[d], indices, indices.dims()[d]);
  Dims dims(x.dims().begin(), x.dims().begin() + static_cast<ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims().begin() + static_cast<ptrdiff_t>(batch), indices.dims().end());
  dims.insert(dims.end(), x.dims().begin() + static_cast<ptrdiff_t>(axis) + 1, x.dims().end());
  return tensor_like(x, dims);
}

Meaning define_take(const CallSite& call) {
  if (auto plain = by_tensor(call)) return *std::move(plain);
  OpFunc f(call);
  const Dims dims = f.dims(f.in());
  const size_t index_rank = f.dims(f.in(1)).size();
  const bool flat = !call.has_attr("axis");
  const size_t axis = flat ? 0 : static_cast<size_t>(call.axis("axis", dims.size()));
  const size_t batch = batch_dims(call, index_rank);
  const auto shared = static_cast<ptrdiff_t>(batch), own = static_cast<ptrdiff_t>(index_rank - batch);
  const OutOfRange mode = mode_of(call);
  for (size_t d = 0; d < batch; ++d) f.require_size(1, d, dims[d]);
  f.nest(f.dims(f.out()), [&](const Indices& i) {
    const auto begin = i.begin() + static_cast<ptrdiff_t>(axis);
    std::vector<tir::Stmt> body;
    Indices of_index(i.begin(), i.begin() + shared);
    of_index.insert(of_index.end(), begin, begin + own);
    const Element index = f.load(f.in(1), of_index);
    const PrimExpr extent = flat ? product(dims) : dims[axis];
    const PrimExpr place = bind_index(index, extent, mode, body);
    Indices at;
    if (flat) {
      PrimExpr rest = place;
      at.resize(dims.size());
      for (size_t d = dims.size(); d > 0; --d) {
        at[d - 1] = d == 1 ? rest : floor_mod(rest, dims[d - 1]);
        rest = floor_div(rest, dims[d - 1]);
      }
    } else {
      at.assign(i.begin(), begin);
      at.push_back(place);
      at.insert(at.end(), begin + own, i.end());
    }
    Element value = f.load(f.in(), at);
    if (mode == OutOfRange::NotANumber) {
      const Element given = cast(DType::Int64, index);
      const Element inside = both(given >= 0, given < element(DType::Int64, extent));
      value = select(inside, value, std::numeric_limits<double>::quiet_NaN());
    }
    body.push_back(tir::store(f.out(), i, value.expr));
    return body;
  });
  return f.finish();
}

// Element [i, j, ...] of the result is data[.., indices[i, j, ...], ..], the index standing at the axis.
StructInfo infer_gather_elements(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto indices = operand(call, 1);
  require_integer(call, indices);
  require_rank(call, indices, x.rank());
  const auto axis = static_cast<size_t>(call.axis("axis", x.rank()));
  for (size_t d = 0; d < x.rank(); ++d)
    if (d != axis && prove_less(x.dims()[d], indices.dims()[d]) == Proof::Yes)
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {}, {} has only {}", d, indices.name,
                to_text(indices.dims()[d]), x.name, to_text(x.dims()[d]));
  return tensor_like(x, indices.dims());
}

Meaning define_gather_elements(const CallSite& call) {
  OpFunc f(call);
  const auto axis = static_cast<size_t>(call.axis("axis", f.dims(f.in()).size()));
  for (size_t d = 0; d < f.dims(f.in()).size(); ++d) {
    const PrimExpr &most = f.dims(f.in())[d], &size = f.dims(f.in(1))[d];
    if (d != axis && prove_less_equal(size, most) != Proof::Yes)
      f.require(fmt::format("x1_{}", d), PrimExpr::make(PrimOp::LessEqual, {size, most}));
  }
  f.nest(f.dims(f.out()), [&](const Indices& i) {
    std::vector<tir::Stmt> body;
    Indices at = i;
    at[axis] = bind_index(f.load(f.in(1), i), f.dims(f.in())[axis], OutOfRange::Fault, body);
    body.push_back(tir::store(f.out(), i, f.load(f.in(), at).expr));
    return body;
  });
  return f.finish();
}

namespace {

// How many coordinates each place has, as the indices or index_rank say.
int64_t depth_of(const CallSite& call, const Operand& indices, const Coordinates& coordinates) {
  const auto known = coordinates.depth.as_const();
  if (!call.has_attr("index_rank")) {
    if (!known)
      call.fail(ErrorCode::TypeError, "the {} dimension of {} must be known, it is {}; or give index_rank",
                coordinates.first ? "first" : "last", indices.name, to_text(coordinates.depth));
    return *known;
  }
  const int64_t depth = call.integer("index_rank");
  if (known && *known != depth)
    call.fail(ErrorCode::ShapeMismatch, "index_rank is {}, {} names {} coordinates", depth, indices.name, *known);
  return depth;
}

}  // namespace

StructInfo infer_gather_nd(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto indices = operand(call, 1);
  require_integer(call, indices);
  const Coordinates coordinates = coordinates_of(call, indices);
  const int64_t depth = depth_of(call, indices, coordinates), batch = call.integer("batch_dims");
  if (batch < 0 || batch >= static_cast<int64_t>(indices.rank()) || depth < 1 || depth > kMaxRank ||
      batch + depth > static_cast<int64_t>(x.rank()))
    call.fail(ErrorCode::ShapeMismatch, "{} names {} coordinates behind {} batch dimensions, {} has rank {}",
              indices.name, depth, batch, x.name, x.rank());
  for (size_t d = 0; d < static_cast<size_t>(batch); ++d)
    require_equal(call, "batch dimensions", x, x.dims()[d], indices, coordinates.places[d]);
  Dims dims = coordinates.places;
  dims.insert(dims.end(), x.dims().begin() + batch + depth, x.dims().end());
  return tensor_like(x, dims);
}

Meaning define_gather_nd(const CallSite& call) {
  OpFunc f(call);
  const Dims dims = f.dims(f.in());
  const Coordinates coordinates = coordinates_of(call, f.operand(1));
  const auto places = static_cast<ptrdiff_t>(coordinates.places.size());
  const auto depth = static_cast<size_t>(depth_of(call, f.operand(1), coordinates));
  if (!coordinates.depth.as_const())
    f.require_size(1, coordinates.first ? 0 : coordinates.places.size(), static_cast<int64_t>(depth));
  const auto batch = static_cast<size_t>(call.integer("batch_dims"));
  for (size_t d = 0; d < batch; ++d) f.require_size(0, d, coordinates.places[d]);
  f.nest(f.dims(f.out()), [&](const Indices& i) {
    std::vector<tir::Stmt> body;
    Indices at(i.begin(), i.begin() + static_cast<ptrdiff_t>(batch));
    const Indices place(i.begin(), i.begin() + places);
    for (size_t k = 0; k < depth; ++k)
      at.push_back(
          bind_index(f.load(f.in(1), index_of(coordinates.first, place, k)), dims[batch + k], OutOfRange::Fault, body));
    at.insert(at.end(), i.begin() + places, i.end());
    body.push_back(tir::store(f.out(), i, f.load(f.in(), at).expr));
    return body;
  });
  return f.finish();
}

}  // namespace ingot::ops
