#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/module.h"

namespace ingot::analysis {

// The walk behind `infer`, one per module. Expressions are rebuilt with their StructInfo; see infer.h for the contract.
class Inference {
 public:
  Inference(const ir::Module& module, ir::Diagnostics& diagnostics) : module_(&module), diagnostics_(&diagnostics) {}
  ir::Module run();

 private:
  using SymVars = std::unordered_set<const SymVarNode*>;

  // The StructInfo of a value about which nothing is known because something was wrong, or because the function that
  // gives it is still being inferred. What depends on it is not looked at.
  static const StructInfo& unknown();
  static bool is_unknown(const StructInfo& info) { return info == unknown(); }

  // inference.cpp: functions, sequences, bindings, leaves
  StructInfo signature(const std::string& name, const ir::Span& use);
  ir::FunctionRef function(const ir::Function& f, const ir::Var* self);
  ir::Expr sequence(const ir::Seq& seq, const StructInfo& expected);
  void binding(const ir::Binding& binding, std::vector<ir::Binding>& into);
  ir::Expr value(const ir::Binding& binding, std::vector<ir::Binding>& into);
  ir::Expr leaf(const ir::Expr& e, const StructInfo& expected = nullptr);
  ir::Expr literal(const ir::Constant& constant, DType dtype);
  ir::Expr logical(const ir::If& e, const ir::Expr& left, std::vector<ir::Binding>& into);
  ir::Expr branch(const ir::If& e, const StructInfo& expected, std::vector<ir::Binding>& into);
  ir::Expr projection(const ir::TupleGetItem& e);
  StructInfo result_of(const ir::Function& f, const ir::Expr& body);
  void see(const StructInfo& info);
  StructInfo in_scope(const StructInfo& info, const SymVars& scope) const;

  // inference_calls.cpp
  ir::Expr call(const ir::Call& e);
  ir::Expr call_operator(const ir::Call& e, const ir::OpExpr& op);
  ir::Expr call_function(const ir::Call& e, const ir::Expr& callee, const StructInfo& func);
  void adapt_operands(const ir::Call& e, const ir::Op& op, std::vector<ir::Expr>& args);
  static void unify(const StructInfo& param, const StructInfo& arg, const SymVars& free,
                    std::unordered_map<const SymVarNode*, PrimExpr>& map);
  bool expect(const StructInfo& given, const StructInfo& expected, const ir::Span& span, const std::string& what,
              ErrorCode mismatch);

  static ir::Expr typed(std::shared_ptr<ir::ExprNode> node, StructInfo info) {
    node->info = std::move(info);
    return node;
  }

  const ir::Module* module_;
  ir::Diagnostics* diagnostics_;
  std::map<std::string, ir::FunctionRef, std::less<>> done_;
  std::unordered_set<std::string> in_progress_;
  // Variables that stand for an open literal: it takes the dtype of each use.
  std::unordered_map<const ir::Var*, ir::Expr> literals_;
  // Of variables bound to function literals: the shape variables that each call binds anew.
  std::unordered_map<const ir::Var*, SymVars> generic_;
  SymVars scope_;
};

}  // namespace ingot::analysis
