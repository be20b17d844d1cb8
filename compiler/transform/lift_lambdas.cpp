#include <unordered_map>
#include <unordered_set>

#include "compiler/analysis/free_vars.h"
#include "compiler/analysis/scope_log.h"
#include "compiler/ops/ops.h"
#include "compiler/transform/transforms.h"
#include "runtime/checks/match.h"

namespace ingot::transform {
namespace {

using namespace ir;

// Replaces variables by others throughout an expression of normal form; symbolic variables stay.
class Renamer {
 public:
  void replace(const Var* from, Expr to) { map_[from] = std::move(to); }

  Expr expr(const Expr& e) {
    switch (e->kind) {
      case ExprKind::Var: {
        const auto found = map_.find(as<Var>(e));
        return found == map_.end() ? e : found->second;
      }
      case ExprKind::Tuple:
        return typed(e, std::make_shared<Tuple>(list(as<Tuple>(e)->fields), e->span));
      case ExprKind::Seq: {
        const auto& seq = *as<Seq>(e);
        std::vector<BindingBlock> blocks = seq.blocks;
        for (auto& block : blocks)
          for (auto& binding : block.bindings) binding.value = expr(binding.value);
        return typed(e, std::make_shared<Seq>(std::move(blocks), expr(seq.body), e->span));
      }
      case ExprKind::Function: {
        const auto& f = *as<Function>(e);
        return typed(e, std::make_shared<Function>(f.params, expr(f.body), f.result, f.pure, f.attrs, e->span));
      }
      case ExprKind::If: {
        const auto& branch = *as<If>(e);
        return typed(e, std::make_shared<If>(expr(branch.condition), expr(branch.then_branch), expr(branch.else_branch),
                                             e->span));
      }
      case ExprKind::Call: {
        const auto& call = *as<Call>(e);
        auto renamed = std::make_shared<Call>(expr(call.callee), list(call.args), call.attrs, call.info_args, e->span);
        renamed->kernel = call.kernel;
        return typed(e, std::move(renamed));
      }
      case ExprKind::TupleGetItem: {
        const auto& item = *as<TupleGetItem>(e);
        return typed(e, std::make_shared<TupleGetItem>(expr(item.tuple), item.index, e->span));
      }
      default:
        return e;
    }
  }

 private:
  static Expr typed(const Expr& like, Expr made) {
    made->info = like->info;
    return made;
  }
  std::vector<Expr> list(const std::vector<Expr>& exprs) {
    std::vector<Expr> result;
    result.reserve(exprs.size());
    for (const auto& e : exprs) result.push_back(expr(e));
    return result;
  }

  std::unordered_map<const Var*, Expr> map_;
};

class Lifter {
 public:
  explicit Lifter(Module& module) : module_(&module) {}

  FunctionRef function(const Function& f, std::string_view name) {
    analysis::SymScope scope;
    return with_lifted_body(f, scope, name);
  }

 private:
  // What a variable or cast of that StructInfo has bound; the variables of function types are their own.
  static void see(const StructInfo& info, analysis::SymScope& scope) {
    if (info != nullptr) for_each_value_var(info, [&](const SymVar& var) { scope.insert(var.get()); });
  }

  // The function, whose body makes closures of functions of the module.
  FunctionRef with_lifted_body(const Function& f, analysis::SymScope& scope, std::string_view name) {
    const auto outer = scope.mark();
    for (const auto& param : f.params) see(param->info, scope);
    auto lifted = std::make_shared<Function>(f.params, sequence(*as<Seq>(f.body), scope, name), f.result, f.pure,
                                             f.attrs, f.span);
    scope.leave(outer);
    lifted->info = f.info;
    return lifted;
  }

  // `scope` holds the symbolic variables of the functions around: what nested functions mention of them is captured.
  Expr sequence(const Seq& seq, analysis::SymScope& scope, std::string_view name) {
    const auto outer = scope.mark();
    std::vector<BindingBlock> blocks = seq.blocks;
    for (auto& block : blocks)
      for (auto& binding : block.bindings) {
        see(binding.cast, scope);
        if (const auto* nested = as<Function>(binding.value)) {
          binding.value = closure(*nested, binding, scope, name);
        } else if (const auto* branch = as<If>(binding.value)) {
          Expr then_branch = sequence(*as<Seq>(branch->then_branch), scope, name);
          Expr else_branch = sequence(*as<Seq>(branch->else_branch), scope, name);
          Expr lifted =
              std::make_shared<If>(branch->condition, std::move(then_branch), std::move(else_branch), branch->span);
          lifted->info = branch->info;
          binding.value = std::move(lifted);
        }
        if (binding.var != nullptr) see(binding.var->info, scope);
      }
    scope.leave(outer);
    Expr result = std::make_shared<Seq>(std::move(blocks), seq.body, seq.span);
    result->info = seq.info;
    return result;
  }

  // What the function mentions, and what the dimensions of its captures mention without binding it.
  static std::vector<SymVar> needed_sym_vars(const Expr& function, const std::vector<VarRef>& params) {
    std::vector<SymVar> needed = analysis::mentioned_sym_vars(function);
    std::unordered_set<const SymVarNode*> there;
    for (const auto& sym : needed) there.insert(sym.get());
    for (const auto& param : params)
      if (param->info != nullptr)
        for_each_binding_var(param->info, [&](const SymVar& sym) { there.insert(sym.get()); });
    for (const auto& param : params)
      if (param->info != nullptr)
        for_each_var(param->info, [&](const SymVar& sym) {
          if (there.insert(sym.get()).second) needed.push_back(sym);
        });
    return needed;
  }

  // Moves the function to the module, its captures behind its parameters, and gives the call that makes the closure.
  // Functions inside go first: what they capture is then an argument of the calls that make them, and each body is
  // walked once, however deep.
  Expr closure(const Function& written, const Binding& binding, analysis::SymScope& scope, std::string_view outer) {
    const Var* self = binding.var.get();
    const std::string stem = self != nullptr && !self->name.empty() ? self->name : "fn";
    const std::string name = module_->fresh_name(std::string(outer) + "." + stem);
    module_->set({name, std::make_shared<Function>(written), nullptr, false, written.span});
    const FunctionRef whole = with_lifted_body(written, scope, name);
    const Function& nested = *whole;

    const Expr global = std::make_shared<GlobalVar>(name, nested.span);
    global->info = nested.info;
    std::vector<Expr> captured = {global};
    std::vector<Expr> inside = {global};
    std::vector<VarRef> params = nested.params;
    Renamer renamer;
    bool recursive = false;
    // free_vars leaves out what the function binds, which includes no variable of an enclosing scope.
    for (const auto& var : analysis::free_vars(whole)) {
      if (var.get() == self) {
        recursive = true;
        continue;
      }
      const auto param = std::make_shared<Var>(var->name, var->annotation, false, var->span);
      param->info = var->info;
      renamer.replace(var.get(), param);
      captured.push_back(var);
      inside.push_back(param);
      params.push_back(param);
    }
    for (const auto& sym : needed_sym_vars(whole, params)) {
      if (!scope.contains(sym.get())) continue;
      const Expr value = std::make_shared<PrimValue>(PrimExpr(sym), nested.span);
      value->info = prim_info(DType::Int64, PrimExpr(sym));
      const auto param = std::make_shared<Var>(sym->name, value->info, false, nested.span);
      param->info = value->info;
      captured.push_back(value);
      inside.push_back(value);
      params.push_back(param);
    }
    if (recursive) {
      const auto again = std::make_shared<Var>(stem, nullptr, false, nested.span);
      again->info = nested.info;
      renamer.replace(self, again);
      Expr body = renamer.expr(nested.body);
      const auto& seq = *as<Seq>(body);
      std::vector<BindingBlock> blocks = {{false, {{again, make_closure(inside, nested), nullptr, nested.span}}}};
      blocks.insert(blocks.end(), seq.blocks.begin(), seq.blocks.end());
      Expr with_self = std::make_shared<Seq>(std::move(blocks), seq.body, seq.span);
      with_self->info = seq.info;
      finish(name, nested, std::move(params), std::move(with_self), inside.size() - 1);
    } else {
      finish(name, nested, std::move(params), renamer.expr(nested.body), inside.size() - 1);
    }
    return make_closure(captured, nested);
  }

  void finish(const std::string& name, const Function& nested, std::vector<VarRef> params, Expr body, size_t captures) {
    Attrs attrs = nested.attrs;
    attrs[std::string(kCaptures)] = static_cast<int64_t>(captures);
    auto whole = std::make_shared<Function>(std::move(params), std::move(body), nested.result, nested.pure,
                                            std::move(attrs), nested.span);
    whole->info = nested.info;
    module_->set({name, std::move(whole), nullptr, false, nested.span});
  }

  static Expr make_closure(std::vector<Expr> args, const Function& nested) {
    const auto callee = std::make_shared<OpExpr>(ops::find("make_closure"), nested.span);
    Expr call = std::make_shared<Call>(callee, std::move(args), Attrs{}, std::vector<StructInfo>{}, nested.span);
    call->info = nested.info;
    return call;
  }

  Module* module_;
};

}  // namespace

Module lift_lambdas(Module module, PassContext&) {
  Module result = module;
  Lifter lifter(result);
  for (const auto& definition : module.definitions()) {
    if (definition.function == nullptr) continue;
    Definition lifted = definition;
    lifted.function = lifter.function(*definition.function, definition.name);
    result.set(std::move(lifted));
  }
  result.form = Form::Lowered;
  return result;
}

}  // namespace ingot::transform
