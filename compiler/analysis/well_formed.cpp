#include "compiler/analysis/well_formed.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "compiler/analysis/call_graph.h"
#include "compiler/analysis/well_formed_info.h"
#include "compiler/ir/op.h"
#include "compiler/ir/visitor.h"

namespace ingot::analysis {
namespace {

using namespace ir;

// Walks one definition of the module.
class Checker {
 public:
  Checker(const Module& module, const CallGraph& graph, size_t position, Diagnostics& diagnostics)
      : module_(module), graph_(graph), position_(position), diagnostics_(diagnostics), infos_(diagnostics) {}

  void definition(const Definition& d) {
    const auto symbol = d.function->attrs.find("global_symbol");
    if (symbol != d.function->attrs.end()) {
      const auto* name = std::get_if<std::string>(&symbol->second);
      if (name == nullptr || *name != d.name)
        rule(13, d.span, fmt::format("the global_symbol of @{} must be \"{}\"", d.name, d.name));
    }
    here_ = d.span;
    function(*d.function);
  }

 private:
  void rule(int number, const Span& span, std::string message, std::string hint = {}) {
    diagnostics_.error(ErrorCode::WellFormedness, span.line != 0 || span.node ? span : here_, std::move(message),
                       std::move(hint), number);
  }

  // Variables in scope, with what each scope added.
  class Scope {
   public:
    explicit Scope(Checker& checker) : checker_(checker), vars_(checker.log_.size()), syms_(checker.infos_.enter()) {}
    ~Scope() {
      while (checker_.log_.size() > vars_) {
        checker_.visible_.erase(checker_.log_.back());
        checker_.log_.pop_back();
      }
      checker_.infos_.leave(syms_);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Checker& checker_;
    size_t vars_, syms_;
  };

  void bind(const VarRef& var) {
    if (!bound_.insert(var.get()).second) rule(2, var->span, fmt::format("%{} is bound twice", var->name));
    if (visible_.insert(var.get()).second) log_.push_back(var.get());
    if (var->shape_symbol) infos_.bind(var->shape_symbol);
  }

  void function(const Function& f) {
    const Span outer_here = here_;
    if (f.span.line != 0) here_ = f.span;
    const Scope scope(*this);
    const auto pure_forced = [&](const char* name) {
      const auto found = f.attrs.find(name);
      return found != f.attrs.end() && found->second == AttrValue(true);
    };
    if (f.attrs.contains(kCaptures))
      diagnostics_.error(ErrorCode::TypeError, f.span, fmt::format("{} is an attribute of lifted functions", kCaptures),
                         "leave it out");
    if (!f.pure && (pure_forced("force_pure") || pure_forced("relax.force_pure")))
      rule(21, f.span, "a function with force_pure must be pure", "leave out 'impure'");
    for (const auto& type_param : f.type_params) infos_.bind(type_param.var);
    for (const auto& param : f.params)
      if (param->annotation) for_each_binding_var(param->annotation, [&](const SymVar& var) { infos_.bind(var); });
    for (const auto& param : f.params) {
      if (param->dataflow) rule(1, param->span, fmt::format("the parameter %{} is a dataflow variable", param->name));
      bind(param);
    }
    for (const auto& param : f.params)
      if (param->annotation) infos_.check(param->annotation, place(param->span), AnnotationOf::Parameter);
    if (f.result) infos_.check(f.result, place(f.span), AnnotationOf::Result);
    const auto outer_dataflow = std::exchange(dataflow_, false);
    const auto outer_functions = functions_;
    ++functions_;
    expr(f.body);
    functions_ = outer_functions;
    dataflow_ = outer_dataflow;
    here_ = outer_here;
  }

  const Span& place(const Span& span) const { return span.line != 0 || span.node ? span : here_; }

  void scoped(const Expr& e) {
    const Scope scope(*this);
    expr(e);
  }

  void expr(const Expr& e) {
    const Span outer_here = here_;
    if (e->span.line != 0 && e->kind != ExprKind::Var) here_ = e->span;
    switch (e->kind) {
      case ExprKind::Var:
        use(*as<Var>(e));
        break;
      case ExprKind::GlobalVar: {
        const auto& name = as<GlobalVar>(e)->name;
        if (!module_.may_define(name) && refused_.insert("@" + name).second)
          rule(2, here_, fmt::format("@{} is not defined", name));
        break;
      }
      case ExprKind::Seq:
        sequence(*as<Seq>(e));
        break;
      case ExprKind::Function:
        function(*as<Function>(e));
        break;
      case ExprKind::If: {
        const auto& branch = *as<If>(e);
        if (dataflow_ && branch.sugar == ShortCircuit::None)
          rule(7, e->span, "an if inside a dataflow block", "move it behind the block");
        expr(branch.condition);
        scoped(branch.then_branch);
        scoped(branch.else_branch);
        break;
      }
      case ExprKind::Call:
        call(*as<Call>(e));
        break;
      case ExprKind::Shape:
        for (const PrimExpr& dim : as<Shape>(e)->dims) infos_.check_dim(dim, here_, "a shape");
        break;
      case ExprKind::PrimValue:
        if (const auto* dim = std::get_if<PrimExpr>(&as<PrimValue>(e)->value)) {
          if (!*dim)
            rule(18, e->span, "a prim value without a value");
          else
            infos_.check_dim(*dim, here_, "a prim value");
        }
        break;
      case ExprKind::ExternFunc:
        for (const StructInfo& result : as<ExternFunc>(e)->results) infos_.check(result, here_, AnnotationOf::Value);
        break;
      case ExprKind::Op:
        rule(9, e->span, "an operator may only be called", "wrap it in a function: fn(%x) { ...(%x) }");
        break;
      default:
        for_each_child(e, [this](const Expr& child) { expr(child); });
        break;
    }
    here_ = outer_here;
  }

  void call(const Call& call) {
    if (const auto* op = as<OpExpr>(call.callee)) {
      const auto name = op->op->name;
      if ((name == "call_kernel" && call.kernel == nullptr) || name == "view" || name == "make_closure")
        diagnostics_.error(ErrorCode::TypeError, here_, fmt::format("{} is what passes make of other operators", name),
                           "write the operator, or the function, that is meant");
    } else {
      expr(call.callee);
    }
    if (dataflow_) recursion(call);
    for (const Expr& arg : call.args) expr(arg);
    for (const StructInfo& info : call.info_args) infos_.check(info, here_, AnnotationOf::Value);
  }

  void recursion(const Call& call) {
    if (const auto* global = as<GlobalVar>(call.callee)) {
      for (size_t i = 0; i < graph_.component.size(); ++i)
        if (graph_.recursive[i] && graph_.component[i] == graph_.component[position_] &&
            module_.definitions()[i].name == global->name)
          rule(7, call.span, fmt::format("a recursive call of @{} inside a dataflow block", global->name),
               "move it behind the block");
    } else if (const auto* var = as<Var>(call.callee); var != nullptr && recursive_.contains(var)) {
      rule(7, call.span, fmt::format("a recursive call of %{} inside a dataflow block", var->name),
           "move it behind the block");
    }
  }

  void use(const Var& var) {
    // What the parser put in the place of something that it did not understand.
    if (var.name.empty() && !bound_.contains(&var)) return;
    if (visible_.contains(&var)) {
      const auto home = dataflow_home_.find(&var);
      if (home != dataflow_home_.end() && home->second != functions_)
        rule(11, here_, fmt::format("a function in a dataflow block uses %{} of the block", var.name),
             "bind it outside of the block first");
      return;
    }
    // Further uses tell nothing new.
    if (!var.name.empty() && !refused_.insert("%" + var.name).second) return;
    const Span& span = bound_.contains(&var) || var.span.line == 0 ? here_ : var.span;
    if (bound_.contains(&var) && var.dataflow)
      return rule(1, span, fmt::format("%{} is used outside of its dataflow block", var.name),
                  "list it in the block's output(...)");
    if (bound_.contains(&var)) return rule(3, span, fmt::format("%{} is used where it is not in scope", var.name));
    if (defining_ != nullptr && !var.name.empty() && defining_->name == var.name)
      return rule(2, span, fmt::format("%{} is used in its own definition", var.name),
                  "only functions may refer to themselves");
    if (is_bound_later(var)) return rule(3, span, fmt::format("%{} is used before it is bound", var.name));
    rule(2, span, fmt::format("%{} is not defined", var.name));
  }

  // In a sequence that is being walked, behind the binding at hand?
  bool is_bound_later(const Var& var) const {
    for (const auto& [seq, done] : open_) {
      size_t position = 0;
      for (const auto& block : seq->blocks)
        for (const auto& binding : block.bindings)
          if (position++ >= *done && (binding.var.get() == &var || binding.var->name == var.name)) return true;
    }
    return false;
  }

  void sequence(const Seq& seq) {
    size_t done = 0;
    open_.emplace_back(&seq, &done);
    for (const auto& block : seq.blocks) {
      const bool outer_dataflow = dataflow_;
      const size_t before = log_.size();
      dataflow_ = dataflow_ || block.dataflow;
      for (const auto& b : block.bindings) {
        binding(b, block.dataflow || outer_dataflow);
        ++done;
      }
      dataflow_ = outer_dataflow;
      if (block.dataflow) leave_dataflow(before);
    }
    open_.pop_back();
    const Span outer_here = here_;
    if (seq.result_span.line != 0) here_ = seq.result_span;
    expr(seq.body);
    here_ = outer_here;
  }

  // Dataflow variables leave scope, the others stay.
  void leave_dataflow(size_t before) {
    auto kept = log_.begin() + static_cast<ptrdiff_t>(before);
    for (auto at = kept; at != log_.end(); ++at) {
      if ((*at)->dataflow)
        visible_.erase(*at);
      else
        *kept++ = *at;
    }
    log_.erase(kept, log_.end());
  }

  void binding(const Binding& b, bool dataflow) {
    const Span outer_here = here_;
    if (b.span.line != 0) here_ = b.span;
    const bool is_function = b.value->kind == ExprKind::Function;
    if (b.var->dataflow && !dataflow)
      rule(1, b.span, fmt::format("the dataflow variable %{} is bound outside of a dataflow block", b.var->name));
    if (is_function) {
      bind(b.var);
      recursive_.insert(b.var.get());
    }
    const auto* outer_defining = std::exchange(defining_, is_function ? nullptr : b.var.get());
    expr(b.value);
    defining_ = outer_defining;
    if (is_function) recursive_.erase(b.var.get());
    if (b.cast != nullptr) {
      infos_.check(b.cast, here_, AnnotationOf::Cast);
      infos_.bind_new(b.cast);
    }
    if (b.var->annotation != nullptr) infos_.check(b.var->annotation, place(b.var->span), AnnotationOf::Value);
    if (!is_function) bind(b.var);
    if (dataflow && b.var->dataflow) dataflow_home_[b.var.get()] = functions_;
    here_ = outer_here;
  }

  const Module& module_;
  const CallGraph& graph_;
  size_t position_;
  Diagnostics& diagnostics_;
  InfoChecker infos_;
  Span here_;
  std::unordered_set<const Var*> bound_, visible_, recursive_;
  std::vector<const Var*> log_;
  // For dataflow variables: how many functions are around their binding.
  std::unordered_map<const Var*, size_t> dataflow_home_;
  std::vector<std::pair<const Seq*, const size_t*>> open_;
  // Names that are used where they are not defined or not in scope: each is told once.
  std::unordered_set<std::string> refused_;
  const Var* defining_ = nullptr;
  size_t functions_ = 0;
  bool dataflow_ = false;
};

}  // namespace

void check_well_formed(const Module& module, Diagnostics& diagnostics) {
  const CallGraph graph = build_call_graph(module);
  if (module.unread.empty() && std::ranges::none_of(module.definitions(), &Definition::exported))
    diagnostics.error(ErrorCode::WellFormedness,
                      module.definitions().empty() ? Span{} : module.definitions().front().span,
                      "no function of the module is exported", "leave out 'private' at one of them", 12);
  for (size_t i = 0; i < module.definitions().size(); ++i)
    if (module.definitions()[i].function != nullptr)
      Checker(module, graph, i, diagnostics).definition(module.definitions()[i]);
}

}  // namespace ingot::analysis
