#pragma once
#include <cstdint>
#include <string_view>

#include "runtime/tir/prim_func.h"

// What each ExprOp takes and gives, and how it is spelled: one table for builder, checker, text and codec.
namespace ingot::tir {

enum class Operands : uint8_t {
  Special,    // Const, Index, Let, Load, Cast, Select
  BoolOrInt,  // one or two of a dtype, the same out
  Bool,
  Int,
  Numeric,
  Float,
  Comparison,  // two of any dtype, bool out
  Predicate,   // one float, bool out
};

struct ExprOpInfo {
  // As a function in text; of operators the symbol.
  std::string_view name;
  uint8_t arity;       // number of operands
  uint8_t precedence;  // of an infix operator, as in the language; 0: written as a function
  Operands operands;
};

inline constexpr size_t kExprOpCount = static_cast<size_t>(ExprOp::Gelu) + 1;
const ExprOpInfo& expr_op_info(ExprOp op);

inline constexpr uint8_t kUnaryPrecedence = 7;

// May an operator take operands of this dtype?
bool accepts_dtype(ExprOp op, DType dtype);
// "numbers", "floats": for messages.
std::string_view operands_text(Operands operands);
// The dtype of the result for operands of `dtype`; not for the special ones.
DType result_dtype(ExprOp op, DType dtype);

// Bounds on nesting that everything which walks PrimFuncs may rely on.
inline constexpr uint32_t kMaxStmtDepth = 64;
inline constexpr uint32_t kMaxExprNesting = 512;

}  // namespace ingot::tir
