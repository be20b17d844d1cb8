#include "runtime/jit/helpers.h"

#include <bit>

#include "runtime/base/arithmetic.h"
#include "runtime/base/convert.h"

namespace ingot::jit {
namespace {

using tir::ExprOp;
namespace op = arithmetic;

template <Element T>
T lane(const void* lanes, uint32_t i) {
  if constexpr (sizeof(T) == 8 || sizeof(T) == 4) {
    return static_cast<const T*>(lanes)[i];
  } else if constexpr (HalfElement<T>) {
    return T(static_cast<const float*>(lanes)[i]);
  } else {
    return static_cast<T>(static_cast<const int32_t*>(lanes)[i]);
  }
}

template <Element T>
void set_lane(void* lanes, uint32_t i, T value) {
  if constexpr (sizeof(T) == 8 || sizeof(T) == 4) {
    static_cast<T*>(lanes)[i] = value;
  } else if constexpr (HalfElement<T>) {
    static_cast<float*>(lanes)[i] = static_cast<float>(value);
  } else if constexpr (std::same_as<T, bool>) {
    static_cast<int32_t*>(lanes)[i] = value ? -1 : 0;
  } else {
    static_cast<int32_t*>(lanes)[i] = value;
  }
}

template <Element T, Element R, auto Op>
uint32_t unary(void* result, const void* a, const void*, uint32_t mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(mask));
    set_lane<R>(result, i, Op(lane<T>(a, i)));
  }
  return 0;
}

template <Element T, auto Op, auto Faults>
uint32_t binary(void* result, const void* a, const void* b, uint32_t mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(mask));
    const T x = lane<T>(a, i);
    const T y = lane<T>(b, i);
    if (Faults(x, y)) return 1;
    set_lane<T>(result, i, Op(x, y));
  }
  return 0;
}

template <typename T>
constexpr bool never(T, T) {
  return false;
}
template <typename T>
constexpr bool divisor_is_zero(T, T b) {
  return op::divisor_faults(b);
}

}  // namespace

Helper unary_helper(ExprOp code, DType dtype) {
  return with_element(dtype, [&]<typename T>() -> Helper {
    if constexpr (FloatElement<T>) {
      switch (code) {
#define FUNCTION(Name, name) \
  case ExprOp::Name:         \
    return unary<T, T, op::name<T>>;
#include "runtime/tir/float_functions.def"
        default:
          return nullptr;
      }
    }
    return nullptr;
  });
}

Helper binary_helper(ExprOp code, DType dtype) {
  return with_element(dtype, [&]<typename T>() -> Helper {
    if constexpr (NumericElement<T>) {
      switch (code) {
        case ExprOp::Mul:
          return binary<T, op::mul<T>, never<T>>;
        case ExprOp::Min:
          return binary<T, op::min<T>, never<T>>;
        case ExprOp::Max:
          return binary<T, op::max<T>, never<T>>;
        case ExprOp::Div:
          return binary<T, op::div<T>, divisor_is_zero<T>>;
        case ExprOp::Mod:
          return binary<T, op::mod<T>, divisor_is_zero<T>>;
        case ExprOp::FloorDiv:
          return binary<T, op::floor_div<T>, divisor_is_zero<T>>;
        case ExprOp::FloorMod:
          return binary<T, op::floor_mod<T>, divisor_is_zero<T>>;
        case ExprOp::Pow:
          return binary<T, op::pow<T>, op::pow_faults<T>>;
        default:
          break;
      }
      if constexpr (IntElement<T>)
        if (code == ExprOp::ShiftRight) return binary<T, op::shift_right<T>, never<T>>;
      if constexpr (FloatElement<T>)
        if (code == ExprOp::Atan2) return binary<T, op::atan2<T>, never<T>>;
    }
    return nullptr;
  });
}

Helper cast_helper(DType from, DType to) {
  return with_element(from, [&]<typename From>() {
    return with_element(to, [&]<typename To>() -> Helper { return unary<From, To, convert<To, From>>; });
  });
}

}  // namespace ingot::jit
