#include <cmath>
#include <numbers>

#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

// Fourier transforms and windows of signals.
namespace ingot::ops {

using namespace ir;
using tir::Indices;

// (real, imaginary) parts of the transform along the last axis.
Meaning define_dft(const CallSite& call) {
  const auto x = operand(call, 0), y = operand(call, 1);
  require_float(call, x);
  require_same_dtype(call, x, y);
  require_rank(call, y, x.rank());
  if (x.rank() == 0) call.fail(ErrorCode::ShapeMismatch, "{} must have rank 1 or more, it is a scalar", x.name);
  for (size_t d = 0; d < x.rank(); ++d) require_equal(call, "shapes", x, x.dims()[d], y, y.dims()[d]);
  Dims dims = x.dims();
  dims.emplace_back(2);
  const Expr both = make_call("stack", {make_tuple({call.arg(0), call.arg(1)})}, {{"axis", int64_t{-1}}});
  const Expr result = make_builtin(
      "dft",
      {both, make_none(), make_prim(static_cast<int64_t>(x.rank()) - 1), make_prim(call.flag("inverse")), make_prim(0)},
      tensor_like(x, dims));
  const auto part = [&](int64_t k) { return taken(result, scalar(DType::Int64, static_cast<double>(k)), -1); };
  return make_tuple({part(0), part(1)});
}

namespace {

struct Frames {
  int64_t size, hop, window;
};

Frames frames(const CallSite& call) {
  Frames f{call.integer("n_fft"), 0, 0};
  const auto or_else = [&](std::string_view name, int64_t fallback) {
    const int64_t given = call.has_attr(name) ? call.integer(name) : -1;
    return given < 0 ? fallback : given;
  };
  f.hop = or_else("hop_length", f.size / 4);
  f.window = or_else("win_length", f.size);
  if (f.size < 1 || f.hop < 1 || f.window < 1 || f.window > f.size || f.size > INT32_MAX)
    call.fail(ErrorCode::InvalidArgument,
              "n_fft is {}, hop_length {}, win_length {}; they must be 1 or more, and the window not longer than n_fft",
              f.size, f.hop, f.window);
  return f;
}

}  // namespace

// [batch, frequencies, frames, 2] of a signal [batch, length], or without the batch.
StructInfo infer_stft(const CallSite& call) {
  const auto x = operand(call, 0);
  require_float(call, x);
  if (x.rank() != 1) require_rank(call, x, 2);
  const Frames f = frames(call);
  if (given(call, 1)) {
    const auto window = operand(call, 1);
    require_rank(call, window, 1);
    if (differ(call, window.dims()[0], f.window))
      call.fail(ErrorCode::ShapeMismatch, "{} has {} elements, win_length is {}", window.name,
                to_text(window.dims()[0]), f.window);
  }
  const PrimExpr room = x.dims().back() - f.size;
  if (exceeds(call, f.size, x.dims().back()))
    call.fail(ErrorCode::ShapeMismatch, "{} has {} elements, n_fft is {}", x.name, to_text(x.dims().back()), f.size);
  Dims dims(x.dims().begin(), x.dims().end() - 1);
  dims.emplace_back(call.flag("onesided") ? f.size / 2 + 1 : f.size);
  dims.push_back(simplify(floor_div(room, f.hop) + 1));
  dims.emplace_back(2);
  return tensor_like(x, dims);
}

Meaning define_stft(const CallSite& call) {
  OpFunc f(call);
  const Frames frame = frames(call);
  const DType dtype = f.dtype(f.out()), wide = accumulator(dtype);
  const bool has_window = given(call, 1);
  const size_t rank = f.dims(f.out()).size();
  if (has_window) f.require_size(1, 0, frame.window);
  const auto total = f.builder().temporary("total", wide, f.dims(f.out()));
  f.reduce(total, tir::ExprOp::Add, element(wide, 0.0), {frame.window}, [&](const Indices& i, const Indices& k) {
    Indices at(i.begin(), i.end() - 3);
    at.push_back(i[rank - 2] * frame.hop + k[0]);
    Element x = cast(wide, f.load(f.in(), at));
    if (has_window) x = x * cast(wide, f.load(f.in(1), {k[0]}));
    // The angle's whole turns are taken off where they are exact.
    const Element angle = element(wide, floor_mod(i[rank - 3] * k[0], frame.window)) *
                          (2 * std::numbers::pi / static_cast<double>(frame.window));
    const Element is_real = truth(element(DType::Int64, PrimExpr::make(PrimOp::Equal, {i[rank - 1], PrimExpr(0)})));
    return x * select(is_real, apply(tir::ExprOp::Cos, angle), -apply(tir::ExprOp::Sin, angle));
  });
  const double scale = call.flag("normalized") ? 1 / std::sqrt(static_cast<double>(frame.size)) : 1;
  f.compute(f.out(), [&](const Indices& i) {
    const Element sum = f.load(total, i);
    return cast(dtype, scale == 1 ? sum : sum * scale);
  });
  return f.finish();
}

namespace {

PrimExpr window_size(const CallSite& call) {
  const Dims size = dims_of(call, "window_size", 0);
  if (size.size() != 1) call.fail(ErrorCode::TypeError, "window_size is not one number");
  return size[0];
}

}  // namespace

// alpha - beta * cos of one period, whose end is the element behind the last, or the last one.
StructInfo infer_hamming_window(const CallSite& call) {
  const PrimExpr size = window_size(call);
  if (prove_less(size, 0) == Proof::Yes)
    call.fail(ErrorCode::ShapeMismatch, "window_size is {}, it must not be negative", to_text(size));
  const DType dtype = call.dtype_attr("dtype");
  if (!is_float(dtype)) call.fail(ErrorCode::TypeError, "dtype is {}, it must be a float's", dtype_name(dtype));
  return tensor_info(dtype, Dims{size});
}

Meaning define_hamming_window(const CallSite& call) {
  OpFunc f(call);
  const DType dtype = f.dtype(f.out()), wide = accumulator(dtype);
  const PrimExpr period = max(f.dims(f.out())[0] - (call.flag("periodic") ? 0 : 1), 1);
  f.compute(f.out(), [&](const Indices& i) {
    const Element angle = element(wide, i[0]) * (2 * std::numbers::pi) / element(wide, period);
    return cast(dtype, call.number("alpha") - apply(tir::ExprOp::Cos, angle) * call.number("beta"));
  });
  return f.finish();
}

}  // namespace ingot::ops
