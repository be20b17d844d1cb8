#pragma once
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compiler/ir/diagnostics.h"
#include "runtime/symbolic/struct_info.h"

namespace ingot::analysis {

// Where a StructInfo of the program stands; decides which rule an unbound symbolic variable breaks.
enum class AnnotationOf : uint8_t { Parameter, Result, Value, Cast };

// The part of well-formedness that concerns StructInfo and symbolic variables: criteria 4, 5, 6, 10, 14 to 17, 19, 22.
// Keeps the set of symbolic variables in scope. One that is not bound is reported once and taken as bound from there
// on.
class InfoChecker {
 public:
  explicit InfoChecker(ir::Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  size_t enter() const { return log_.size(); }
  void leave(size_t mark);
  void bind(const SymVar& var);
  // Binds what stands alone in it, in whatever order.
  void bind_new(const StructInfo& info);

  // A match_cast binds its new variables from left to right.
  void check(const StructInfo& info, const ir::Span& span, AnnotationOf of);
  void check_dim(const PrimExpr& dim, const ir::Span& span, std::string_view where);

 private:
  void rule(int number, const ir::Span& span, std::string message, std::string hint = {});
  void check_member(const PrimExpr& expr, const ir::Span& span, AnnotationOf of, int rule_of_kind);
  void check_vars(const PrimExpr& expr, const ir::Span& span, AnnotationOf of, int rule_of_kind);
  void check_func(const StructInfoNode& info, const ir::Span& span, AnnotationOf of);

  ir::Diagnostics& diagnostics_;
  std::unordered_set<const SymVarNode*> visible_;
  std::vector<const SymVarNode*> log_;
  bool in_function_ = false;  // type
};

}  // namespace ingot::analysis
