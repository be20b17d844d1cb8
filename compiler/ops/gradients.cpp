#include <numeric>

#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/nll_loss.h"
#include "compiler/ops/op_func.h"
#include "compiler/ops/window.h"
#include "runtime/symbolic/simplify.h"

// What changes of an operand, given what changes of the result.
namespace ingot::ops {

using namespace ir;
using tir::Indices;

namespace {

Expr reshaped(const Expr& x, Dims dims) {
  for (auto& dim : dims) dim = simplify(dim);
  return make_call("reshape", {x, make_shape(std::move(dims))}, {{"allowzero", true}});
}

Expr in_layout(const Expr& x, const std::string& from, const std::string& to) {
  return from == to ? x : make_call("layout_transform", {x}, {{"src_layout", from}, {"dst_layout", to}});
}

Expr expanded(const Expr& x, int64_t axis) { return make_call("expand_dims", {x}, {{"axis", axis}}); }

// Is an index within bounds, as an element?
Element holds(const PrimExpr& condition) { return truth(element(DType::Int64, condition)); }
PrimExpr both_of(const PrimExpr& a, const PrimExpr& b) { return PrimExpr::make(PrimOp::And, {a, b}); }

}  // namespace

// take's: what changes of a part is added where the part was taken.
Meaning define_take_backward(const CallSite& call) {
  const auto grad = operand(call, 0), x = operand(call, 1), indices = operand(call, 2);
  require_same_dtype(call, x, grad);
  require_integer(call, indices);
  const bool flat = !call.has_attr("axis");
  const size_t axis = flat ? 0 : static_cast<size_t>(call.axis("axis", x.rank()));
  const auto at = static_cast<ptrdiff_t>(axis);
  Dims taken_dims(x.dims().begin(), x.dims().begin() + (flat ? 0 : at));
  taken_dims.insert(taken_dims.end(), indices.dims().begin(), indices.dims().end());
  if (!flat) taken_dims.insert(taken_dims.end(), x.dims().begin() + at + 1, x.dims().end());
  require_rank(call, grad, taken_dims.size());
  for (size_t d = 0; d < taken_dims.size(); ++d) demand_equal(call, "shapes", grad, grad.dims()[d], x, taken_dims[d]);

  const PrimExpr count = product(indices.dims());
  const Expr places = reshaped(call.arg(2), {count, 1});
  // The axis comes first, for scatter_nd.
  std::vector<int64_t> forth(flat ? 1 : x.rank()), back(forth.size());
  std::iota(forth.begin(), forth.end(), 0);
  std::rotate(forth.begin(), forth.begin() + at, forth.begin() + at + 1);
  for (size_t d = 0; d < forth.size(); ++d) back[static_cast<size_t>(forth[d])] = static_cast<int64_t>(d);
  const Dims dims = flat ? Dims{product(x.dims())} : x.dims();
  Dims rows = dims, moved;
  rows[axis] = count;
  for (const int64_t d : forth) moved.push_back(dims[static_cast<size_t>(d)]);
  Expr updates = reshaped(call.arg(0), rows);
  if (axis != 0) updates = make_call("transpose", {updates}, {{"axes", forth}});
  const Expr none = make_call("zeros", {make_shape(moved)}, {{"dtype", x.dtype()}});
  Expr sums = make_call("scatter_nd", {none, places, updates}, {{"reduction", std::string("add")}});
  if (axis != 0) sums = make_call("transpose", {sums}, {{"axes", back}});
  return flat ? reshaped(sums, x.dims()) : sums;
}

// nll_loss's, of the predictions.
Meaning define_nll_loss_backward(const CallSite& call) {
  const auto grad = operand(call, 0), predictions = operand(call, 1), targets = operand(call, 2);
  require_float(call, predictions);
  require_same_dtype(call, predictions, grad);
  require_integer(call, targets);
  const std::string reduction = nll_reduction(call, predictions, targets);
  const int64_t axis = predictions.rank() == 1 ? 0 : 1;
  require_rank(call, grad, reduction == "none" ? targets.rank() : 0);
  const PrimExpr classes = predictions.dims()[static_cast<size_t>(axis)];
  const DType dtype = predictions.dtype();
  const Expr labels = make_call("cast", {call.arg(2)}, {{"dtype", DType::Int64}});
  const Expr ignored =
      make_call("equal", {labels, scalar(DType::Int64, static_cast<double>(call.integer("ignore_index")))});
  const Expr known = make_call("where", {ignored, scalar(DType::Int64, 0), labels});
  Expr weights;
  if (given(call, 3)) {
    const auto of_class = operand(call, 3);
    require_same_dtype(call, predictions, of_class);
    require_rank(call, of_class, 1);
    demand_equal(call, "numbers of classes", predictions, classes, of_class, of_class.dims()[0]);
    weights = make_call("where", {ignored, scalar(dtype, 0), taken(call.arg(3), known, 0)});
  } else {
    weights = make_call("cast", {make_call("logical_not", {ignored})}, {{"dtype", dtype}});
  }
  Expr share = call.arg(0);
  if (reduction == "mean") share = make_call("divide", {share, make_call("sum", {weights})});
  const Expr change = make_call("negative", {make_call("multiply", {weights, share})});
  Dims row(predictions.rank(), PrimExpr(1));
  row[static_cast<size_t>(axis)] = classes;
  const Expr numbers = reshaped(make_call("arange", {make_prim(classes)}, {{"dtype", DType::Int64}}), row);
  const Expr hit = make_call("equal", {expanded(labels, axis), numbers});
  return make_call("where", {hit, expanded(change, axis), scalar(dtype, 0)});
}

namespace {

// Arguments 0 (what changes of the result) and 1 (data), as [batch, channels, rows, columns].
struct PoolGradient {
  Operand grad, x;
  std::string layout;
};

PoolGradient pool_gradient(const CallSite& call) {
  PoolGradient p{operand(call, 0), operand(call, 1), call.text("layout")};
  require_float(call, p.x);
  require_same_dtype(call, p.x, p.grad);
  require_rank(call, p.grad, p.x.rank());
  return p;
}

Window window_of(const CallSite& call) {
  return {pair_attr(call, "pool_size", 1), pair_attr(call, "strides", 1), pair_attr(call, "dilation", 1),
          padding_attr(call)};
}

void require_shape(const CallSite& call, const Operand& grad, const Operand& x, const Window& window) {
  for (const size_t d : {0u, 1u}) {
    demand_equal(call, "shapes", grad, grad.dims()[d], x, x.dims()[d]);
    demand_equal(call, "shapes", grad, grad.dims()[2 + d], x,
                 places(call, window, d, x.dims()[2 + d], call.flag("ceil_mode")));
    (void)exceeds(call, window.reach(d), window.padded(d, x.dims()[2 + d]));
  }
}

}  // namespace

// max_pool2d's: all of it goes to the first greatest element of each window.
Meaning define_max_pool2d_grad(const CallSite& call) {
  const auto p = pool_gradient(call);
  if (p.layout != "NCHW") {
    Attrs attrs = call.attrs();
    attrs["layout"] = std::string("NCHW");
    attrs.erase("out_layout");
    const Expr plain =
        make_call(call.op().name, {in_layout(call.arg(0), p.layout, "NCHW"), in_layout(call.arg(1), p.layout, "NCHW")},
                  std::move(attrs));
    return in_layout(plain, "NCHW", p.layout);
  }
  require_rank(call, p.x, 4);
  const Window w = window_of(call);
  require_shape(call, p.grad, p.x, w);
  const auto list = [](const auto& values) { return std::vector<int64_t>(values.begin(), values.end()); };
  const Attrs windows = {{"pool_size", list(w.size)},
                         {"strides", list(w.strides)},
                         {"padding", list(w.padding)},
                         {"dilation", list(w.dilation)},
                         {"ceil_mode", call.flag("ceil_mode")}};
  const Expr greatest = make_call("max_pool2d", {call.arg(1)}, windows);
  const PrimExpr count = product(p.x.dims());
  // No place is found where the window has no number.
  const Expr at =
      make_call("minimum", {make_call("max_pool_indices", {call.arg(1), greatest}, windows),
                            make_call("cast", {make_call("size", {call.arg(1)})}, {{"dtype", DType::Int64}})});
  // One element more takes those.
  const Expr none = make_call("zeros", {make_shape({simplify(count + 1)})}, {{"dtype", p.x.dtype()}});
  const Expr sums =
      make_call("scatter_elements", {none, make_call("flatten", {at}), make_call("flatten", {call.arg(0)})},
                {{"reduction", std::string("add")}});
  return reshaped(make_call("strided_slice", {sums, make_shape({0}), make_shape({count})}), p.x.dims());
}

// avg_pool2d's: each element of a window gets its share.
StructInfo infer_avg_pool2d_grad(const CallSite& call) {
  const auto p = pool_gradient(call);
  if (p.layout != "NCHW") return infer_composed(call);
  require_rank(call, p.x, 4);
  require_shape(call, p.grad, p.x, window_of(call));
  return p.x.info;
}

Meaning define_avg_pool2d_grad(const CallSite& call) {
  const auto p = pool_gradient(call);
  if (p.layout != "NCHW") return define_max_pool2d_grad(call);
  const Window w = window_of(call);
  OpFunc f(call);
  const Dims results = f.dims(f.in(0)), dims = f.dims(f.in(1));
  const DType dtype = p.x.dtype(), wide = accumulator(dtype);
  const Dims window = {w.size[0], w.size[1]};
  for (const size_t d : {0u, 1u}) {
    f.require_size(0, d, dims[d]);
    f.require_size(0, 2 + d, places(call, w, d, dims[2 + d], call.flag("ceil_mode")));
  }
  const auto count = f.builder().temporary("count", wide, {results[2], results[3]});
  const bool padded = call.flag("count_include_pad");
  f.reduce(count, tir::ExprOp::Add, element(wide, 0.0), window, [&](const Indices& i, const Indices& k) {
    const auto counted = [&](size_t d) {
      const int64_t before = padded ? w.padding[d] : 0, after = padded ? w.padding[d + 2] : 0;
      return within(at(w, d, i[d], k[d]) + before, dims[2 + d] + (before + after));
    };
    return select(holds(both_of(counted(0), counted(1))), element(wide, 1.0), 0);
  });
  const auto total = f.builder().temporary("total", wide, dims);
  f.reduce(total, tir::ExprOp::Add, element(wide, 0.0), window, [&](const Indices& i, const Indices& k) {
    Indices place = {i[0], i[1]};
    PrimExpr there = 1;
    for (const size_t d : {0u, 1u}) {
      const PrimExpr shifted = i[2 + d] + w.padding[d] - k[d] * w.dilation[d];
      const PrimExpr result = floor_div(shifted, w.strides[d]);
      const PrimExpr begins = PrimExpr::make(PrimOp::Equal, {floor_mod(shifted, w.strides[d]), 0});
      const PrimExpr fits = both_of(begins, within(result, results[2 + d]));
      there = there.is_const(1) ? fits : both_of(there, fits);
      place.push_back(result);
    }
    const Element shared = cast(wide, f.load(f.in(0), place)) / f.load(count, {place[2], place[3]});
    return select(holds(there), shared, 0);
  });
  f.compute(f.out(), [&](const Indices& i) { return cast(dtype, f.load(total, i)); });
  return f.finish();
}

namespace {

// Layouts of conv2d_backward_weight. Relay's text has those of grad, data and result under the names of conv2d's data,
// kernel and result.
struct ConvolutionLayouts {
  std::string grad, data, kernel;
};

ConvolutionLayouts convolution_layouts(const CallSite& call) {
  if (call.text("kernel_layout").find('O') == std::string::npos)
    return {call.text("data_layout"), call.text("kernel_layout"),
            call.has_attr("out_layout") && !call.text("out_layout").empty() ? call.text("out_layout") : "OIHW"};
  return {call.text("grad_layout"), call.text("data_layout"), call.text("kernel_layout")};
}

bool is_plain(const CallSite& call) {
  const auto layouts = convolution_layouts(call);
  return layouts.grad == "NCHW" && layouts.data == "NCHW" && layouts.kernel == "OIHW" && !call.has_attr("out_layout") &&
         dtype_of(call, "out_dtype") == DType::None;
}

struct WeightGradient {
  Operand grad, x;
  Window window;
  int64_t groups;
  Dims dims;
};

WeightGradient weight_gradient(const CallSite& call) {
  WeightGradient v{operand(call, 0), operand(call, 1), {}, call.integer("groups"), {}};
  require_float(call, v.x);
  require_same_dtype(call, v.x, v.grad);
  for (const auto* x : {&v.grad, &v.x}) require_rank(call, *x, 4);
  v.window = {pair_attr(call, "kernel_size", 1), pair_attr(call, "strides", 1), pair_attr(call, "dilation", 1),
              padding_attr(call)};
  if (v.groups < 1) call.fail(ErrorCode::InvalidArgument, "groups is {}, it must be 1 or more", v.groups);
  for (const auto* x : {&v.grad, &v.x})
    if (differ(call, floor_mod(x->dims()[1], v.groups), 0))
      call.fail(ErrorCode::ShapeMismatch, "{} has {} channels, which {} groups do not divide", x->name,
                to_text(x->dims()[1]), v.groups);
  require_equal(call, "batches", v.grad, v.grad.dims()[0], v.x, v.x.dims()[0]);
  for (const size_t d : {0u, 1u}) (void)exceeds(call, v.window.reach(d), v.window.padded(d, v.x.dims()[2 + d]));
  for (const size_t d : {0u, 1u})
    require_equal(call, "shapes", v.grad, v.grad.dims()[2 + d], v.x,
                  places(call, v.window, d, v.x.dims()[2 + d], false));
  v.dims = {v.grad.dims()[1], simplify(floor_div(v.x.dims()[1], v.groups)), v.window.size[0], v.window.size[1]};
  return v;
}

}  // namespace

// conv2d's, of the weight.
StructInfo infer_conv2d_backward_weight(const CallSite& call) {
  if (!is_plain(call)) return infer_composed(call);
  const auto v = weight_gradient(call);
  return tensor_like(v.grad, v.dims);
}

Meaning define_conv2d_backward_weight(const CallSite& call) {
  if (!is_plain(call)) {
    const auto layouts = convolution_layouts(call);
    Attrs attrs = call.attrs();
    for (const char* name : {"grad_layout", "data_layout", "kernel_layout", "out_layout", "out_dtype"})
      attrs.erase(name);
    const Expr plain = make_call(
        call.op().name, {in_layout(call.arg(0), layouts.grad, "NCHW"), in_layout(call.arg(1), layouts.data, "NCHW")},
        std::move(attrs));
    const DType dtype = dtype_of(call, "out_dtype");
    const Expr result = in_layout(plain, "OIHW", layouts.kernel);
    return dtype == DType::None ? result : make_call("cast", {result}, {{"dtype", dtype}});
  }
  const auto v = weight_gradient(call);
  OpFunc f(call);
  const Dims results = f.dims(f.in(0)), dims = f.dims(f.in(1));
  const DType dtype = v.x.dtype(), wide = accumulator(dtype);
  f.require_size(0, 0, dims[0]);
  for (const size_t d : {0u, 1u}) f.require_size(0, 2 + d, places(call, v.window, d, dims[2 + d], false));
  const auto total = f.builder().temporary("total", wide, f.dims(f.out()));
  f.reduce(total, tir::ExprOp::Add, element(wide, 0.0), {results[0], results[2], results[3]},
           [&](const Indices& i, const Indices& k) {
             const PrimExpr row = at(v.window, 0, k[1], i[2]), column = at(v.window, 1, k[2], i[3]);
             const PrimExpr group = v.groups == 1 ? PrimExpr(0) : floor_div(i[0], floor_div(results[1], v.groups));
             const PrimExpr channel = group * floor_div(dims[1], v.groups) + i[1];
             const Element x = f.load(f.in(1), {k[0], channel, row, column});
             const Element inside = holds(both_of(within(row, dims[2]), within(column, dims[3])));
             return select(inside, cast(wide, f.load(f.in(0), {k[0], i[0], k[1], k[2]})) * cast(wide, x), 0);
           });
  f.compute(f.out(), [&](const Indices& i) { return cast(dtype, f.load(total, i)); });
  return f.finish();
}

}  // namespace ingot::ops
