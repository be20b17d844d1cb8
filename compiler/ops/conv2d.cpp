#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/layouts.h"
#include "compiler/ops/op_func.h"
#include "compiler/ops/window.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

namespace {

struct Convolution {
  Operand x, w;
  Dims in, weight, out;
  Window window;
  int64_t groups;
  bool has_bias;
  bool proved = true;
};

// What channels and kernel_size say of the kernel.
void require_stated(const CallSite& call, const Operand& w) {
  const Dims& dims = w.dims();
  if (call.has_attr("channels") && differ(call, dims[0], call.integer("channels")))
    call.fail(ErrorCode::ShapeMismatch, "channels is {}, {} has {}", call.integer("channels"), w.name,
              to_text(dims[0]));
  if (!call.has_attr("kernel_size")) return;
  const auto size = pair_attr(call, "kernel_size", 1);
  if (differ(call, dims[2], size[0]) || differ(call, dims[3], size[1]))
    call.fail(ErrorCode::ShapeMismatch, "kernel_size is {}x{}, {} has {}x{}", size[0], size[1], w.name,
              to_text(dims[2]), to_text(dims[3]));
}

Convolution convolution(const CallSite& call) {
  Convolution c{operand(call, 0), operand(call, 1), {}, {}, {}, {}, call.integer("groups"), given(call, 2)};
  require_numeric(call, c.x);
  require_same_dtype(call, c.x, c.w);
  require_rank(call, c.x, 4);
  require_rank(call, c.w, 4);
  c.in = c.x.dims();
  c.weight = c.w.dims();
  if (c.groups < 1) call.fail(ErrorCode::InvalidArgument, "groups is {}, it must be 1 or more", c.groups);
  require_equal(call, "input channels", c.x, c.in[1], c.w, simplify(c.weight[1] * c.groups));
  c.proved = prove_equal(c.in[1], c.weight[1] * c.groups) == Proof::Yes;
  if (differ(call, floor_mod(c.weight[0], c.groups), 0))
    call.fail(ErrorCode::ShapeMismatch, "{} has {} output channels, which {} groups do not divide", c.w.name,
              to_text(c.weight[0]), c.groups);
  require_stated(call, c.w);
  c.window.strides = pair_attr(call, "strides", 1);
  c.window.dilation = pair_attr(call, "dilation", 1);
  c.window.padding = padding_attr(call);
  c.out = {c.in[0], c.weight[0], {}, {}};
  for (size_t d = 0; d < 2; ++d) {
    const auto size = c.weight[2 + d].as_const();  // plain_form has seen to the others
    if (*size < 1 || *size > INT32_MAX)
      call.fail(ErrorCode::ShapeMismatch, "the kernel {} has a spatial dimension of {}", c.w.name, *size);
    c.window.size[d] = *size;
    c.out[2 + d] = places(call, c.window, d, c.in[2 + d], false);
  }
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
  const Dims weight = f.dims(f.in(1));
  const PrimExpr per_group = floor_div(weight[0], c.groups);
  f.require_size(0, 1, simplify(weight[1] * c.groups));
  if (c.has_bias) f.require_size(2, 0, weight[0]);
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

// The call in the contract's layouts; a kernel whose size is not known is moved by conv_nd. Nullopt: it is in that
// form.
std::optional<Expr> plain_form(const CallSite& call) {
  if (auto plain = in_plain_form(call, "NCHW", "OIHW")) return plain;
  const auto x = operand(call, 0), w = operand(call, 1);
  require_rank(call, x, 4);
  require_rank(call, w, 4);
  const auto per_channel = w.dims()[1].as_const();
  const int64_t groups = call.integer("groups");
  if (groups > 1 && x.dims()[1].is_const(groups) && w.dims()[0].is_const(groups) && per_channel && *per_channel > 1) {
    // Relay's kernel of a group for each channel: channels, results of each.
    Dims dims = {simplify(w.dims()[0] * *per_channel), 1, w.dims()[2], w.dims()[3]};
    std::vector<Expr> args = {call.arg(0), make_call("reshape", {call.arg(1), make_shape(std::move(dims))})};
    if (call.has(2)) args.push_back(call.arg(2));
    return make_call(call.op().name, std::move(args), call.attrs());
  }
  if (w.dims()[2].as_const() && w.dims()[3].as_const()) return std::nullopt;
  require_stated(call, w);
  Expr result = make_call("conv_nd", {call.arg(0), call.arg(1)},
                          {{"strides", list(pair_attr(call, "strides", 1))},
                           {"padding", list(padding_attr(call))},
                           {"dilation", list(pair_attr(call, "dilation", 1))},
                           {"groups", groups}});
  return given(call, 2) ? make_call("bias_add", {result, call.arg(2)}) : result;
}

}  // namespace

StructInfo infer_conv2d(const CallSite& call) {
  if (plain_form(call)) return infer_composed(call);
  const auto c = convolution(call);
  return tensor_like(c.x, c.out);
}

Effect conv2d_effect(const CallSite& call) {
  if (plain_form(call)) return composed_effect(call);
  return convolution(call).proved ? Effect::Total : Effect::MayFail;
}

std::optional<KernelCall> conv2d_kernel(const CallSite& call) {
  if (plain_form(call)) return std::nullopt;
  const auto c = convolution(call);
  if (c.x.dtype() != DType::Float32) return std::nullopt;
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
  if (auto plain = plain_form(call)) return *std::move(plain);
  if (auto kernel = conv2d_kernel(call)) return *std::move(kernel);
  return loops(call, convolution(call));
}

}  // namespace ingot::ops
