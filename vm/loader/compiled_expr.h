#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/symbolic/prim_expr.h"

namespace ingot::vm {

// Positions of a function's symbolic variables in the array of values that an expression is evaluated over.
class VarSlots {
 public:
  explicit VarSlots(std::span<const SymVar> vars) : vars_(vars) {}
  // Internal where the variable is not among them: the verifier has seen to it.
  uint32_t of(const SymVar& var) const;

 private:
  std::span<const SymVar> vars_;
};

// A PrimExpr made ready for evaluation without look-ups and without memory: postfix code over numbered variables.
// Immutable; evaluation is thread safe.
class CompiledExpr {
 public:
  CompiledExpr() = default;
  CompiledExpr(const PrimExpr& expr, const VarSlots& slots);

  // The value for these variables. Errors as those of `evaluate`: ShapeMismatch on overflow, DivisionByZero.
  int64_t evaluate(std::span<const int64_t> vars) const {
    if (form_ == Form::Const) return number_;
    if (form_ == Form::Var) return vars[static_cast<size_t>(number_)];
    return evaluate_code(vars);
  }
  bool is_const() const { return form_ == Form::Const; }
  const PrimExpr& source() const { return source_; }

 private:
  // Lazy: contains operators that do not evaluate all of their operands; walks the tree.
  enum class Form : uint8_t { Const, Var, Code, Lazy };
  struct Step {
    PrimOp op;
    int64_t number;  // Const: its value; Var: its slot
  };

  int64_t evaluate_code(std::span<const int64_t> vars) const;
  int64_t evaluate_tree(std::span<const int64_t> vars) const;

  Form form_ = Form::Const;
  int64_t number_ = 0;
  std::vector<Step> steps_;
  std::vector<std::pair<SymVar, uint32_t>> vars_;  // of Lazy, and for messages
  PrimExpr source_;
};

// "n = 3, m = 4": the variables of an expression and their values, for messages.
std::string bindings_text(const CompiledExpr& expr, const VarSlots& slots, std::span<const int64_t> vars);

}  // namespace ingot::vm
