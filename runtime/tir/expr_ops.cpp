#include "runtime/tir/expr_ops.h"

#include <array>

namespace ingot::tir {
namespace {

using enum Operands;

constexpr std::array<ExprOpInfo, kExprOpCount> kInfos = {{
    {"", 0, 0, Special},                    // Const
    {"index", 0, 0, Special},               // Index
    {"", 0, 0, Special},                    // Let
    {"", 0, 0, Special},                    // Load
    {"cast", 1, 0, Special},                // Cast
    {"select", 3, 0, Special},              // Select
    {"-", 1, kUnaryPrecedence, Numeric},    // Neg
    {"!", 1, kUnaryPrecedence, BoolOrInt},  // Not
    {"abs", 1, 0, Numeric},
    {"sign", 1, 0, Numeric},
    {"ceil", 1, 0, Float},
    {"floor", 1, 0, Float},
    {"round", 1, 0, Float},
    {"trunc", 1, 0, Float},
    {"sqrt", 1, 0, Float},
    {"rsqrt", 1, 0, Float},
    {"exp", 1, 0, Float},
    {"log", 1, 0, Float},
    {"sin", 1, 0, Float},
    {"cos", 1, 0, Float},
    {"tan", 1, 0, Float},
    {"asin", 1, 0, Float},
    {"acos", 1, 0, Float},
    {"atan", 1, 0, Float},
    {"sinh", 1, 0, Float},
    {"cosh", 1, 0, Float},
    {"tanh", 1, 0, Float},
    {"asinh", 1, 0, Float},
    {"acosh", 1, 0, Float},
    {"atanh", 1, 0, Float},
    {"erf", 1, 0, Float},
    {"sigmoid", 1, 0, Float},
    {"+", 2, 5, Numeric},
    {"-", 2, 5, Numeric},
    {"*", 2, 6, Numeric},
    {"/", 2, 6, Numeric},
    {"%", 2, 6, Numeric},
    {"floor_div", 2, 0, Numeric},
    {"floor_mod", 2, 0, Numeric},
    {"min", 2, 0, Numeric},
    {"max", 2, 0, Numeric},
    {"pow", 2, 0, Numeric},
    {"atan2", 2, 0, Float},
    {"bit_and", 2, 0, Int},
    {"bit_or", 2, 0, Int},
    {"bit_xor", 2, 0, Int},
    {"shift_left", 2, 0, Int},
    {"shift_right", 2, 0, Int},
    {"&&", 2, 2, Bool},
    {"||", 2, 1, Bool},
    {"==", 2, 3, Comparison},
    {"!=", 2, 3, Comparison},
    {"<", 2, 4, Comparison},
    {"<=", 2, 4, Comparison},
    {">", 2, 4, Comparison},
    {">=", 2, 4, Comparison},
    {"is_nan", 1, 0, Predicate},
    {"is_inf", 1, 0, Predicate},
    {"is_finite", 1, 0, Predicate},
    {"gelu", 1, 0, Float},
}};

}  // namespace

const ExprOpInfo& expr_op_info(ExprOp op) { return kInfos[static_cast<size_t>(op)]; }

bool accepts_dtype(ExprOp op, DType dtype) {
  const bool boolean = dtype == DType::Bool;
  switch (expr_op_info(op).operands) {
    case Special:
      return false;
    case BoolOrInt:
      return boolean || is_integer(dtype);
    case Bool:
      return boolean;
    case Int:
      return is_integer(dtype);
    case Numeric:
      return is_integer(dtype) || is_float(dtype);
    case Float:
    case Predicate:
      return is_float(dtype);
    case Comparison:
      return boolean || is_integer(dtype) || is_float(dtype);
  }
  return false;
}

std::string_view operands_text(Operands operands) {
  switch (operands) {
    case Special:
      return "operands of its own";
    case BoolOrInt:
      return "booleans or integers";
    case Bool:
      return "booleans";
    case Int:
      return "integers";
    case Numeric:
      return "numbers";
    case Float:
    case Predicate:
      return "floats";
    case Comparison:
      return "numbers or booleans";
  }
  return "";
}

DType result_dtype(ExprOp op, DType dtype) {
  const Operands operands = expr_op_info(op).operands;
  return operands == Comparison || operands == Predicate ? DType::Bool : dtype;
}

}  // namespace ingot::tir
