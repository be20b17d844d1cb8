#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "runtime/symbolic/simplify.h"

// Matrices of which only some elements are held: their values, their columns, and where each row begins (CSR); values
// of rank 3 are blocks (BSR). And lists of coordinates.
namespace ingot::ops {

using namespace ir;

namespace {

Expr reshaped(const Expr& x, Dims dims) {
  for (auto& dim : dims) dim = simplify(dim);
  return make_call("reshape", {x, make_shape(std::move(dims))}, {{"allowzero", true}});
}

struct Sparse {
  Operand values, columns, begins;
  Expr value, column, row;  // row: of each value, int64
  PrimExpr rows, count;     // rows of elements, or of blocks
};

// Arguments `first` to `first + 2`.
Sparse sparse_at(const CallSite& call, size_t first) {
  Sparse s{operand(call, first), operand(call, first + 1), operand(call, first + 2), {}, {}, {}, {}, {}};
  require_numeric(call, s.values);
  if (s.values.rank() != 3) require_rank(call, s.values, 1);
  for (const auto* x : {&s.columns, &s.begins}) {
    require_integer(call, *x);
    require_rank(call, *x, 1);
  }
  s.count = s.values.dims()[0];
  demand_equal(call, "numbers of elements", s.values, s.count, s.columns, s.columns.dims()[0]);
  s.rows = simplify(s.begins.dims()[0] - 1);
  s.value = call.arg(first);
  s.column = converted(call.arg(first + 1), DType::Int64);
  const Expr places = make_call("arange", {make_prim(s.count)}, {{"dtype", DType::Int64}});
  const Expr before = make_call("searchsorted", {converted(call.arg(first + 2), DType::Int64), places},
                                {{"right", true}, {"dtype", DType::Int64}});
  s.row = make_call("subtract", {before, scalar(DType::Int64, 1)});
  return s;
}

// The values added to a matrix.
Expr added(const Sparse& s, const Expr& to) {
  const Expr places = make_call("stack", {make_tuple({s.row, s.column})}, {{"axis", int64_t{1}}});
  return make_call("scatter_nd", {to, places, s.value}, {{"reduction", std::string("add")}});
}

// The whole matrix, with so many columns.
Expr dense_matrix(const CallSite& call, const Sparse& s, const PrimExpr& columns) {
  if (s.values.rank() == 1)
    return added(s, make_call("zeros", {make_shape({s.rows, columns})}, {{"dtype", s.values.dtype()}}));
  const PrimExpr height = s.values.dims()[1], width = s.values.dims()[2];
  if (differ(call, floor_mod(columns, width), 0))
    call.fail(ErrorCode::ShapeMismatch, "blocks of {} do not divide {} columns", to_text(width), to_text(columns));
  const Dims blocks = {s.rows, simplify(floor_div(columns, width)), height, width};
  const Expr all = added(s, make_call("zeros", {make_shape(blocks)}, {{"dtype", s.values.dtype()}}));
  return reshaped(make_call("transpose", {all}, {{"axes", std::vector<int64_t>{0, 2, 1, 3}}}),
                  {s.rows * height, columns});
}

}  // namespace

// The product of a matrix and the transposed sparse one; with sparse_lhs of the sparse one and the transposed other.
Meaning define_sparse_dense(const CallSite& call) {
  const auto x = operand(call, 0);
  require_rank(call, x, 2);
  const Sparse s = sparse_at(call, 1);
  require_same_dtype(call, x, s.values);
  const Expr matrix = dense_matrix(call, s, x.dims()[1]);
  return call.flag("sparse_lhs") ? make_call("dense", {matrix, call.arg(0)})
                                 : make_call("dense", {call.arg(0), matrix});
}

// A convolution by a sparse weight of one row and column: sparse_dense of the channels at each place.
Meaning define_sparse_conv2d(const CallSite& call) {
  const auto x = operand(call, 0);
  require_rank(call, x, 4);
  const auto size = call.integers("kernel_size");
  for (const int64_t k : size)
    if (k != 1) call.fail(ErrorCode::Unsupported, "kernel_size has {}, only 1 is there", k);
  const std::string layout = call.text("layout");
  if (layout != "NHWC" && layout != "NCHW")
    call.fail(ErrorCode::InvalidArgument, "layout is \"{}\", possible are \"NHWC\" and \"NCHW\"", layout);
  const bool first = layout == "NCHW";
  const auto moved = [](const Expr& e, std::vector<int64_t> order) {
    return make_call("transpose", {e}, {{"axes", std::move(order)}});
  };
  const Dims& d = x.dims();
  const PrimExpr channels = first ? d[1] : d[3], height = first ? d[2] : d[1], width = first ? d[3] : d[2];
  const Sparse s = sparse_at(call, 1);
  const PrimExpr outputs = s.values.rank() == 3 ? s.rows * s.values.dims()[1] : s.rows;
  const Expr rows = reshaped(first ? moved(call.arg(0), {0, 2, 3, 1}) : call.arg(0), {d[0] * height * width, channels});
  const Expr product = make_call("sparse_dense", {rows, call.arg(1), call.arg(2), call.arg(3)});
  const Expr result = reshaped(product, {d[0], height, width, outputs});
  return first ? moved(result, {0, 3, 1, 2}) : result;
}

Meaning define_sparse_add(const CallSite& call) {
  const auto x = operand(call, 0);
  require_rank(call, x, 2);
  const Sparse s = sparse_at(call, 1);
  require_same_dtype(call, x, s.values);
  require_rank(call, s.values, 1);
  demand_equal(call, "numbers of rows", x, x.dims()[0], s.begins, s.rows);
  return added(s, call.arg(0));
}

// (values, columns, begins) of the transposed square matrix.
Meaning define_sparse_transpose(const CallSite& call) {
  const Sparse s = sparse_at(call, 0);
  require_rank(call, s.values, 1);
  const Expr order = make_call("argsort", {call.arg(1)}, {{"dtype", DType::Int64}});
  const auto moved = [&](const Expr& x) { return taken(x, order, 0); };
  const Expr rows = make_call("arange", {make_prim(s.begins.dims()[0])}, {{"dtype", DType::Int64}});
  const Expr begins = make_call("searchsorted", {moved(s.column), rows}, {{"dtype", s.begins.dtype()}});
  return make_tuple({moved(s.value), converted(moved(s.row), s.columns.dtype()), begins});
}

// Coordinates and values with the default in the first column of each row that had none; and which rows had none.
Meaning define_sparse_fill_empty_rows(const CallSite& call) {
  const auto places = operand(call, 0), values = operand(call, 1), shape = operand(call, 2), fill = operand(call, 3);
  require_rank(call, places, 2);
  require_rank(call, values, 1);
  require_rank(call, shape, 1);
  for (const auto* x : {&places, &shape}) require_integer(call, *x);
  require_same_dtype(call, values, fill);
  demand_equal(call, "numbers of elements", places, places.dims()[0], values, values.dims()[0]);
  demand_equal(call, "numbers of dimensions", places, places.dims()[1], shape, shape.dims()[0]);
  const Expr all =
      make_builtin("sparse_fill_empty_rows",
                   {call.arg(0), call.arg(1), converted(call.arg(2), DType::Int64), call.arg(3)}, object_info());
  const auto part = [&](int64_t i, DType dtype, uint32_t rank) {
    return make_builtin("sequence_at", {all, make_prim(i)}, tensor_info(dtype, rank));
  };
  return make_tuple({part(0, DType::Int64, 2), part(1, values.dtype(), 1), part(2, DType::Int64, 1)});
}

// (coordinates, shape) of the same elements in a tensor of another shape, of which one dimension may be -1.
Meaning define_sparse_reshape(const CallSite& call) {
  const auto places = operand(call, 0), from = operand(call, 1), to = operand(call, 2);
  require_rank(call, places, 2);
  for (const auto* x : {&places, &from, &to}) require_integer(call, *x);
  require_rank(call, from, 1);
  require_rank(call, to, 1);
  demand_equal(call, "numbers of coordinates", places, places.dims()[1], from, from.dims()[0]);
  const auto of = [](std::string_view op, const Expr& x, const Expr& y) { return make_call(op, {x, y}); };
  const auto wide = [&](size_t i) { return converted(call.arg(i), DType::Int64); };
  const auto steps = [](const Expr& shape) {
    return make_call("cumprod", {shape}, {{"axis", int64_t{0}}, {"exclusive", true}, {"reverse", true}});
  };
  const Expr minus = scalar(DType::Int64, -1);
  const Expr known = make_call("negative", {make_call("prod", {wide(2)})});
  const Expr is_open = of("equal", wide(2), minus);
  const Expr divisor = make_call("where", {make_call("any", {is_open}), known, scalar(DType::Int64, 1)});
  const Expr rest = of("floor_divide", make_call("prod", {wide(1)}), divisor);
  const Expr shape = make_call("where", {is_open, rest, wide(2)});
  const Expr flat =
      make_call("sum", {of("multiply", wide(0), steps(wide(1)))}, {{"axis", int64_t{1}}, {"keepdims", true}});
  // The first coordinate is what remains; places that lie outside of the shape stay where they are in the same one.
  const Expr numbers = make_call("arange", {make_prim(to.dims()[0])}, {{"dtype", DType::Int64}});
  const Expr limits = make_call("where", {of("equal", numbers, scalar(DType::Int64, 0)),
                                          scalar(DType::Int64, static_cast<double>(int64_t{1} << 62)), shape});
  Expr result = of("floor_mod", of("floor_divide", flat, steps(shape)), limits);
  if (prove_equal(from.dims()[0], to.dims()[0]) == Proof::Yes)
    result = make_call("where", {make_call("all", {of("equal", wide(1), shape)}), wide(0), result});
  return make_tuple({converted(result, places.dtype()), converted(shape, to.dtype())});
}

}  // namespace ingot::ops
