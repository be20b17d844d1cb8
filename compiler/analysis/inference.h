#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/analysis/copy_function.h"
#include "compiler/analysis/holes.h"
#include "compiler/analysis/polymorphism.h"
#include "compiler/analysis/scope_log.h"
#include "compiler/ir/diagnostics.h"
#include "compiler/ir/module.h"
#include "compiler/ir/op.h"

namespace ingot::analysis {

// The walk behind `infer`, one per module. Expressions are rebuilt with their StructInfo; see infer.h for the contract.
//
// Functions with open parameters are generalised: each kind of arguments that they are called with gets an instance.
// Where one is passed on, the parameters of the instance are type variables (holes.h), which unification solves along
// the walk. What came out for parameters is kept in `solved_`, and the walk begins anew: each round knows at least one
// of them more than the one before, and in the last one no type variables are left.
class Inference {
 public:
  Inference(const ir::Module& module, ir::Diagnostics& diagnostics) : module_(&module), diagnostics_(&diagnostics) {}
  ir::Module run();

 private:
  using SymVars = std::unordered_set<const SymVarNode*>;
  using Named = ScopeLog<const ir::Var*, ir::VarRef>;
  using Dims = std::unordered_map<const SymVarNode*, PrimExpr>;

  // An instance that is being walked.
  struct Running {
    std::string base;  // key of the arguments
    ir::Expr callee;
    std::string callee_key;  // of a global one: where `globals_` has it
    bool open = false;       // has type variables for parameters
    bool literals = false;   // has literals for some of them
    std::vector<StructInfo> params = {};
  };
  // What the instances of a function share.
  struct Family {
    std::string id;
    std::vector<Running> running;
    size_t kinds = 0;  // of arguments without type variables
  };
  // A function of the module, an original one or an instance of a polymorphic one.
  static constexpr size_t kNobody = SIZE_MAX;
  struct Global {
    ir::Definition definition;
    enum class State : uint8_t { New, Running, Done } state = State::New;
    ir::FunctionRef typed;
    StructInfo result;                             // what recursive calls suppose
    bool asked = false;                            // for the result, before it was known
    size_t place = 0;                              // among the functions that are walked
    size_t waits_for = kNobody;                    // the first place of a walked function that it depends on
    bool polymorphic = false;                      // stands for its instances
    std::map<std::string, std::string> instances;  // by key of the arguments: names
    Family family;                                 // of the original
    Running running;                               // of an instance: how its original's family calls it
    std::string original;                          // of an instance
    bool uncalled = false;                         // an instance that only functions ask for that nobody calls
  };
  // A let-bound function whose parameters are open: each kind of arguments gets a binding of its own.
  struct Local {
    const ir::Function* function;
    ir::VarRef var;
    SymScope::Mark scope;
    bool dataflow;
    Family family;
    std::map<std::string, ir::VarRef> instances = {};
    std::vector<ir::Binding> bindings = {};  // of the instances, inner ones first
    bool escapes = false;
  };
  // An unannotated binding made of unsuffixed literals alone: the place that uses it first fixes its dtype. Its
  // bindings are inferred there and stand where it was bound.
  struct OpenTemp {
    ir::Binding binding;
    bool decimal;  // takes float dtypes only
    SymScope::Mark scope;
    Named::Mark named;
    size_t depth;  // of such bindings that it is made of, one of the other
    std::vector<ir::Binding> bindings;
    bool settled = false;
  };
  // What surrounds the place that is walked.
  struct Context {
    std::vector<ir::Binding>* into = nullptr;  // bindings of the block at hand
    bool dataflow = false;
    bool must_be_pure = false;
    ir::Span here;
    // The binding, and how many functions with open parameters it has called and passed on so far.
    Origin at;
    uint32_t uses = 0;
  };

  bool is_known(const StructInfo& info) const { return !mentions_unknown(info) && !holes_.mentions_hole(info); }
  static ir::Expr typed(std::shared_ptr<ir::ExprNode> node, StructInfo info) {
    node->info = std::move(info);
    return node;
  }

  // inference.cpp: the module, functions, sequences, bindings
  ir::Module walk();
  void complete(Global& global);
  bool suppose(StructInfo& supposed, const StructInfo& result) const;
  void settle_group(Global& global, size_t messages, size_t first_waiting);
  void refuse_unknown(const ir::Expr& e, const std::function<bool(const StructInfo&)>& is_open);
  void restore_errors();
  void keep_errors();
  bool found_errors(size_t since) const;  // among the diagnostics from this number on
  void refuse_undefined(const ir::Span& use, const std::string& name);
  void refuse_polymorphic(const std::string& name, const ir::Span& use);
  StructInfo signature(const std::string& name, const ir::Span& use);
  ir::FunctionRef function(const ir::Function& f, const ir::Var* self, SymVars* generic = nullptr);
  ir::Expr sequence(const ir::Seq& seq, const StructInfo& expected);
  void binding(const ir::Binding& binding, const StructInfo& expected);
  StructInfo annotation_of(const ir::Var& param) const;
  ir::Expr with_relations(const ir::Function& f, ir::Expr body);

  // inference_shapes.cpp: variables that hold the shape of a tensor type, `Tensor[%s, float32]`
  void hold_shapes(const ir::Function& f);
  void hold_shape(const ir::VarRef& var);
  void refuse_as_shape(const ir::Var& var, const std::string& what);
  StructInfo resolved(const StructInfo& info) const;
  std::vector<StructInfo> resolved(std::vector<StructInfo> infos) const;
  bool is_open(const ir::Function& f) const;
  void see(const StructInfo& info);
  StructInfo in_scope(const StructInfo& info, SymScope::Mark scope) const;
  ir::VarRef bind_cast(const ir::Expr& value, const StructInfo& cast, const std::string& name);
  ir::VarRef bind_value(const ir::Expr& value, const std::string& name = "");

  // inference_values.cpp: what stands behind a binding
  ir::Expr value(const ir::Expr& e, const StructInfo& expected, const ir::Binding& b);
  ir::Expr leaf(const ir::Expr& e, const StructInfo& expected = nullptr);
  ir::Expr variable(const ir::Expr& e, const StructInfo& expected);
  ir::Expr global_variable(const ir::Expr& e, const StructInfo& expected);
  ir::Expr literal(const ir::Constant& constant, DType dtype);
  const ir::Constant* literal_of(const ir::Expr& e) const;
  static bool is_text(const ir::Expr& e);
  const ir::Expr& written(const ir::Expr& e) const;

  // inference_literals.cpp: values made of unsuffixed literals alone
  bool is_open(const ir::Expr& e) const { return literal_of(e) != nullptr || open_temp(e) != nullptr; }
  OpenTemp* open_temp(const ir::Expr& e) const;
  size_t open_depth(const ir::Expr& e) const;
  std::optional<bool> open_class(const ir::Expr& value) const;
  std::optional<bool> open_class(const ir::Seq& seq) const;
  void settle(OpenTemp& temp, const StructInfo& expected);
  ir::Expr branch(const ir::If& e, const StructInfo& expected);
  StructInfo told_by(const ir::Expr& branch) const;
  StructInfo join(const StructInfo& then_info, const StructInfo& else_info, bool open_then, bool open_else);
  ir::Expr short_circuit(const ir::If& e, const ir::Expr& left);
  ir::Expr condition(const ir::Expr& e, std::string_view what);
  ir::Expr projection(const ir::TupleGetItem& e);

  // inference_calls.cpp
  ir::Expr call(const ir::Call& e, const StructInfo& expected);
  ir::Expr call_function(const ir::Call& e, ir::Expr callee, std::vector<ir::Expr> args);
  std::vector<ir::Expr> arguments(const ir::Call& e, const StructInfo& func);
  bool is_number(const ir::Expr& e) const;
  StructInfo doubt(const std::vector<ir::Expr>& exprs) const;
  void generalise(const std::string& name, const StructInfo& func);
  ir::Expr call_hole(const ir::Call& e, ir::Expr callee, std::vector<ir::Expr> args, const std::string& name);
  void relate(const StructInfo& given, const StructInfo& expected, const ir::Span& span, const std::string& what,
              const std::string& whole = {});
  static void unify(const StructInfo& param, const StructInfo& arg, const SymVars& free, Dims& map);
  bool expect(const StructInfo& given, const StructInfo& expected, const ir::Span& span, const std::string& what);
  void require_pure(bool pure, const ir::Span& span, const std::string& what);
  const ir::Span& place(const ir::Span& span) const { return span.line != 0 || span.node ? span : context_.here; }

  // inference_coercion.cpp: functions that are expected to give more than is known of what they give
  ir::Expr coerced(const ir::Expr& value, const StructInfo& expected);
  ir::Expr coerced_function(const ir::Expr& function, const StructInfo& expected);
  static ir::Function reentrant(const ir::Function& f, const ir::VarRef& own, const ir::VarRef& var);

  // inference_operators.cpp
  ir::Expr call_operator(const ir::Call& e, const ir::Op& op, const StructInfo& expected);
  std::vector<DType> contexts(const std::vector<ir::Expr>& args, const ir::Call& e, const StructInfo& expected) const;
  ir::Expr with_dims(const ir::Expr& arg);
  std::string shown_name(const std::string& global) const;
  void check_call_tir(const ir::Call& e, const std::vector<ir::Expr>& args, const std::vector<StructInfo>& outputs);

  // inference_generic.cpp: functions with open parameters
  struct Instance {
    std::string key, base;
    bool open = false;
    bool literals = false;
    ir::FunctionRef function;  // null where `exists` has it already
  };
  std::vector<ir::Expr> open_arguments(const ir::Call& e, const ir::Function& f);
  std::optional<Instance> instantiate(const ir::Call& e, const ir::Function& f, const std::string& name,
                                      const std::vector<ir::Expr>& args, const Family& family, uint32_t site,
                                      const std::function<bool(const std::string&)>& exists);
  bool count_instance(const ir::Call& e, const Instance& instance, const std::string& name, Family& family);
  bool is_open_result(const StructInfo& func, const std::vector<ir::Expr>& args) const;
  ir::Expr global_instance(const ir::Call& e, Global& global, const std::vector<ir::Expr>& args, uint32_t site);
  void name_instance(Global& global, const Instance& instance);
  ir::Expr local_instance(const ir::Call& e, Local& local, const std::vector<ir::Expr>& args, uint32_t site);
  ir::VarRef bind_instance(Local& local, const Instance& instance);
  bool stays_in(const Family& family, const ir::Call& e) const;
  ir::Expr running_callee(const Running& running, const ir::Span& use);
  ir::Expr running_local(const ir::Expr& e, Local& local);
  ir::Expr running_global(const ir::Expr& e, Global& global);
  ir::Expr call_running(const ir::Call& e, ir::Expr callee);
  ir::Expr call_instance(const ir::Call& e, ir::Expr instance, std::vector<ir::Expr> args, size_t messages);
  ir::Expr call_global_generic(const ir::Call& e, Global& global);
  ir::Expr call_local_generic(const ir::Call& e, Local& local);
  Origin origin_of(const ir::Var& var) const;
  uint32_t copy_number(const std::string& what);
  void check_uncalled(const ir::Function& f, const Family& family, SymScope::Mark scope);
  bool check_relations(const ir::Call& e, const ir::Function& f, const std::vector<ir::Expr>& args);
  bool check_relation(const std::string& relation, const StructInfo& a, const StructInfo& b, const ir::Span& span);
  bool is_relation(const std::string& relation, const ir::Span& span);

  // inference_passed.cpp: functions with open parameters that are passed on
  bool is_asked_for(const ir::Function& f, const StructInfo& expected) const;
  static ir::Call imagined_call(const ir::Expr& callee, const std::vector<StructInfo>& params);
  // A use of a function with open parameters as a value: its parameters, and the type variables among them.
  struct Passed {
    std::vector<StructInfo> params;
    std::vector<Origin> open;
    StructInfo unused_result;  // where nobody ever calls it
    bool is_default = false;   // parameters are Object because nothing tells more
    std::vector<Origin> supposed = {};
  };
  uint32_t use_number();
  StructInfo fresh();
  std::optional<Passed> passed_on(const ir::Function& f, uint32_t use);
  ir::Expr passed_local(const ir::Expr& e, Local& local, const StructInfo& expected);
  ir::Expr passed_global(const ir::Expr& e, Global& global, const StructInfo& expected);
  Instance uncalled(const ir::Function& f, const StructInfo& result) const;
  void refuse_open(const ir::Span& use, const std::string& global);
  void judge_default(const Passed& passed, size_t messages, const ir::Span& use, const std::string& global);
  void solve(const Origin& param, const StructInfo& info);
  void solve_params(const ir::Function& f, const StructInfo& expected);
  void solve_holes();
  void fill_holes();
  bool is_late(const ir::Expr& e) const;
  const ir::Expr& meant(const ir::Expr& e) const;

  const ir::Module* module_;
  ir::Diagnostics* diagnostics_;
  std::map<std::string, Global, std::less<>> globals_;
  std::vector<std::string> order_;  // of the result's definitions
  std::vector<Global*> walked_;     // one calls the next
  std::vector<Global*> waiting_;    // inferred by what was supposed of a function that is still walked
  size_t supposed_ = 0;             // how often the supposed result of a function has changed
  // Variables that stand for an open literal: it takes the dtype of each use.
  std::unordered_map<const ir::Var*, ir::Expr> literals_;
  std::unordered_map<const ir::Var*, std::unique_ptr<OpenTemp>> open_temps_;
  std::unordered_map<const ir::Var*, ir::Expr> texts_;  // variables bound to a dtype or a string
  // Of variables bound to function literals: the shape variables that each call binds anew.
  std::unordered_map<const ir::Var*, SymVars> generic_;
  std::unordered_map<const ir::Var*, std::unique_ptr<Local>> locals_;
  // Let-bound functions whose result was asked for before it was known.
  std::unordered_set<const ir::Var*> asked_;
  // Variables of unknown dimensions, by the match_cast that names them.
  Named named_;
  Holes holes_;
  std::map<Origin, StructInfo> solved_;
  // Parameters of functions that are passed on and that nothing fixes.
  struct Left {
    // Exposed: the function leaves the sight of inference, so that somebody may call it. Uncalled: nobody ever does.
    // Supposed: what its body tells of the parameters is all; where that does not do, nobody calls it.
    enum class As : uint8_t { Exposed, Supposed, Uncalled } as;
    StructInfo result;  // of the function
  };
  std::map<Origin, Left> left_;
  // Functions whose result has type variables of its own: each call gets an instance, by what the result turns out to
  // be.
  std::set<std::string, std::less<>> open_results_;
  std::set<const ir::Var*> generalised_;
  std::set<std::string, std::less<>> generalised_globals_;
  struct Site {
    uint32_t number;
    StructInfo result;
  };
  std::vector<Site> sites_;
  size_t sites_made_ = 0;  // in this round: instances of one call
  std::map<uint32_t, std::string> site_results_;
  // Literals that met a type variable: they fix it where nothing else does.
  std::vector<std::pair<StructInfo, StructInfo>> literal_uses_;
  // Variables that stand for a function with open parameters.
  std::unordered_map<const ir::Var*, ir::Expr> aliases_;
  std::map<std::string, uint32_t, std::less<>> copy_numbers_;  // by what is copied and for what; the same in each round
  std::unordered_map<const SymVarNode*, std::vector<PrimExpr>> held_;  // what shape_symbols stand for
  std::unordered_map<const ir::Var*, Origin> origin_;
  std::vector<ir::FunctionRef> copies_;  // keeps alive what the maps point to
  // Functions that are passed on with open parameters: where, and which where it is one of the module.
  struct Unsolved {
    ir::Span span;
    std::string global;
    std::vector<Origin> open;
    StructInfo func;
  };
  std::vector<Unsolved> unsolved_;
  bool uncalled_ = false;  // the walk is in a function that nobody calls
  bool again_ = false;
  size_t before_ = 0;                    // diagnostics that were there before
  std::vector<ir::Diagnostic> kept_;     // errors that were found before open parameters were filled
  std::vector<ir::Diagnostic> refused_;  // open parameters that could not be filled
  SymScope scope_;
  Context context_;
};

}  // namespace ingot::analysis
