#include <limits>

#include "runtime/base/convert.h"
#include "runtime/jit/lowering.h"

namespace ingot::jit {

using tir::ExprOp;
using tir::NestExpr;
using tir::NestStore;

Value Lowering::neutral(ExprOp op, DType dtype) {
  return with_element(dtype, [&]<typename T>() {
    uint64_t bits = 0;
    if constexpr (std::same_as<T, bool>) {
      store_element(&bits, op == ExprOp::And);
    } else {
      using Limits = std::numeric_limits<std::conditional_t<HalfElement<T>, float, T>>;
      const auto greatest = FloatElement<T> ? Limits::infinity() : Limits::max();
      const auto least = FloatElement<T> ? -Limits::infinity() : Limits::lowest();
      const auto zero = static_cast<Wide<T>>(FloatElement<T> ? -0.0 : 0.0);
      const auto value = op == ExprOp::Min   ? greatest
                         : op == ExprOp::Max ? least
                         : op == ExprOp::Mul ? static_cast<Wide<T>>(1)
                                             : zero;
      store_element(&bits, narrow<T>(static_cast<Wide<T>>(value)));
    }
    return arithmetic_.constant(dtype, bits);
  });
}

Value Lowering::combine(const tir::Fold& fold, DType dtype, Value a, Value b) {
  return fold.swapped ? arithmetic_.binary(fold.op, dtype, b, a, 0) : arithmetic_.binary(fold.op, dtype, a, b, 0);
}

// Where one element is NaN, so is the result; looking for it apart is shorter than letting it through each step.
void Lowering::accumulate_extreme(Accumulator& accumulator, const tir::Fold& fold) {
  constexpr auto w = Width::W32;
  const Value x = expression(*fold.value, active_);
  Value mask = active_;
  if (b_.tail()) mask = both(mask, b_.pure({.op = Op::TailMask}, b_.level()));
  const auto step = [&](Value result, Value target) {
    if (mask != 0) result = b_.op(Op::Blend, w, mask, result, target);
    b_.assign(target, result);
  };
  const Value value = accumulator.values[unit_], marks = accumulator.marks[unit_];
  step(b_.op(fold.op == ExprOp::Max ? Op::FMax : Op::FMin, w, x, value), value);
  step(is_wide() ? b_.op(Op::KeepNan, w, marks, x) : b_.op(Op::UMax, w, b_.op(Op::IAdd, w, x, x), marks), marks);
}

void Lowering::accumulate(Accumulator& accumulator, const tir::Fold& fold, DType dtype) {
  if (!accumulator.marks.empty()) return accumulate_extreme(accumulator, fold);
  const Value target = accumulator.values[unit_];
  const NestExpr& value = *fold.value;
  const bool fuses = accumulator.across_lanes && fold.op == ExprOp::Add && value.op == ExprOp::Mul &&
                     (dtype == DType::Float32 || dtype == DType::Float64);
  Value result = 0;
  if (fuses) {
    const Value a = expression(*value.operands[0], active_);
    const Value b = expression(*value.operands[1], active_);
    result = b_.op(Op::FMadd, width_of(dtype), a, b, target);
  } else {
    result = combine(fold, dtype, target, expression(value, active_));
  }
  Value mask = active_;
  if (accumulator.across_lanes && b_.tail()) mask = both(mask, b_.pure({.op = Op::TailMask}, b_.level()));
  if (mask != 0) result = arithmetic_.select(dtype, mask, result, target);
  b_.assign(target, result);
}

Value Lowering::across_lanes(std::vector<Value> parts, Width width, const std::function<Value(Value, Value)>& join) {
  for (Value& part : parts) part = b_.current(part);
  for (; parts.size() > 1; parts.resize(parts.size() / 2))
    for (size_t i = 0; i < parts.size() / 2; ++i) parts[i] = join(parts[i], parts[i + parts.size() / 2]);
  Value total = parts[0];
  const int element = static_cast<int>(width);
  for (int bytes = b_.lanes() * element / 2; bytes >= element; bytes /= 2)
    total = join(total, b_.op(Op::Swap, width, total, 0, 0, static_cast<uint8_t>(bytes)));
  return total;
}

void Lowering::finish_fold(const NestStore& store, const tir::Fold& fold, Accumulator& accumulator) {
  constexpr uint32_t kTwiceInfinity = 0xff000000u;
  const DType dtype = store.value->dtype;
  const auto width = width_of(dtype);
  Value total = 0;
  if (accumulator.marks.empty()) {
    total = across_lanes(accumulator.values, width, [&](Value a, Value b) { return combine(fold, dtype, a, b); });
  } else {
    const auto joined = [&](Op op) { return [this, op](Value a, Value b) { return b_.op(op, Width::W32, a, b); }; };
    total = across_lanes(accumulator.values, width, joined(fold.op == ExprOp::Max ? Op::FMax : Op::FMin));
    const Value mark = across_lanes(accumulator.marks, width, joined(is_wide() ? Op::KeepNan : Op::UMax));
    b_.set_lanes(1, false);
    const auto compared = [&](Op op, Value a, Compare how) {
      return b_.op(op, width, a, mark, 0, static_cast<uint8_t>(how));
    };
    const Value is_nan = is_wide() ? compared(Op::CmpF, mark, Compare::Unordered)
                                   : compared(Op::CmpU, b_.bits(width, kTwiceInfinity), Compare::Less);
    total = b_.op(Op::Blend, width, is_nan, b_.f32(std::numeric_limits<float>::quiet_NaN()), total);
  }
  b_.set_lanes(1, false);
  const NestExpr& self = *store.value->operands[fold.swapped ? 1 : 0];
  total = combine(fold, dtype, load(self, 0), total);
  b_.store({.op = Op::Store, .width = width, .dtype = dtype, .a = total, .ref = locate(store.place, 0).position});
}

}  // namespace ingot::jit
