#include <algorithm>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/layouts.h"
#include "runtime/symbolic/simplify.h"

// Operators that put elements elsewhere, as compositions of reshape, transpose and the like.
namespace ingot::ops {

using namespace ir;

namespace {

Expr reshaped(const Expr& x, Dims dims) {
  return make_call("reshape", {x, make_shape(std::move(dims))}, {{"allowzero", true}});
}

Expr transposed(const Expr& x, std::vector<int64_t> axes) {
  return make_call("transpose", {x}, {{"axes", std::move(axes)}});
}

// Blocks of `size` x `size` between channels and the two dimensions behind them.
int64_t block_size(const CallSite& call, const Operand& x, std::string_view attribute) {
  require_rank(call, x, 4);
  const int64_t size = call.integer(attribute);
  if (size < 1) call.fail(ErrorCode::InvalidArgument, "{} is {}, it must be 1 or more", attribute, size);
  return size;
}

void require_divisible(const CallSite& call, const Operand& x, size_t d, int64_t by) {
  if (differ(call, floor_mod(x.dims()[d], by), 0))
    call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {}, which {} does not divide", d, x.name,
              to_text(x.dims()[d]), by);
}

}  // namespace

// The dimensions from lhs_begin to before lhs_end become those of the other tensor from rhs_begin to before rhs_end.
Meaning define_reshape_like(const CallSite& call) {
  const auto x = operand(call, 0), like = operand(call, 1);
  const auto place = [&](std::string_view name, const Operand& of, size_t fallback) {
    if (!call.has_attr(name)) return fallback;
    const int64_t given = call.integer(name), rank = static_cast<int64_t>(of.rank());
    if (given < -rank || given > rank)
      call.fail(ErrorCode::IndexOutOfRange, "{} is {}, {} has rank {}", name, given, of.name, rank);
    return static_cast<size_t>(given < 0 ? given + rank : given);
  };
  const size_t begin = place("lhs_begin", x, 0), end = place("lhs_end", x, x.rank());
  const size_t first = place("rhs_begin", like, 0), last = place("rhs_end", like, like.rank());
  if (begin > end || first > last) call.fail(ErrorCode::InvalidArgument, "a range of dimensions ends before it begins");
  const auto at = [](const Dims& dims, size_t i) { return dims.begin() + static_cast<ptrdiff_t>(i); };
  Dims dims(x.dims().begin(), at(x.dims(), begin));
  dims.insert(dims.end(), at(like.dims(), first), at(like.dims(), last));
  dims.insert(dims.end(), at(x.dims(), end), x.dims().end());
  return reshaped(call.arg(0), std::move(dims));
}

// As reshape, with the special dimensions counted from the last: 0 that dimension, -2 all that remain, -3 the product
// of two.
Meaning define_reverse_reshape(const CallSite& call) {
  const auto x = operand(call, 0);
  const std::vector<int64_t> dims = call.integers("newshape");
  Dims asked;
  size_t left = x.rank();
  for (size_t i = dims.size(); i-- > 0;) {
    const auto last = [&]() -> PrimExpr {
      if (left == 0)
        call.fail(ErrorCode::ShapeMismatch, "dimension {} of the new shape is {} ({}), but {} has rank {}", i, dims[i],
                  dims[i] == 0 ? "keep" : "join", x.name, x.rank());
      return x.dims()[--left];
    };
    if (dims[i] < -3)
      call.fail(ErrorCode::InvalidArgument, "dimension {} of the new shape is {}; 0 to -3 are the special ones", i,
                dims[i]);
    if (dims[i] == -2) {
      while (left != 0) asked.push_back(last());
    } else if (dims[i] == -3) {
      const PrimExpr second = last();
      asked.push_back(simplify(last() * second));
    } else if (dims[i] == 0) {
      asked.push_back(last());
    } else {
      asked.emplace_back(dims[i]);
      if (left != 0) --left;
    }
  }
  std::ranges::reverse(asked);
  return make_call("reshape", {call.arg(0), make_shape(asked)}, {{"allowzero", true}});
}

Meaning define_broadcast_to_like(const CallSite& call) {
  return make_call("broadcast_to", {call.arg(0), make_shape(operand(call, 1).dims())});
}

Meaning define_cast_like(const CallSite& call) {
  return make_call("cast", {call.arg(0)}, {{"dtype", operand(call, 1).dtype()}});
}

Meaning define_wrap_param(const CallSite& call) {
  const DType dtype = dtype_of(call, "dtype", 1);
  if (dtype == DType::None || dtype == operand(call, 0).dtype()) return call.arg(0);
  return make_call("cast", {call.arg(0)}, {{"dtype", dtype}});
}

// Sums what broadcasting to the shape of x has repeated.
Meaning define_collapse_sum(const CallSite& call) {
  const auto x = operand(call, 0);
  const Dims dims = call.op().name == "collapse_sum_like" ? operand(call, 1).dims() : dims_of(call, "shape", 1);
  if (dims.size() > x.rank())
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, it cannot collapse to rank {}", x.name, x.rank(), dims.size());
  const size_t lead = x.rank() - dims.size();
  std::vector<int64_t> axes;
  for (size_t d = 0; d < x.rank(); ++d) {
    const bool sums = d < lead || (dims[d - lead].is_const(1) && !x.dims()[d].is_const(1));
    if (sums) axes.push_back(static_cast<int64_t>(d));
    if (!sums && prove_equal(x.dims()[d], dims[d - lead]) == Proof::Unknown && !dims[d - lead].as_const())
      call.fail(ErrorCode::Unsupported, "whether dimension {} of {}, {}, collapses to {} must be known", d, x.name,
                to_text(x.dims()[d]), to_text(dims[d - lead]));
    if (!sums && differ(call, x.dims()[d], dims[d - lead]))
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {}, it cannot collapse to {}", d, x.name,
                to_text(x.dims()[d]), to_text(dims[d - lead]));
  }
  if (axes.empty()) return call.arg(0);
  return reshaped(make_call("sum", {call.arg(0)}, {{"axis", axes}}), dims);
}

Meaning define_slice_like(const CallSite& call) {
  const auto x = operand(call, 0), like = operand(call, 1);
  std::vector<int64_t> along = call.has_attr("axes") ? axes(call, "axes", x.rank()) : std::vector<int64_t>{};
  if (!call.has_attr("axes"))
    for (size_t d = 0; d < std::min(x.rank(), like.rank()); ++d) along.push_back(static_cast<int64_t>(d));
  Dims begin, end;
  for (const int64_t axis : along) {
    const auto d = static_cast<size_t>(axis);
    if (d >= like.rank())
      call.fail(ErrorCode::ShapeMismatch, "axis {} lies outside of {} of rank {}", axis, like.name, like.rank());
    if (exceeds(call, like.dims()[d], x.dims()[d]))
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {}, {} has {}", d, x.name, to_text(x.dims()[d]),
                like.name, to_text(like.dims()[d]));
    begin.push_back(0);
    end.push_back(like.dims()[d]);
  }
  return make_call("strided_slice", {call.arg(0), make_shape(begin), make_shape(end)}, {{"axes", along}});
}

Meaning define_unstack(const CallSite& call) {
  const auto x = operand(call, 0);
  const int64_t axis = call.axis("axis", x.rank());
  const auto count = x.dims()[static_cast<size_t>(axis)].as_const();
  if (!count || *count > 10'000)
    call.fail(ErrorCode::Unsupported, "dimension {} of {} is {}, it must be known and at most 10000", axis, x.name,
              to_text(x.dims()[static_cast<size_t>(axis)]));
  std::vector<Expr> parts;
  for (int64_t i = 0; i < *count; ++i)
    parts.push_back(taken(call.arg(0), scalar(DType::Int64, static_cast<double>(i)), axis));
  return make_tuple(std::move(parts));
}

Meaning define_meshgrid(const CallSite& call) {
  const auto xs = operand_list(call, 0);
  const auto exprs = field_exprs(call, 0);
  const std::string indexing = call.text("indexing");
  if (indexing != "ij" && indexing != "xy")
    call.fail(ErrorCode::InvalidArgument, "indexing is \"{}\", possible are \"ij\" and \"xy\"", indexing);
  const size_t rank = xs.size();
  const auto place = [&](size_t i) { return indexing == "xy" && rank > 1 && i < 2 ? 1 - i : i; };
  Dims dims(rank);
  for (size_t i = 0; i < rank; ++i) {
    if (xs[i].rank() > 1)
      call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, vectors and scalars make a grid", xs[i].name, xs[i].rank());
    dims[place(i)] = product(xs[i].dims());
  }
  std::vector<Expr> grids;
  for (size_t i = 0; i < rank; ++i) {
    Dims own(rank, PrimExpr(1));
    own[place(i)] = dims[place(i)];
    grids.push_back(make_call("broadcast_to", {reshaped(exprs[i], own), make_shape(dims)}));
  }
  return make_tuple(std::move(grids));
}

Meaning define_depth_to_space(const CallSite& call) {
  if (auto plain = in_plain_layouts(call, "NCHW")) return *std::move(plain);
  const auto x = operand(call, 0);
  const bool shuffle = call.op().name == "pixel_shuffle";
  const int64_t size = block_size(call, x, shuffle ? "upscale_factor" : "block_size");
  require_divisible(call, x, 1, size * size);
  const Dims& d = x.dims();
  const PrimExpr channels = simplify(floor_div(d[1], size * size));
  const bool columns_first = shuffle || call.text("mode") == "CRD";
  const Dims split =
      columns_first ? Dims{d[0], channels, size, size, d[2], d[3]} : Dims{d[0], size, size, channels, d[2], d[3]};
  const std::vector<int64_t> order =
      columns_first ? std::vector<int64_t>{0, 1, 4, 2, 5, 3} : std::vector<int64_t>{0, 3, 4, 1, 5, 2};
  return reshaped(transposed(reshaped(call.arg(0), split), order),
                  {d[0], channels, simplify(d[2] * size), simplify(d[3] * size)});
}

Meaning define_space_to_depth(const CallSite& call) {
  if (auto plain = in_plain_layouts(call, "NCHW")) return *std::move(plain);
  const auto x = operand(call, 0);
  const int64_t size = block_size(call, x, "block_size");
  require_divisible(call, x, 2, size);
  require_divisible(call, x, 3, size);
  const Dims& d = x.dims();
  const PrimExpr rows = simplify(floor_div(d[2], size)), columns = simplify(floor_div(d[3], size));
  return reshaped(transposed(reshaped(call.arg(0), {d[0], d[1], rows, size, columns, size}), {0, 3, 5, 1, 2, 4}),
                  {d[0], simplify(d[1] * (size * size)), rows, columns});
}

namespace {

// The index tensors, broadcast to one another, as coordinates in a last dimension.
Expr coordinates(const CallSite& call, const std::vector<Expr>& exprs, const std::vector<Operand>& indices,
                 Dims& dims) {
  for (const auto& index : indices) require_integer(call, index);
  dims = broadcast(call, indices).dims;
  std::vector<Expr> parts;
  for (const Expr& e : exprs)
    parts.push_back(make_call("broadcast_to", {make_call("cast", {e}, {{"dtype", DType::Int64}}), make_shape(dims)}));
  return make_call("stack", {make_tuple(std::move(parts))}, {{"axis", int64_t{-1}}});
}

}  // namespace

Meaning define_index_tensor(const CallSite& call) {
  Dims dims;
  return make_call("gather_nd", {call.arg(0), coordinates(call, field_exprs(call, 1), operand_list(call, 1), dims)});
}

// Relay's form: one tuple of the data and the indices.
Meaning define_adv_index(const CallSite& call) {
  auto exprs = field_exprs(call, 0);
  auto list = operand_list(call, 0);
  if (list.size() < 2) call.fail(ErrorCode::ArityMismatch, "the data and at least one index are needed");
  const Expr data = exprs.front();
  exprs.erase(exprs.begin());
  list.erase(list.begin());
  Dims dims;
  return make_call("gather_nd", {data, coordinates(call, exprs, list, dims)});
}

Meaning define_index_put(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto indices = operand_list(call, 1);
  Dims dims;
  const Expr where = coordinates(call, field_exprs(call, 1), indices, dims);
  if (indices.size() > x.rank())
    call.fail(ErrorCode::ShapeMismatch, "{} index tensors are given, {} has rank {}", indices.size(), x.name, x.rank());
  dims.insert(dims.end(), x.dims().begin() + static_cast<ptrdiff_t>(indices.size()), x.dims().end());
  const Expr updates = make_call("broadcast_to", {call.arg(2), make_shape(dims)});
  return make_call("scatter_nd", {call.arg(0), where, updates},
                   {{"reduction", std::string(call.flag("accumulate") ? "add" : "none")}});
}

Meaning define_mirror_pad(const CallSite& call) {
  const std::string mode = call.text("mode");
  if (mode != "REFLECT" && mode != "SYMMETRIC")
    call.fail(ErrorCode::InvalidArgument, "mode is \"{}\", possible are \"SYMMETRIC\" and \"REFLECT\"", mode);
  return make_call("pad", {call.arg(0)},
                   {{"pad_width", call.integers("pad_width")},
                    {"pad_mode", std::string(mode == "REFLECT" ? "reflect" : "symmetric")}});
}

Meaning define_scatter_add(const CallSite& call) {
  return make_call("scatter_elements", {call.arg(0), call.arg(1), call.arg(2)},
                   {{"axis", call.integer("axis")}, {"reduction", std::string("add")}});
}

StructInfo infer_tensor_to_shape(const CallSite& call) {
  const auto x = operand(call, 0);
  require_rank(call, x, 1);
  require_integer(call, x);
  if (const auto known = constant_integers(call, 0)) return shape_info(*known);
  const auto rank = x.dims()[0].as_const();
  return rank ? shape_info(static_cast<uint32_t>(*rank)) : shape_info();
}

Meaning define_tensor_to_shape(const CallSite& call) {
  if (operand(call, 0).dtype() == DType::Int64) return BuiltinCall{"tensor_to_shape"};
  const Expr wide = make_call("cast", {call.arg(0)}, {{"dtype", DType::Int64}});
  return make_builtin("tensor_to_shape", {wide}, infer_tensor_to_shape(call));
}

}  // namespace ingot::ops
