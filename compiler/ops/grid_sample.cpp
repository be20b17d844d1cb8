#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

// Pictures read at places that a grid names. Coordinates run from -1 to 1, columns before rows.
namespace ingot::ops {

using namespace ir;

StructInfo infer_affine_grid(const CallSite& call) {
  const auto theta = operand(call, 0);
  require_float(call, theta);
  require_rank(call, theta, 3);
  const auto expect = [&](size_t d, int64_t size) {
    if (differ(call, theta.dims()[d], size))
      call.fail(ErrorCode::ShapeMismatch, "{} must be (n, 2, 3), it is {}", theta.name, dims_text(theta.dims()));
  };
  expect(1, 2);
  expect(2, 3);
  const Dims target = dims_of(call, "target_shape", 1);
  if (target.size() != 2)
    call.fail(ErrorCode::InvalidArgument, "target_shape has {} numbers, 2 are wanted", target.size());
  return tensor_like(theta, {theta.dims()[0], 2, target[0], target[1]});
}

Meaning define_affine_grid(const CallSite& call) {
  OpFunc f(call);
  const DType dtype = f.dtype(f.out());
  const Dims out = f.dims(f.out());
  const bool corners = call.flag("align_corners");
  // From -1 to 1, where a single place is at -1; without corners the middles of as many parts of that.
  const auto place = [&](const PrimExpr& i, const PrimExpr& count) {
    if (!corners) return element(dtype, i * 2 + 1) / element(dtype, count) - 1.0;
    return element(dtype, i) * 2.0 / element(dtype, max(count - 1, 1)) - 1.0;
  };
  f.compute(f.out(), [&](const tir::Indices& i) {
    const auto theta = [&](int64_t k) { return f.load(f.in(), {i[0], i[1], PrimExpr(k)}); };
    return theta(0) * place(i[3], out[3]) + theta(1) * place(i[2], out[2]) + theta(2);
  });
  return f.finish();
}

Meaning define_grid_sample(const CallSite& call) {
  const auto x = operand(call, 0), grid = operand(call, 1);
  require_float(call, x);
  if (call.text("layout") != (x.rank() == 5 ? "NCDHW" : "NCHW"))
    call.fail(ErrorCode::Unsupported, "layout is \"{}\", only \"NCHW\" and \"NCDHW\" are there", call.text("layout"));
  if (x.rank() != 4 && x.rank() != 5)
    call.fail(ErrorCode::ShapeMismatch, "{} must have rank 4 or 5, it has rank {}", x.name, x.rank());
  require_rank(call, grid, x.rank());
  demand_equal(call, "batches", x, x.dims()[0], grid, grid.dims()[0]);
  if (differ(call, grid.dims()[1], static_cast<int64_t>(x.rank() - 2)))
    call.fail(ErrorCode::ShapeMismatch, "dimension 1 of {} is {}, it must be {}", grid.name, to_text(grid.dims()[1]),
              x.rank() - 2);
  const std::string method = call.text("method"), padding = call.text("padding_mode");
  if (method != "bilinear" && method != "nearest" && (method != "bicubic" || x.rank() == 5))
    call.fail(ErrorCode::InvalidArgument,
              "method is \"{}\", possible are \"bilinear\", \"nearest\" and, of rank 4, \"bicubic\"", method);
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    call.fail(ErrorCode::InvalidArgument,
              "padding_mode is \"{}\", possible are \"zeros\", \"border\" and \"reflection\"", padding);
  std::vector<int64_t> order = {0};
  Dims dims = {x.dims()[0], x.dims()[1]};
  for (size_t d = 2; d < grid.rank(); ++d) {
    order.push_back(static_cast<int64_t>(d));
    dims.push_back(grid.dims()[d]);
  }
  order.push_back(1);
  return make_builtin("grid_sample",
                      {call.arg(0), make_call("transpose", {call.arg(1)}, {{"axes", order}}), make_text(method),
                       make_text(padding), make_prim(call.flag("align_corners"))},
                      tensor_like(x, dims));
}

}  // namespace ingot::ops
