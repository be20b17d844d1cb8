#include "runtime/jit/arithmetic.h"

#include <algorithm>
#include <limits>

#include "runtime/base/convert.h"
#include "runtime/jit/rare_functions.h"
#include "runtime/jit/vector_math.h"

namespace ingot::jit {
namespace {

using tir::ExprOp;

int bits_of(DType dtype) { return static_cast<int>(dtype_bytes(dtype)) * 8; }

}  // namespace

Width width_of(DType dtype) { return dtype_bytes(dtype) == 8 ? Width::W64 : Width::W32; }

Value LaneArithmetic::constant(DType dtype, uint64_t bits) {
  return with_element(dtype, [&]<typename T>() {
    const T value = load_element<T>(&bits);
    if constexpr (std::same_as<T, bool>) {
      return b_.i32(value ? -1 : 0);
    } else if constexpr (HalfElement<T>) {
      return b_.f32(static_cast<float>(value));
    } else if constexpr (IntElement<T>) {
      return integer(dtype, static_cast<int64_t>(value));
    } else if constexpr (sizeof(T) == 8) {
      return b_.f64(value);
    } else {
      return b_.f32(value);
    }
  });
}

Value LaneArithmetic::integer(DType dtype, int64_t value) {
  return width_of(dtype) == Width::W64 ? b_.i64(value) : b_.i32(value);
}

Value LaneArithmetic::number(DType dtype, double value) {
  if (!is_float(dtype)) return integer(dtype, static_cast<int64_t>(value));
  return dtype == DType::Float64 ? b_.f64(value) : b_.f32(static_cast<float>(value));
}

// Brings what was computed in wider lanes back to values of the dtype.
Value LaneArithmetic::normal(DType dtype, Value value) {
  if (dtype == DType::Float16) return b_.op(Op::RoundF16, Width::W32, value);
  if (dtype == DType::BFloat16) return round_bf16(value);
  if (is_float(dtype) || dtype == DType::Bool || dtype_bytes(dtype) >= 4) return value;
  if (!is_signed_int(dtype)) return b_.op(Op::And, Width::W32, value, b_.i32((int64_t{1} << bits_of(dtype)) - 1));
  const auto shift = static_cast<uint8_t>(32 - bits_of(dtype));
  return b_.op(Op::Sar, Width::W32, b_.op(Op::Shl, Width::W32, value, 0, 0, shift), 0, 0, shift);
}

// To even, in the upper 16 bits; NaN stays a NaN.
Value LaneArithmetic::round_bf16(Value value) {
  constexpr auto w = Width::W32;
  const Value odd = b_.op(Op::And, w, b_.op(Op::Shr, w, value, 0, 0, 16), b_.i32(1));
  const Value rounded = b_.op(Op::IAdd, w, b_.op(Op::IAdd, w, odd, b_.i32(0x7fff)), value);
  const Value is_nan = b_.op(Op::CmpF, w, value, value, 0, static_cast<uint8_t>(Compare::Unordered));
  const Value quiet = b_.op(Op::Or, w, value, b_.i32(0x400000));
  return b_.op(Op::And, w, b_.op(Op::Blend, w, is_nan, quiet, rounded), b_.bits(w, 0xffff0000u));
}

Value LaneArithmetic::call(Helper helper, Width width, Value a, Value b, Value mask) {
  if (helper == nullptr) throw Refusal{};
  auto& known = function_.helpers;
  auto found = std::ranges::find(known, helper);
  if (found == known.end()) found = known.insert(known.end(), helper);
  return b_.pure({.op = Op::Call,
                  .width = width,
                  .a = a,
                  .b = b,
                  .mask = mask,
                  .ref = static_cast<uint32_t>(found - known.begin())});
}

Value LaneArithmetic::unary(ExprOp op, DType dtype, Value a) {
  const Width w = width_of(dtype);
  const Value sign = w == Width::W64 ? b_.bits(w, uint64_t{1} << 63) : b_.bits(w, 0x80000000u);
  switch (op) {
    case ExprOp::Neg:
      if (is_float(dtype)) return b_.op(Op::Xor, w, a, sign);
      return normal(dtype, b_.op(Op::ISub, w, integer(dtype, 0), a));
    case ExprOp::Not:
      return normal(dtype, b_.op(Op::Xor, w, a, integer(dtype, -1)));
    case ExprOp::Abs:
      if (is_float(dtype)) return b_.op(Op::AndNot, w, sign, a);
      if (!is_signed_int(dtype)) return a;
      return select(dtype, compare(ExprOp::Less, dtype, a, integer(dtype, 0)), unary(ExprOp::Neg, dtype, a), a);
    case ExprOp::Sign: {
      const Value zero = number(dtype, 0);
      const Value positive = compare(ExprOp::Greater, dtype, a, zero);
      if (!is_float(dtype) && !is_signed_int(dtype)) return select(dtype, positive, number(dtype, 1), zero);
      const Value negative = select(dtype, compare(ExprOp::Less, dtype, a, zero), number(dtype, -1), a);
      return select(dtype, positive, number(dtype, 1), negative);
    }
    case ExprOp::Round:
      return normal(dtype, b_.op(Op::FRound, w, a, 0, 0, 0));
    case ExprOp::Floor:
      return normal(dtype, b_.op(Op::FRound, w, a, 0, 0, 1));
    case ExprOp::Ceil:
      return normal(dtype, b_.op(Op::FRound, w, a, 0, 0, 2));
    case ExprOp::Trunc:
      return normal(dtype, b_.op(Op::FRound, w, a, 0, 0, 3));
    case ExprOp::Sqrt:
      return normal(dtype, b_.op(Op::FSqrt, w, a));
    case ExprOp::Rsqrt:
      return normal(dtype, b_.op(Op::FDiv, w, number(dtype, 1), b_.op(Op::FSqrt, w, a)));
    case ExprOp::IsNan:
      return b_.op(Op::CmpF, w, a, a, 0, static_cast<uint8_t>(Compare::Unordered));
    case ExprOp::IsInf:
      return compare(ExprOp::Equal, dtype, b_.op(Op::AndNot, w, sign, a),
                     number(dtype, std::numeric_limits<double>::infinity()));
    case ExprOp::IsFinite:
      return compare(ExprOp::Less, dtype, b_.op(Op::AndNot, w, sign, a),
                     number(dtype, std::numeric_limits<double>::infinity()));
    default:
      break;
  }
  const bool turns = op == ExprOp::Sin || op == ExprOp::Cos;
  if (w == Width::W32)
    if (const Value value = inline_function(b_, op, a, has_avx512())) {
      if (!turns) return normal(dtype, value);
      const Value large = compare(ExprOp::Greater, DType::Float32, b_.op(Op::AndNot, w, sign, a), b_.f32(kMostOfSine));
      const Value exact = call(unary_helper(op, DType::Float32), w, a, 0, large);
      return normal(dtype, select(dtype, large, exact, value));
    }
  const Helper rare = dtype == DType::Float32 ? rare_function(op) : nullptr;
  return call(rare != nullptr ? rare : unary_helper(op, dtype), w, a);
}

Value LaneArithmetic::compare(ExprOp op, DType dtype, Value a, Value b) {
  if (op == ExprOp::Greater || op == ExprOp::GreaterEqual) std::swap(a, b);
  Compare how = Compare::Equal;
  if (op == ExprOp::NotEqual) how = Compare::NotEqual;
  if (op == ExprOp::Less || op == ExprOp::Greater) how = Compare::Less;
  if (op == ExprOp::LessEqual || op == ExprOp::GreaterEqual) how = Compare::LessEqual;
  // Masks are 0 and -1: true is the lesser one.
  if (dtype == DType::Bool && (how == Compare::Less || how == Compare::LessEqual)) std::swap(a, b);
  const bool wide_unsigned = dtype == DType::UInt32 || dtype == DType::UInt64;
  const Op code = is_float(dtype) ? Op::CmpF : wide_unsigned ? Op::CmpU : Op::CmpI;
  return b_.op(code, width_of(dtype), a, b, 0, static_cast<uint8_t>(how));
}

Value LaneArithmetic::logic(ExprOp op, Value a, Value b) {
  return b_.op(op == ExprOp::And ? Op::And : Op::Or, Width::W32, a, b);
}

Value LaneArithmetic::float_binary(ExprOp op, DType dtype, Value a, Value b) {
  const Width w = width_of(dtype);
  switch (op) {
    case ExprOp::Add:
      return b_.op(Op::FAdd, w, a, b);
    case ExprOp::Sub:
      return b_.op(Op::FSub, w, a, b);
    case ExprOp::Mul:
      return b_.op(Op::FMul, w, a, b);
    case ExprOp::Div:
      return b_.op(Op::FDiv, w, a, b);
    case ExprOp::FloorDiv:
      return b_.op(Op::FRound, w, b_.op(Op::FDiv, w, a, b), 0, 0, 1);
    case ExprOp::Min:
      return b_.op(Op::FMinNan, w, a, b);
    case ExprOp::Max:
      return b_.op(Op::FMaxNan, w, a, b);
    case ExprOp::Pow:
      if (b_.is_constant(b) && b == number(dtype, 2)) return b_.op(Op::FMul, w, a, a);
      break;
    default:
      break;
  }
  const Helper rare = dtype == DType::Float32 ? rare_function(op) : nullptr;
  return call(rare != nullptr ? rare : binary_helper(op, dtype), w, a, b);
}

Value LaneArithmetic::int_binary(ExprOp op, DType dtype, Value a, Value b) {
  const Width w = width_of(dtype);
  const bool is_wide = w == Width::W64;
  const bool by_hand = is_wide && !has_avx512();
  const bool has_sign = is_signed_int(dtype) || dtype_bytes(dtype) < 4;
  switch (op) {
    case ExprOp::Add:
      return b_.op(Op::IAdd, w, a, b);
    case ExprOp::Sub:
      return b_.op(Op::ISub, w, a, b);
    case ExprOp::Mul:
      return by_hand ? call(binary_helper(op, dtype), w, a, b) : b_.op(Op::IMul, w, a, b);
    case ExprOp::Min:
    case ExprOp::Max: {
      if (by_hand) return call(binary_helper(op, dtype), w, a, b);
      const bool least = op == ExprOp::Min;
      return b_.op(has_sign ? (least ? Op::IMin : Op::IMax) : (least ? Op::UMin : Op::UMax), w, a, b);
    }
    case ExprOp::BitAnd:
      return b_.op(Op::And, w, a, b);
    case ExprOp::BitOr:
      return b_.op(Op::Or, w, a, b);
    case ExprOp::BitXor:
      return b_.op(Op::Xor, w, a, b);
    case ExprOp::ShiftLeft:
      return b_.op(Op::ShlV, w, a, b);
    case ExprOp::ShiftRight:
      if (by_hand) return call(binary_helper(op, dtype), w, a, b);
      return b_.op(is_signed_int(dtype) ? Op::SarV : Op::ShrV, w, a,
                   b_.op(Op::UMin, w, b, integer(dtype, bits_of(dtype) - 1)));
    default:
      throw Refusal{};
  }
}

Value LaneArithmetic::binary(ExprOp op, DType dtype, Value a, Value b, Value mask) {
  switch (op) {
    case ExprOp::And:
    case ExprOp::Or:
      return logic(op, a, b);
    case ExprOp::Equal:
    case ExprOp::NotEqual:
    case ExprOp::Less:
    case ExprOp::LessEqual:
    case ExprOp::Greater:
    case ExprOp::GreaterEqual:
      return compare(op, dtype, a, b);
    default:
      break;
  }
  if (is_float(dtype)) return normal(dtype, float_binary(op, dtype, a, b));
  const bool divides = op == ExprOp::Div || op == ExprOp::Mod || op == ExprOp::FloorDiv || op == ExprOp::FloorMod;
  if (!divides && op != ExprOp::Pow) return normal(dtype, int_binary(op, dtype, a, b));
  const Helper helper = binary_helper(op, dtype);
  if (b_.is_constant(b) && b_.constant_bits(b) != 0 && divides) return call(helper, width_of(dtype), a, b);
  auto& known = function_.helpers;
  known.push_back(helper);
  return b_.fixed({.op = Op::Call,
                   .width = width_of(dtype),
                   .imm = static_cast<uint8_t>(Fault::DivisionByZero),
                   .a = a,
                   .b = b,
                   .mask = mask,
                   .ref = static_cast<uint32_t>(known.size() - 1)},
                  true);
}

Value LaneArithmetic::select(DType dtype, Value condition, Value if_true, Value if_false) {
  return b_.op(Op::Blend, width_of(dtype), condition, if_true, if_false);
}

Value LaneArithmetic::from_int(DType from, DType to, Value a) {
  const Width source = width_of(from);
  const Width target = width_of(to);
  const bool has_sign = is_signed_int(from) || dtype_bytes(from) < 4;
  if (!is_float(to)) {
    if (source == target) return normal(to, a);
    if (source == Width::W64) return normal(to, b_.op(Op::I64ToI32, target, a));
    return b_.op(has_sign ? Op::I32ToI64 : Op::U32ToI64, target, a);
  }
  const bool direct = has_avx512() || (source == Width::W32 && has_sign);
  if (!direct) return call(cast_helper(from, to), target, a);
  if (source == Width::W64) {
    if (to == DType::Float64) return b_.op(has_sign ? Op::I64ToF64 : Op::U64ToF64, target, a);
    return normal(to, b_.op(has_sign ? Op::I64ToF32 : Op::U64ToF32, target, a));
  }
  if (to == DType::Float64) return b_.op(has_sign ? Op::I32ToF64 : Op::U32ToF64, target, a);
  return normal(to, b_.op(has_sign ? Op::I32ToF32 : Op::U32ToF32, target, a));
}

Value LaneArithmetic::from_float(DType from, DType to, Value a) {
  const Width w = width_of(from);
  const Width target = width_of(to);
  if (is_float(to)) {
    if (from == DType::Float64) return normal(to, b_.op(Op::F64ToF32, target, a));
    if (to == DType::Float64) return b_.op(Op::F32ToF64, target, a);
    return normal(to, a);
  }
  // Both ends are exact in the source only for narrow integers, and for 32 bits in f64.
  const bool clamps = dtype_bytes(to) < 4 || (to == DType::Int32 && w == Width::W64);
  if (!clamps) return call(cast_helper(from, to), target, a);
  const int64_t greatest = (int64_t{1} << (bits_of(to) - (is_signed_int(to) ? 1 : 0))) - 1;
  const int64_t least = is_signed_int(to) ? -greatest - 1 : 0;
  const Value low = b_.op(Op::FMax, w, number(from, static_cast<double>(least)), a);
  const Value clamped = b_.op(Op::FMin, w, number(from, static_cast<double>(greatest)), low);
  const Value whole = b_.op(w == Width::W64 ? Op::F64ToI32 : Op::F32ToI32, Width::W32, clamped);
  const Value is_number = b_.op(Op::CmpF, w, a, a, 0, static_cast<uint8_t>(Compare::Equal));
  return b_.op(Op::And, Width::W32, whole, is_number);
}

Value LaneArithmetic::cast(DType from, DType to, Value a) {
  if (from == to) return a;
  if (to == DType::Bool) return compare(ExprOp::NotEqual, from, a, number(from, 0));
  if (from == DType::Bool) {
    if (width_of(to) == Width::W32) return b_.op(Op::And, Width::W32, a, number(to, 1));
    return b_.op(Op::And, Width::W64, b_.op(Op::I32ToI64, Width::W64, a), number(to, 1));
  }
  return is_float(from) ? from_float(from, to, a) : from_int(from, to, a);
}

}  // namespace ingot::jit
