#include "runtime/base/arithmetic.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/tir/machine.h"

namespace ingot::tir {
namespace {

namespace op = arithmetic;

// Registers of results never overlap those of operands.
template <typename T, typename R, auto Op>
bool unary(Frame& frame, const Step& step, Lanes lanes) {
  const T* a = frame.lanes<const T>(step.a);
  R* __restrict to = frame.lanes<R>(step.dst);
  for (uint32_t i = lanes.begin; i < lanes.end; ++i) to[i] = Op(a[i]);
  return true;
}

template <typename T, typename R, auto Op>
bool binary(Frame& frame, const Step& step, Lanes lanes) {
  const T* a = frame.lanes<const T>(step.a);
  const T* b = frame.lanes<const T>(step.b);
  R* __restrict to = frame.lanes<R>(step.dst);
  for (uint32_t i = lanes.begin; i < lanes.end; ++i) to[i] = Op(a[i], b[i]);
  return true;
}

// Every lane is asked before the first one is computed.
template <typename T, auto Op, auto Faults>
bool checked_binary(Frame& frame, const Step& step, Lanes lanes) {
  const T* a = frame.lanes<const T>(step.a);
  const T* b = frame.lanes<const T>(step.b);
  bool faults = false;
  for (uint32_t i = lanes.begin; i < lanes.end; ++i) faults |= Faults(a[i], b[i]);
  if (faults) return frame.fault(ErrorCode::DivisionByZero, "an integer is divided by zero");
  return binary<T, T, Op>(frame, step, lanes);
}

template <typename T>
constexpr bool divisor_is_zero(T, T b) {
  return op::divisor_faults(b);
}

template <typename T>
StepFunction bool_or_int_unary(ExprOp code) {
  if constexpr (std::same_as<T, bool>) {
    if (code == ExprOp::Not) return unary<T, T, [](T a) { return !a; }>;
  } else if constexpr (IntElement<T>) {
    if (code == ExprOp::Not) return unary<T, T, [](T a) { return static_cast<T>(~a); }>;
  }
  return nullptr;
}

template <typename T>
StepFunction numeric_unary(ExprOp code) {
  switch (code) {
    case ExprOp::Neg:
      return unary<T, T, op::neg<T>>;
    case ExprOp::Abs:
      return unary<T, T, op::abs<T>>;
    case ExprOp::Sign:
      return unary<T, T, op::sign<T>>;
    default:
      return nullptr;
  }
}

template <typename T>
StepFunction float_unary(ExprOp code) {
  switch (code) {
#define FUNCTION(Name, name) \
  case ExprOp::Name:         \
    return unary<T, T, op::name<T>>;
#include "runtime/tir/float_functions.def"
    case ExprOp::IsNan:
      return unary<T, bool, op::is_nan<T>>;
    case ExprOp::IsInf:
      return unary<T, bool, op::is_inf<T>>;
    case ExprOp::IsFinite:
      return unary<T, bool, op::is_finite<T>>;
    default:
      return nullptr;
  }
}

template <typename T>
StepFunction comparison(ExprOp code) {
  switch (code) {
    case ExprOp::Equal:
      return binary<T, bool, op::equal<T>>;
    case ExprOp::NotEqual:
      return binary<T, bool, op::not_equal<T>>;
    case ExprOp::Less:
      return binary<T, bool, op::less<T>>;
    case ExprOp::LessEqual:
      return binary<T, bool, op::less_equal<T>>;
    case ExprOp::Greater:
      return binary<T, bool, [](T a, T b) { return op::less(b, a); }>;
    case ExprOp::GreaterEqual:
      return binary<T, bool, [](T a, T b) { return op::less_equal(b, a); }>;
    default:
      return nullptr;
  }
}

template <typename T>
StepFunction numeric_binary(ExprOp code) {
  switch (code) {
    case ExprOp::Add:
      return binary<T, T, op::add<T>>;
    case ExprOp::Sub:
      return binary<T, T, op::sub<T>>;
    case ExprOp::Mul:
      return binary<T, T, op::mul<T>>;
    case ExprOp::Min:
      return binary<T, T, op::min<T>>;
    case ExprOp::Max:
      return binary<T, T, op::max<T>>;
    case ExprOp::Div:
      return checked_binary<T, op::div<T>, divisor_is_zero<T>>;
    case ExprOp::Mod:
      return checked_binary<T, op::mod<T>, divisor_is_zero<T>>;
    case ExprOp::FloorDiv:
      return checked_binary<T, op::floor_div<T>, divisor_is_zero<T>>;
    case ExprOp::FloorMod:
      return checked_binary<T, op::floor_mod<T>, divisor_is_zero<T>>;
    case ExprOp::Pow:
      return checked_binary<T, op::pow<T>, op::pow_faults<T>>;
    default:
      return nullptr;
  }
}

template <typename T>
StepFunction int_binary(ExprOp code) {
  switch (code) {
    case ExprOp::BitAnd:
      return binary<T, T, op::bit_and<T>>;
    case ExprOp::BitOr:
      return binary<T, T, op::bit_or<T>>;
    case ExprOp::BitXor:
      return binary<T, T, op::bit_xor<T>>;
    case ExprOp::ShiftLeft:
      return binary<T, T, op::shift_left<T>>;
    case ExprOp::ShiftRight:
      return binary<T, T, op::shift_right<T>>;
    default:
      return nullptr;
  }
}

template <typename T>
StepFunction bool_binary(ExprOp code) {
  if (code == ExprOp::And) return binary<T, T, [](T a, T b) { return a && b; }>;
  if (code == ExprOp::Or) return binary<T, T, [](T a, T b) { return a || b; }>;
  return nullptr;
}

StepFunction found(StepFunction function, ExprOp code, DType dtype) {
  if (function == nullptr)
    fail(ErrorCode::Internal, "operator {} has no step for {}", static_cast<int>(code), dtype_name(dtype));
  return function;
}

}  // namespace

StepFunction unary_step(ExprOp code, DType dtype) {
  return found(with_element(dtype,
                            [&]<typename T>() -> StepFunction {
                              if (StepFunction function = bool_or_int_unary<T>(code)) return function;
                              if constexpr (NumericElement<T>)
                                if (StepFunction function = numeric_unary<T>(code)) return function;
                              if constexpr (FloatElement<T>) return float_unary<T>(code);
                              return nullptr;
                            }),
               code, dtype);
}

StepFunction binary_step(ExprOp code, DType dtype) {
  return found(with_element(dtype,
                            [&]<typename T>() -> StepFunction {
                              if (StepFunction function = comparison<T>(code)) return function;
                              if constexpr (std::same_as<T, bool>) return bool_binary<T>(code);
                              if constexpr (NumericElement<T>)
                                if (StepFunction function = numeric_binary<T>(code)) return function;
                              if constexpr (IntElement<T>) return int_binary<T>(code);
                              if constexpr (FloatElement<T>)
                                if (code == ExprOp::Atan2) return binary<T, T, op::atan2<T>>;
                              return nullptr;
                            }),
               code, dtype);
}

StepFunction cast_step(DType from, DType to) {
  return with_element(from, [&]<typename From>() {
    return with_element(to, [&]<typename To>() -> StepFunction { return unary<From, To, convert<To, From>>; });
  });
}

}  // namespace ingot::tir
