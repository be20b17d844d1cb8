#include "compiler/analysis/check_form.h"

#include "compiler/ir/op.h"
#include "runtime/base/error.h"

namespace ingot::analysis {
namespace {

using namespace ir;

class Checker {
 public:
  Checker(Form form, std::string_view after, std::string_view function)
      : form_(form), after_(after), function_(function) {}

  void function(const Function& f, bool nested) {
    if (nested && form_ >= Form::Lowered) reject("a nested function is left");
    if (form_ >= Form::Typed) typed(f, "a function");
    for (const auto& param : f.params)
      if (form_ >= Form::Typed) typed(*param, param->name);
    body(f.body);
  }

 private:
  [[noreturn]] void reject(std::string_view what) const {
    fail(ErrorCode::Internal, "after pass {}: @{} is not of the form that the pass leaves: {}", after_, function_,
         what);
  }

  void typed(const ExprNode& e, std::string_view what) const {
    if (e.info == nullptr) reject(fmt::format("{} has no StructInfo", what));
  }

  void body(const Expr& e) {
    const auto* seq = as<Seq>(e);
    if (seq == nullptr) reject("a body is not a sequence");
    for (const auto& block : seq->blocks) {
      if (block.bindings.empty()) reject("a binding block is empty");
      for (const auto& binding : block.bindings) value(binding);
    }
    leaf(seq->body, "the body of a sequence");
  }

  void value(const Binding& binding) {
    const Expr& e = binding.value;
    if (form_ >= Form::Typed) {
      typed(*e, binding.var != nullptr ? "%" + binding.var->name : "an unnamed binding");
      if (binding.var != nullptr) typed(*binding.var, "%" + binding.var->name);
    }
    if (is_leaf(e)) return leaf(e, "a binding");
    if (const auto* f = as<Function>(e)) return function(*f, true);
    if (const auto* branch = as<If>(e)) {
      leaf(branch->condition, "a condition");
      body(branch->then_branch);
      body(branch->else_branch);
    } else if (const auto* call = as<Call>(e)) {
      for (const auto& arg : call->args)
        if (as<ExternFunc>(arg) == nullptr) leaf(arg, "an argument");
      callee(*call);
    } else if (const auto* item = as<TupleGetItem>(e)) {
      leaf(item->tuple, "a projected tuple");
    } else if (as<ExternFunc>(e) == nullptr) {
      reject("a value is neither a leaf nor built from leaves");
    }
  }

  void callee(const Call& call) const {
    const auto* op = as<OpExpr>(call.callee);
    if (op == nullptr || form_ < Form::Legalized) return;
    const auto name = op->op->name;
    const bool low_level = name == "call_tir" || name == "call_kernel" || name == "call_builtin" ||
                           name == "call_packed" || name == "call_pure_packed" || name == "view" ||
                           name == "make_closure";
    if (!low_level && op->op->scalar_instruction.empty()) reject(fmt::format("operator {} is left", name));
  }

  void leaf(const Expr& e, std::string_view where) const {
    if (!is_leaf(e)) reject(fmt::format("{} is not a leaf", where));
    if (const auto* tuple = as<Tuple>(e))
      for (const auto& field : tuple->fields) leaf(field, where);
    if (form_ >= Form::Typed) typed(*e, where);
  }

  Form form_;
  std::string_view after_;
  std::string_view function_;
};

}  // namespace

void check_form(const Module& module, std::string_view after_pass) {
  if (module.form < Form::Normal) return;
  for (const auto& definition : module.definitions())
    if (definition.function != nullptr)
      Checker(module.form, after_pass, definition.name).function(*definition.function, false);
}

}  // namespace ingot::analysis
