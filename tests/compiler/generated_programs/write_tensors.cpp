#include <array>
#include <cmath>

#include <fmt/format.h>

#include "tests/compiler/generated_programs/writer.h"

namespace ingot::generated {
namespace {

template <size_t N>
std::string_view one_of(Choices& choices, const std::array<std::string_view, N>& words) {
  return words[choices.pick(N)];
}

// `a + b` or `f(a, b)`.
std::string binary(std::string_view op, const std::string& a, const std::string& b) {
  const bool symbol = op.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  return symbol ? fmt::format("({} {} {})", a, op, b) : fmt::format("{}({}, {})", op, a, b);
}

Type with_dtype(Type type, DType dtype, bool exact = true) {
  type.dtype = dtype;
  type.exact = exact;
  return type;
}

}  // namespace

Piece Writer::fit(Piece piece, const Type& type) {
  if (!is_float(type.dtype)) return piece;
  const Bounds limit = operand_bounds(type.dtype);
  if (piece.bounds.most <= limit.most && (piece.bounds.fraction <= limit.fraction || !type.exact)) return piece;
  if (!type.exact) return {fmt::format("clip({}, a_min=-4.0, a_max=4.0)", piece.text), {4, 0}};
  return {fmt::format("clip(floor({}), a_min=-4.0, a_max=4.0)", piece.text), {4, 0}};
}

Piece Writer::operand(const Type& type) { return fit(tensor(type), type); }

Piece Writer::tensor(const Type& type) {
  if (at_bottom()) return leaf(type);
  Piece piece;
  switch (choices_.pick(26)) {
    case 0:
    case 1:
    case 2:
      return leaf(type);
    case 3:
      piece = branch(type);
      break;
    case 4:
    case 5:
      piece = call(type);
      break;
    case 6:
      piece = immediate_call(type);
      break;
    case 7:
      piece = projection(type);
      break;
    case 8:
      piece = logged(type);
      break;
    case 9:
      piece = match_cast(type);
      break;
    case 10:
      piece = reduced(type);
      break;
    case 11:
      piece = rearranged(type);
      break;
    case 12:
      piece = product(type);
      break;
    case 13:
      piece = chosen(type);
      break;
    case 14:
      piece = called_tir(type);
      break;
    case 15:
      piece = polymorphic(type);
      break;
    case 16:
      piece = layer(type);
      break;
    case 23:
      piece = forgotten(type);
      break;
    case 24:
      piece = called_tir(type);
      break;
    case 25:
      piece = dims_as_tensor(type);
      break;
    default:
      break;
  }
  if (!piece.text.empty()) return piece;
  ++depth_;
  if (type.dtype == DType::Bool) {
    piece = boolean(type);
  } else if (!is_float(type.dtype)) {
    piece = integer(type);
  } else {
    piece = type.exact ? exact_float(type) : inexact_float(type);
  }
  --depth_;
  return piece;
}

Piece Writer::boolean(const Type& type) {
  static constexpr std::array<std::string_view, 6> kComparisons = {"<", "==", "!=", "<=", ">", ">="};
  static constexpr std::array<std::string_view, 3> kLogic = {"logical_and", "logical_or", "logical_xor"};
  switch (choices_.pick(6)) {
    case 0:
      return {fmt::format("(!{})", operand(type).text), {}};
    case 1:
      return {binary(one_of(choices_, kLogic), operand(type).text, operand(broadcastable(type)).text), {}};
    case 2:
      if (!scope_.dataflow && type.is_scalar()) {
        const std::string_view op = choices_.chance(50) ? "&&" : "||";
        const std::string left = operand(type).text;
        return {fmt::format("({} {} {})", left, op, nested([&] { return operand(type).text; })), {}};
      }
      [[fallthrough]];
    default: {
      DType dtype = pick_dtype();
      if (dtype == DType::Bool) dtype = DType::Int32;
      const Type compared = with_dtype(type, dtype);
      const std::string_view op = one_of(choices_, kComparisons);
      const std::string left = operand(compared).text;
      return {binary(op, left, operand(broadcastable(compared)).text), {}};
    }
  }
}

std::string Writer::divisor(const Type& type) {
  if (choices_.chance(8)) return operand(type).text;
  const std::string one = fmt::format("1{}", dtype_info(type.dtype).brief);
  return fmt::format("bitwise_or({}, {})", operand(type).text, one);
}

Piece Writer::integer(const Type& type) {
  static constexpr std::array<std::string_view, 10> kTotal = {
      "+", "-", "*", "minimum", "maximum", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"};
  static constexpr std::array<std::string_view, 4> kDivisions = {"/", "%", "floor_divide", "floor_mod"};
  static constexpr std::array<std::string_view, 6> kUnary = {"negative", "abs",         "sign",
                                                             "square",   "bitwise_not", "relu"};
  switch (choices_.pick(8)) {
    case 0:
    case 1:
    case 2: {
      const std::string_view op = one_of(choices_, kTotal);
      const std::string left = operand(type).text;
      return {binary(op, left, operand(broadcastable(type)).text), {}};
    }
    case 3: {
      const std::string_view op = one_of(choices_, kDivisions);
      const std::string left = operand(type).text;
      return {binary(op, left, divisor(broadcastable(type))), {}};
    }
    case 4:
      return {fmt::format("{}({})", one_of(choices_, kUnary), operand(type).text), {}};
    case 5: {
      const std::string test = operand(with_dtype(broadcastable(type), DType::Bool)).text;
      const std::string yes = operand(type).text;
      return {fmt::format("where({}, {}, {})", test, yes, operand(type).text), {}};
    }
    default:
      return converted(type);
  }
}

Piece Writer::converted(const Type& type) {
  const Type from = with_dtype(type, pick_dtype());
  std::string text = operand(from).text;
  if (is_float(type.dtype) && !is_float(from.dtype) && from.dtype != DType::Bool)
    text = fmt::format("clip({}, a_min={}, a_max=4)", text, is_unsigned_int(from.dtype) ? "0" : "-4");
  Piece piece{fmt::format("cast({}, dtype=\"{}\")", text, dtype_name(type.dtype)), operand_bounds(from.dtype)};
  if (!is_float(from.dtype)) piece.bounds = {4, 0};
  // Rounds, but not further than a number of the other dtype.
  if (is_float(type.dtype) && !representable(piece.bounds, type.dtype))
    return {fmt::format("cast(clip(floor({}), a_min=-4.0, a_max=4.0), dtype=\"{}\")", text, dtype_name(type.dtype)),
            {4, 0}};
  return piece;
}

Piece Writer::exact_float(const Type& type) {
  static constexpr std::array<std::string_view, 4> kBinary = {"+", "-", "minimum", "maximum"};
  static constexpr std::array<std::string_view, 9> kUnary = {"negative", "relu",  "abs",  "floor",   "ceil",
                                                             "round",    "trunc", "sign", "identity"};
  switch (choices_.pick(8)) {
    case 0:
    case 1: {
      const std::string_view op = one_of(choices_, kBinary);
      Piece a = tensor(type);
      const Type other = broadcastable(type);
      Piece b = tensor(other);
      const auto both = [&] {
        return Bounds{a.bounds.most + b.bounds.most, std::max(a.bounds.fraction, b.bounds.fraction)};
      };
      if (!representable(both(), type.dtype)) {
        a = fit(std::move(a), type);
        b = fit(std::move(b), other);
      }
      return {binary(op, a.text, b.text), both()};
    }
    case 2: {
      const Piece a = operand(type), b = operand(broadcastable(type));
      return {binary("*", a.text, b.text), {a.bounds.most * b.bounds.most, a.bounds.fraction + b.bounds.fraction}};
    }
    case 3: {
      const std::string_view op = one_of(choices_, kUnary);
      Piece a = tensor(type);
      a.bounds.most = std::max(std::ceil(a.bounds.most), 1.0);
      if (!representable(a.bounds, type.dtype)) a = fit(std::move(a), type);
      return {fmt::format("{}({})", op, a.text), a.bounds};
    }
    case 4: {
      const Piece a = operand(type);
      return {fmt::format("({} / 2.0{})", a.text, dtype_info(type.dtype).brief),
              {a.bounds.most, a.bounds.fraction + 1}};
    }
    case 5: {
      const std::string test = operand(with_dtype(broadcastable(type), DType::Bool)).text;
      const Piece a = operand(type), b = operand(type);
      return {fmt::format("where({}, {}, {})", test, a.text, b.text), operand_bounds(type.dtype)};
    }
    case 6: {
      const Piece a = operand(type);
      return {fmt::format("({} % 3.0{})", a.text, dtype_info(type.dtype).brief), a.bounds};
    }
    default:
      return converted(type);
  }
}

Piece Writer::inexact_float(const Type& type) {
  static constexpr std::array<std::string_view, 8> kOfExact = {"tanh", "sigmoid", "sin",  "cos",
                                                               "erf",  "gelu",    "atan", "silu"};
  static constexpr std::array<std::string_view, 5> kGentle = {"tanh", "negative", "relu", "abs", "sigmoid"};
  static constexpr std::array<std::string_view, 4> kBinary = {"+", "-", "minimum", "maximum"};
  const Type exact = with_dtype(type, type.dtype);
  switch (choices_.pick(9)) {
    case 0:
    case 1: {
      const std::string_view op = one_of(choices_, kOfExact);
      return {fmt::format("{}({})", op, operand(exact).text), operand_bounds(type.dtype)};
    }
    case 2: {
      const std::string_view op = one_of(choices_, kGentle);
      const Piece a = operand(type);
      return {fmt::format("{}({})", op, a.text), a.bounds};
    }
    case 3: {
      const std::string_view op = one_of(choices_, kBinary);
      const Piece a = operand(type), b = operand(broadcastable(choices_.chance(50) ? exact : type));
      return {binary(op, a.text, b.text), {a.bounds.most + b.bounds.most, 0}};
    }
    case 4:
      return {fmt::format("sqrt(abs({}))", operand(exact).text), {16, 0}};
    case 5:
      return {fmt::format("exp(clip({}, a_min=-2.0, a_max=2.0))", operand(exact).text), {8, 0}};
    case 6:
      return {fmt::format("({} / 3.0{})", operand(exact).text, dtype_info(type.dtype).brief),
              operand_bounds(type.dtype)};
    case 7:
      if (!type.dims.empty()) {
        const auto axis = static_cast<int>(choices_.pick(type.dims.size()));
        return {fmt::format("softmax({}, axis={})", operand(exact).text, axis), {1, 0}};
      }
      return {fmt::format("log(abs({}) + 1.0{})", operand(exact).text, dtype_info(type.dtype).brief), {16, 0}};
    default: {
      const std::string test = operand(with_dtype(broadcastable(type), DType::Bool)).text;
      const Piece a = operand(type), b = operand(type);
      return {fmt::format("where({}, {}, {})", test, a.text, b.text), operand_bounds(type.dtype)};
    }
  }
}

}  // namespace ingot::generated
