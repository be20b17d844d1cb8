#include "compiler/ops/call.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "compiler/ops/window.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

namespace {

// Position of each letter of `wanted` in `layout`; InvalidArgument where it has others.
std::vector<int64_t> order_of(const CallSite& call, std::string_view attribute, std::string_view wanted) {
  const std::string layout = call.text(attribute);
  std::vector<int64_t> order;
  for (const char letter : wanted) {
    const size_t place = layout.find(letter);
    if (layout.size() != wanted.size() || place == std::string::npos)
      call.fail(ErrorCode::InvalidArgument, "{} is \"{}\", it must name the dimensions {} in some order", attribute,
                layout, wanted);
    order.push_back(static_cast<int64_t>(place));
  }
  return order;
}

bool in_order(const std::vector<int64_t>& order) { return order == std::vector<int64_t>{0, 1, 2, 3}; }

std::vector<int64_t> inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> result(order.size());
  for (size_t i = 0; i < order.size(); ++i) result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return result;
}

Dims permuted(const Dims& dims, const std::vector<int64_t>& order) {
  Dims result;
  for (const int64_t place : order) result.push_back(dims[static_cast<size_t>(place)]);
  return result;
}

struct Convolution {
  Operand x, w;
  std::vector<int64_t> x_order, w_order;
  Dims in, weight, out;  // NCHW, OIHW, NCHW
  Window window;
  int64_t groups;
  bool has_bias;
  bool proved = true;
};

Convolution convolution(const CallSite& call) {
  Convolution c{operand(call, 0), operand(call, 1), {}, {}, {}, {}, {}, {}, call.integer("groups"), given(call, 2)};
  require_float(call, c.x);
  require_same_dtype(call, c.x, c.w);
  require_out_dtype(call, c.x);
  if (const auto out = call.text("out_layout"); !out.empty() && out != call.text("data_layout"))
    call.fail(ErrorCode::Unsupported, "out_layout \"{}\" differs from data_layout \"{}\"; use transpose", out,
              call.text("data_layout"));
  require_rank(call, c.x, 4);
  require_rank(call, c.w, 4);
  c.x_order = order_of(call, "data_layout", "NCHW");
  c.w_order = order_of(call, "kernel_layout", "OIHW");
  c.in = permuted(c.x.dims(), c.x_order);
  c.weight = permuted(c.w.dims(), c.w_order);
  if (c.groups < 1) call.fail(ErrorCode::InvalidArgument, "groups is {}, it must be 1 or more", c.groups);
  require_equal(call, "input channels", c.x, c.in[1], c.w, simplify(c.weight[1] * c.groups));
  c.proved = prove_equal(c.in[1], c.weight[1] * c.groups) == Proof::Yes;
  const auto channels = c.weight[0].as_const();
  if (channels && *channels % c.groups != 0)
    call.fail(ErrorCode::ShapeMismatch, "{} has {} output channels, which {} groups do not divide", c.w.name, *channels,
              c.groups);
  if (channels && call.has_attr("channels") && call.integer("channels") != *channels)
    call.fail(ErrorCode::ShapeMismatch, "channels is {}, {} has {}", call.integer("channels"), c.w.name, *channels);
  c.window.strides = pair_attr(call, "strides", 1);
  c.window.dilation = pair_attr(call, "dilation", 1);
  c.window.padding = padding_attr(call);
  c.out = {c.in[0], c.weight[0], {}, {}};
  for (size_t d = 0; d < 2; ++d) {
    const auto size = c.weight[2 + d].as_const();
    if (!size)
      call.fail(ErrorCode::Unsupported, "the kernel {} must have known spatial dimensions, it has {}", c.w.name,
                dims_text(c.weight));
    if (*size < 1 || *size > INT32_MAX)
      call.fail(ErrorCode::ShapeMismatch, "the kernel {} has a spatial dimension of {}", c.w.name, *size);
    c.window.size[d] = *size;
    c.out[2 + d] = places(call, c.window, d, c.in[2 + d], false);
  }
  if (call.has_attr("kernel_size") && pair_attr(call, "kernel_size", 1) != c.window.size)
    call.fail(ErrorCode::ShapeMismatch, "kernel_size is {}x{}, {} has {}x{}", pair_attr(call, "kernel_size", 1)[0],
              pair_attr(call, "kernel_size", 1)[1], c.w.name, c.window.size[0], c.window.size[1]);
  if (c.has_bias) {
    const auto bias = operand(call, 2);
    require_rank(call, bias, 1);
    require_same_dtype(call, c.x, bias);
    require_equal(call, "output channels", c.w, c.weight[0], bias, bias.dims()[0]);
    c.proved = c.proved && prove_equal(c.weight[0], bias.dims()[0]) == Proof::Yes;
  }
  return c;
}

std::vector<int64_t> list(std::span<const int64_t> values) { return {values.begin(), values.end()}; }

// The loops, for dtypes that the contract does not take.
Meaning loops(const CallSite& call, const Convolution& c) {
  OpFunc f(call);
  const DType wide = accumulator(f.dtype(f.out()));
  const auto total = f.builder().temporary("total", wide, f.dims(f.out()));
  const auto& weight = f.dims(f.in(1));
  const PrimExpr per_group = floor_div(weight[0], c.groups);
  f.reduce(total, tir::ExprOp::Add, element(wide, 0.0), {weight[1], c.window.size[0], c.window.size[1]},
           [&](const tir::Indices& i, const tir::Indices& k) {
             const PrimExpr row = at(c.window, 0, i[2], k[1]);
             const PrimExpr column = at(c.window, 1, i[3], k[2]);
             const PrimExpr inside =
                 PrimExpr::make(PrimOp::And, {within(row, f.dims(f.in())[2]), within(column, f.dims(f.in())[3])});
             const PrimExpr channel = floor_div(i[1], per_group) * weight[1] + k[0];
             const Element product = cast(wide, f.load(f.in(), {i[0], channel, row, column})) *
                                     cast(wide, f.load(f.in(1), {i[1], k[0], k[1], k[2]}));
             return select(truth(element(DType::Int64, inside)), product, 0);
           });
  f.compute(f.out(), [&](const tir::Indices& i) {
    const Element sum = f.load(total, i);
    return cast(f.dtype(f.out()), c.has_bias ? sum + cast(wide, f.load(f.in(2), {i[1]})) : sum);
  });
  return f.finish();
}

}  // namespace

StructInfo infer_conv2d(const CallSite& call) {
  const auto c = convolution(call);
  return tensor_like(c.x, permuted(c.out, inverse(c.x_order)));
}

Effect conv2d_effect(const CallSite& call) { return convolution(call).proved ? Effect::Total : Effect::MayFail; }

std::optional<KernelCall> conv2d_kernel(const CallSite& call) {
  const auto c = convolution(call);
  if (!in_order(c.x_order) || !in_order(c.w_order) || c.x.dtype() != DType::Float32) return std::nullopt;
  KernelCall kernel;
  kernel.contract = Contract::conv2d;
  kernel.inputs = c.has_bias ? 3 : 2;
  kernel.set("strides", list(c.window.strides));
  kernel.set("padding", list(c.window.padding));
  kernel.set("dilation", list(c.window.dilation));
  kernel.set("groups", c.groups);
  kernel.set("has_bias", int64_t{c.has_bias});
  return kernel;
}

Meaning define_conv2d(const CallSite& call) {
  if (auto kernel = conv2d_kernel(call)) return *std::move(kernel);
  const auto c = convolution(call);
  if (!in_order(c.x_order) || !in_order(c.w_order)) {
    // Other layouts are brought into the contract's and back.
    const auto axes = [](const std::vector<int64_t>& order) { return Attrs{{"axes", AttrValue(order)}}; };
    std::vector<Expr> args = {make_call("transpose", {call.arg(0)}, axes(c.x_order)),
                              make_call("transpose", {call.arg(1)}, axes(c.w_order))};
    if (c.has_bias) args.push_back(call.arg(2));
    const Expr result = make_call("conv2d", std::move(args),
                                  {{"strides", list(c.window.strides)},
                                   {"padding", list(c.window.padding)},
                                   {"dilation", list(c.window.dilation)},
                                   {"groups", c.groups}});
    return make_call("transpose", {result}, axes(inverse(c.x_order)));
  }
  return loops(call, c);
}

}  // namespace ingot::ops
