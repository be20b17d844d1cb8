#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

// Operators of Relay and Relax that put elements to places which tensors name, as compositions of scatter and gather.
namespace ingot::ops {

using namespace ir;

namespace {

Expr cast_to(const Expr& x, DType dtype) { return make_call("cast", {x}, {{"dtype", dtype}}); }

Expr last_axis(const Expr& x) { return make_call("expand_dims", {x}, {{"axis", int64_t{-1}}}); }

}  // namespace

// The place of each number of a permutation of 0, 1, ...
Meaning define_invert_permutation(const CallSite& call) {
  const auto x = operand(call, 0);
  require_rank(call, x, 1);
  require_integer(call, x);
  const Expr places = make_call("arange", {make_prim(x.dims()[0])}, {{"dtype", x.dtype()}});
  return make_call("scatter_elements", {make_call("zeros_like", {call.arg(0)}), call.arg(0), places},
                   {{"axis", int64_t{0}}});
}

// Values at places, a default elsewhere: places () or [n] in a vector, [n, rank] in a tensor.
Meaning define_sparse_to_dense(const CallSite& call) {
  const auto places = operand(call, 0), values = operand(call, 1);
  require_integer(call, places);
  const Dims dims = dims_of(call, "output_shape");
  if (places.rank() > 2)
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, the greatest is 2", places.name, places.rank());
  if (places.rank() < 2 && dims.size() != 1)
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, output_shape {} dimensions", places.name, places.rank(),
              dims.size());
  Expr at = cast_to(call.arg(0), DType::Int64), what = call.arg(1);
  if (places.rank() == 0) at = last_axis(at);
  if (places.rank() < 2) at = last_axis(at);
  const PrimExpr count = places.rank() == 0 ? PrimExpr(1) : places.dims()[0];
  if (values.rank() == 0) what = make_call("broadcast_to", {what, make_shape({count})});
  const Expr fill = given(call, 2) ? call.arg(2) : scalar(values.dtype(), 0);
  return make_call("scatter_nd", {make_call("full", {fill, make_shape(dims)}), at, what});
}

// Sums of the parts that have the same number, along the first dimension.
Meaning define_segment_sum(const CallSite& call) {
  const auto x = operand(call, 0), numbers = operand(call, 1);
  require_integer(call, numbers);
  require_rank(call, numbers, 1);
  if (x.rank() == 0) call.fail(ErrorCode::ShapeMismatch, "{} must have rank 1 or more, it is a scalar", x.name);
  demand_equal(call, "numbers of parts", x, x.dims()[0], numbers, numbers.dims()[0]);
  const int64_t segments = call.integer("num_segments");
  if (segments < 0) call.fail(ErrorCode::InvalidArgument, "num_segments is {}, it must not be negative", segments);
  Dims dims = x.dims();
  dims[0] = segments;
  const Expr zeros = make_call("zeros", {make_shape(dims)}, {{"dtype", x.dtype()}});
  return make_call("scatter_nd", {zeros, last_axis(cast_to(call.arg(1), DType::Int64)), call.arg(0)},
                   {{"reduction", std::string("add")}});
}

Meaning define_masked_fill(const CallSite& call) {
  const auto x = operand(call, 0), value = operand(call, 2);
  require_rank(call, value, 0);
  const Expr fill = value.dtype() == x.dtype() ? call.arg(2) : cast_to(call.arg(2), x.dtype());
  return make_call("where", {call.arg(1), fill, call.arg(0)});
}

// For each sample [n, 1] the first class whose running probability, in the row that sample_indices [n, 1] name, is
// greater than the sample.
Meaning define_multinomial_from_uniform(const CallSite& call) {
  const auto prob = operand(call, 0), sample = operand(call, 1);
  require_rank(call, prob, 2);
  require_float(call, prob);
  require_rank(call, sample, 2);
  require_same_dtype(call, prob, sample);
  const auto last = [&](const Operand& x) {
    if (differ(call, x.dims()[1], 1))
      call.fail(ErrorCode::ShapeMismatch, "{} must be (n, 1), it is {}", x.name, dims_text(x.dims()));
  };
  last(sample);
  Expr running = make_call("cumsum", {call.arg(0)}, {{"axis", int64_t{1}}});
  if (given(call, 2)) {
    const auto rows = operand(call, 2);
    require_rank(call, rows, 2);
    require_integer(call, rows);
    last(rows);
    demand_equal(call, "numbers of samples", sample, sample.dims()[0], rows, rows.dims()[0]);
    const Expr row = make_call("squeeze", {call.arg(2)}, {{"axis", int64_t{1}}});
    running = taken(running, row, 0);
  } else {
    demand_equal(call, "numbers of rows", prob, prob.dims()[0], sample, sample.dims()[0]);
  }
  const DType dtype = dtype_of(call, "dtype");
  const Expr passed = cast_to(make_call("less_equal", {running, call.arg(1)}), dtype);
  const Expr place = make_call("sum", {passed}, {{"axis", int64_t{1}}, {"keepdims", true}});
  const Expr greatest = make_call(
      "reshape", {make_call("shape_to_tensor", {make_shape({simplify(prob.dims()[1] - 1)})}, {{"dtype", dtype}}),
                  make_shape({1, 1})});
  return make_call("minimum", {place, greatest});
}

// The bits of the elements as elements of another dtype of the same size.
Meaning define_reinterpret(const CallSite& call) {
  const auto x = operand(call, 0);
  const DType dtype = dtype_of(call, "dtype", 1);
  if (dtype == DType::None) call.fail(ErrorCode::ArityMismatch, "dtype is missing");
  if (x.dtype() == DType::String || dtype == DType::String || dtype_bytes(dtype) != dtype_bytes(x.dtype()))
    call.fail(ErrorCode::TypeError, "elements of {} and {} are not equally large", dtype_name(x.dtype()),
              dtype_name(dtype));
  return make_builtin("bit_cast", {call.arg(0), scalar(dtype, 0)}, tensor_info(dtype, x.dims()));
}

// The diagonals k, or k[0] to k[1], of each matrix replaced by those given: the diagonal itself, or [diagonals,
// longest] from k[1] down to k[0]. align says where shorter ones lie, "RIGHT_LEFT": those above the main one to the
// right.
StructInfo infer_matrix_set_diag(const CallSite& call) {
  const auto x = operand(call, 0), diagonal = operand(call, 1);
  require_same_dtype(call, x, diagonal);
  const auto k = call.integers("k");
  if (x.rank() < 2)
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, it must have rank 2 or more", x.name, x.rank());
  if (k.empty() || k.size() > 2 || k.front() > k.back())
    call.fail(ErrorCode::InvalidArgument, "k must be one number, or two in order");
  require_rank(call, diagonal, x.rank() - (k.front() == k.back() ? 1 : 0));
  for (size_t d = 0; d + 2 < x.rank(); ++d) require_equal(call, "shapes", x, x.dims()[d], diagonal, diagonal.dims()[d]);
  if (k.front() != k.back())
    require_equal(call, "numbers of diagonals", x, k.back() - k.front() + 1, diagonal, diagonal.dims()[x.rank() - 2]);
  const std::string align = call.text("align");
  if (align != "LEFT_LEFT" && align != "LEFT_RIGHT" && align != "RIGHT_LEFT" && align != "RIGHT_RIGHT")
    call.fail(ErrorCode::InvalidArgument, "align is \"{}\", it must be LEFT or RIGHT twice, with _ between", align);
  return x.info;
}

Meaning define_matrix_set_diag(const CallSite& call) {
  OpFunc f(call);
  const auto k = call.integers("k");
  const Dims dims = f.dims(f.in());
  const PrimExpr rows = dims[dims.size() - 2], columns = dims.back(), longest = f.dims(f.in(1)).back();
  for (size_t d = 0; d + 2 < dims.size(); ++d) f.require_size(1, d, dims[d]);
  if (k.front() != k.back()) f.require_size(1, dims.size() - 2, k.back() - k.front() + 1);
  const std::string align = call.text("align");
  const bool upper_right = align.starts_with("RIGHT"), lower_right = align.ends_with("RIGHT");
  const auto choice = [](const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b) {
    return PrimExpr::make(PrimOp::Select, {condition, a, b});
  };
  f.compute(f.out(), [&](const tir::Indices& i) {
    const PrimExpr row = i[i.size() - 2], column = i.back(), at = column - row;
    const PrimExpr length = min(rows + min(at, 0), columns - max(at, 0));
    const PrimExpr is_lower = PrimExpr::make(PrimOp::Less, {at, PrimExpr(0)});
    const PrimExpr room = longest - length;
    const PrimExpr shift = choice(is_lower, lower_right ? room : PrimExpr(0), upper_right ? room : PrimExpr(0));
    tir::Indices from(i.begin(), i.end() - 2);
    if (k.front() != k.back()) from.push_back(PrimExpr(k.back()) - at);
    const PrimExpr place = min(row, column) + shift;
    from.push_back(place);
    PrimExpr inside = 1;
    const auto require = [&](const PrimExpr& a, const PrimExpr& b) {
      const PrimExpr condition = PrimExpr::make(PrimOp::LessEqual, {a, b});
      inside = inside.is_const(1) ? condition : PrimExpr::make(PrimOp::And, {inside, condition});
    };
    require(k.front(), at);
    require(at, k.back());
    require(0, place);
    require(place, longest - 1);
    return select(truth(element(DType::Int64, inside)), f.load(f.in(1), from), f.load(f.in(), i));
  });
  return f.finish();
}

}  // namespace ingot::ops
