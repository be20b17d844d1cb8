#include "compiler/evaluator/evaluator.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/free_vars.h"
#include "compiler/evaluator/builtins.h"
#include "compiler/evaluator/operators.h"
#include "compiler/ir/op.h"
#include "compiler/ir/prim_value.h"
#include "runtime/base/error.h"
#include "runtime/checks/faults.h"
#include "runtime/checks/match.h"
#include "runtime/registry/host_functions.h"

namespace ingot::evaluator {
namespace {

using namespace ir;

// What is in scope.
struct Environment {
  std::unordered_map<const Var*, Value> vars;
  SymValues dims;
};

// What the `home` of the evaluator's closures is.
struct ClosureValue {
  FunctionRef function;
  Environment captured;
  const Var* self;  // the variable that it is bound to, if any
  std::string exported_as;
};

class Evaluator {
 public:
  Evaluator(const Module& module, const Options& options)
      : module_(&module),
        options_(&options),
        host_{&options.registry, options.allow ? &*options.allow : nullptr, options.log, options.print} {}

  // As the host calls it, whose tensors nobody writes to.
  Value call_global(std::string_view name, std::vector<Value> args) {
    for (Value& arg : args)
      if (writes_ && arg.kind() == Kind::Tensor && arg.get<TensorObject>()->dtype != DType::String) {
        const Ref<TensorObject> tensor = to_tensor(nullptr, arg);
        auto view = make_view(nullptr, tensor, tensor->dims());
        view->read_only = true;
        arg = to_value(std::move(view));
      }
    return enter(global_activation(name, std::move(args)));
  }

 private:
  // A function that is about to run.
  struct Activation {
    FunctionRef function;
    Environment env;
    std::vector<Value> args;
    std::string exported_as;
  };

  // What a function said of its result before it went on in a tail call.
  struct Promise {
    FunctionRef function;
    SymValues dims;
    bool operator==(const Promise& other) const { return function == other.function && dims == other.dims; }
  };

  Activation global_activation(std::string_view name, std::vector<Value> args) const {
    const Definition* definition = module_->find(name);
    if (definition == nullptr || definition->function == nullptr)
      fail(ErrorCode::InvalidArgument, "there is no function @{}", name);
    return {definition->function, {}, std::move(args), definition->exported ? definition->name : ""};
  }

  static Activation closure_activation(const Value& callee, std::vector<Value> args) {
    const auto* closure = as_closure(callee);
    if (closure == nullptr) fail_call_of(callee.slot());
    Environment env = closure->captured;
    if (closure->self != nullptr) env.vars.insert_or_assign(closure->self, callee);
    return {closure->function, std::move(env), std::move(args), closure->exported_as};
  }

  // Runs the function and what it calls in tail position.
  Value enter(Activation next) {
    require_stack();
    std::vector<Promise> promises;
    while (true) {
      bind_params(next);
      Value result = value(next.function->body, next.env, true);
      if (next.function->result != nullptr) {
        Promise promise{next.function, std::move(next.env.dims)};
        if (std::ranges::find(promises, promise) == promises.end()) promises.push_back(std::move(promise));
      }
      if (!tail_call_) {
        for (auto promise = promises.rbegin(); promise != promises.rend(); ++promise)
          require_match(result.slot(), promise->function->result, promise->dims, info_of_closure);
        return result;
      }
      next = std::move(*tail_call_);
      tail_call_.reset();
    }
  }

  static void bind_params(Activation& activation) {
    auto& [function, env, args, exported_as] = activation;
    const Function& f = *function;
    if (args.size() != f.params.size()) fail_arity(exported_as, f.params.size(), args.size());
    std::vector<Slot> given;
    std::vector<StructInfo> infos;
    std::vector<std::string> names;
    for (size_t i = 0; i < args.size(); ++i) {
      given.push_back(args[i].slot());
      infos.push_back(param_info(f, i));
      names.push_back(f.params[i]->name);
      bind_dims(given[i], infos[i], env.dims);
    }
    require_arguments(given, infos, names, exported_as, env.dims, info_of_closure);
    for (size_t i = 0; i < args.size(); ++i) env.vars.insert_or_assign(f.params[i].get(), std::move(args[i]));
  }

  void require_stack() const {
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    if (options_->stack_bytes != 0 && stack_begin_ - here > options_->stack_bytes)
      fail(ErrorCode::ResourceExhausted, "calls are nested too deeply for the evaluator's stack of {} bytes",
           options_->stack_bytes);
  }

  static const StructInfo& param_info(const Function& f, size_t i) {
    return f.params[i]->info != nullptr ? f.params[i]->info : f.params[i]->annotation;
  }

  static const ClosureValue& closure_of(const Slot& closure) {
    return *static_cast<const ClosureValue*>(static_cast<const ClosureObject*>(closure.object)->home.get());
  }

  static StructInfo info_of_closure(const Slot& closure) {
    const ClosureValue& value = closure_of(closure);
    return closure_info(value.function->info, value.captured.dims);
  }

  static const ClosureValue* as_closure(const Value& value) {
    return value.kind() == Kind::Closure ? &closure_of(value.slot()) : nullptr;
  }

  // What the function's body finds outside of it.
  Environment captured(const Expr& function, const Environment& env) {
    auto [known, is_new] = free_vars_.try_emplace(function.get());
    if (is_new) known->second = analysis::free_vars(function);
    Environment result{{}, env.dims};
    for (const VarRef& var : known->second)
      if (const auto found = env.vars.find(var.get()); found != env.vars.end()) result.vars.insert(*found);
    return result;
  }

  static Value make_closure(FunctionRef function, Environment env, const Var* self, std::string exported_as = {}) {
    auto closure = ingot::make_closure(nullptr, 0, {});
    closure->home =
        std::make_shared<ClosureValue>(ClosureValue{std::move(function), std::move(env), self, std::move(exported_as)});
    return Value(std::move(closure));
  }

  Value call_value(const Value& callee, std::vector<Value> args) {
    if (callee.kind() != Kind::PackedFunc) return enter(closure_activation(callee, std::move(args)));
    return call_packed(*callee.get<PackedFuncObject>(), args, {});
  }

  static Value call_packed(const PackedFuncObject& callee, std::span<const Value> args,
                           std::span<const uint32_t> writes) {
    std::vector<Slot> slots;
    for (const auto& arg : args) slots.push_back(arg.slot());
    require_writable(callee.name, writes, slots);
    try {
      return callee.function(PackedArgs(slots, nullptr));
    } catch (Error& error) {
      error.add_context(callee.name);
      throw;
    }
  }

  Ref<PackedFuncObject> packed_func(const std::string& name, std::span<const uint32_t> writes) const {
    ResolvedFunction found = host_.resolve(name, writes);
    if (!found.function) throw Error(ErrorCode::NotAllowed, found.refusal);
    return std::move(found.function);
  }

  // `tail`: the value is the result of the function at hand, so that a call may be left to `enter` in tail_call_.
  Value value(const Expr& e, Environment& env, bool tail = false) {
    switch (e->kind) {
      case ExprKind::Constant:
        // Whoever writes to it gets one of his own.
        if (writes_ && as<Constant>(e)->data->dtype != DType::String)
          return to_value(copy_tensor(nullptr, *as<Constant>(e)->data));
        return to_value(as<Constant>(e)->data);
      case ExprKind::Var: {
        const auto found = env.vars.find(as<Var>(e));
        if (found == env.vars.end()) fail(ErrorCode::Internal, "evaluator: %{} has no value", as<Var>(e)->name);
        return found->second;
      }
      case ExprKind::GlobalVar: {
        const Definition* definition = module_->find(as<GlobalVar>(e)->name);
        if (definition == nullptr || definition->function == nullptr)
          fail(ErrorCode::Unsupported, "@{} is a PrimFunc used as a value", as<GlobalVar>(e)->name);
        return make_closure(definition->function, {}, nullptr, definition->exported ? definition->name : "");
      }
      case ExprKind::Tuple: {
        std::vector<Value> fields = values(as<Tuple>(e)->fields, env);
        return Value(ingot::make_tuple(nullptr, fields));
      }
      case ExprKind::Seq: {
        // Variables of the sequence leave scope with it.
        const SymValues outer = env.dims;
        Value result = sequence(*as<Seq>(e), env, tail);
        for (const auto& block : as<Seq>(e)->blocks)
          for (const auto& binding : block.bindings)
            if (binding.var != nullptr) env.vars.erase(binding.var.get());
        env.dims = outer;
        return result;
      }
      case ExprKind::PrimValue:
        return std::visit(
            [&](const auto& prim) -> Value {
              if constexpr (std::is_same_v<std::decay_t<decltype(prim)>, PrimExpr>) {
                const int64_t number = dim_value(prim, env.dims);
                return is_condition(prim) ? Value::prim(number != 0) : Value::prim(number);
              } else {
                return Value::prim(prim);
              }
            },
            as<PrimValue>(e)->value);
      case ExprKind::String:
        return Value(make_string(nullptr, as<String>(e)->value));
      case ExprKind::DataType:
        return Value::dtype(as<DataType>(e)->value);
      case ExprKind::NullValue:
        return Value();
      case ExprKind::Function:
        return make_closure(std::static_pointer_cast<const Function>(e), captured(e, env), nullptr);
      case ExprKind::If: {
        const auto& branch = *as<If>(e);
        const Value condition = value(branch.condition, env);
        const bool is_one = condition.kind() == Kind::Scalar || condition.kind() == Kind::Prim;
        if (!is_one || condition.slot().dtype != DType::Bool)
          fail(ErrorCode::TypeError, "the condition of an if is {}, expected Tensor[(), bool]",
               to_text(info_of(condition.slot())));
        return value(condition.slot().as<uint8_t>() != 0 ? branch.then_branch : branch.else_branch, env, tail);
      }
      case ExprKind::ExternFunc:
        if (auto function = packed_func(as<ExternFunc>(e)->name, as<ExternFunc>(e)->writes);
            as<ExternFunc>(e)->writes.empty())
          return Value(std::move(function));
        fail_writing_value(as<ExternFunc>(e)->name);
      case ExprKind::Call:
        return call(*as<Call>(e), env, tail);
      case ExprKind::Shape:
        return shape(*as<Shape>(e), env, false);
      case ExprKind::TupleGetItem: {
        const auto& item = *as<TupleGetItem>(e);
        const Value tuple = value(item.tuple, env);
        if (tuple.kind() != Kind::Tuple || item.index >= tuple.get<TupleObject>()->size)
          fail_field(tuple.slot(), item.index);
        return Value::copy_of(tuple.get<TupleObject>()->fields()[item.index]);
      }
      case ExprKind::Op:
        break;
    }
    fail(ErrorCode::Internal, "evaluator: an operator is used as a value");
  }

  // An operator's argument may hold a -1 of the program, which is the operator's to understand.
  Value shape(const Shape& e, const Environment& env, bool of_operator) {
    std::vector<int64_t> dims;
    for (const auto& dim : e.dims) dims.push_back(dim_value(dim, env.dims));
    const bool may_be_written =
        of_operator && std::ranges::any_of(e.dims, [](const PrimExpr& dim) { return dim.as_const().value_or(0) < 0; });
    if (!may_be_written) require_dims(dims);
    return Value(make_shape(nullptr, dims));
  }

  // The binding whose value is that of the whole sequence.
  static const Binding* last_binding(const Seq& seq) {
    const auto* result = as<Var>(seq.body);
    if (result == nullptr || seq.blocks.empty() || seq.blocks.back().bindings.empty()) return nullptr;
    const Binding& last = seq.blocks.back().bindings.back();
    const bool plain = last.var.get() == result && last.cast == nullptr && last.var->annotation == nullptr;
    return plain && as<Function>(last.value) == nullptr ? &last : nullptr;
  }

  Value sequence(const Seq& seq, Environment& env, bool tail = false) {
    const Binding* last = tail ? last_binding(seq) : nullptr;
    for (const auto& block : seq.blocks)
      for (const auto& binding : block.bindings) {
        if (&binding == last) return value(binding.value, env, true);
        Value bound = as<Function>(binding.value) != nullptr
                          ? make_closure(std::static_pointer_cast<const Function>(binding.value),
                                         captured(binding.value, env), binding.var.get())
                          : value(binding.value, env);
        if (binding.cast != nullptr) {
          bind_dims(bound.slot(), binding.cast, env.dims);
          require_match(bound.slot(), binding.cast, env.dims, info_of_closure);
        } else if (binding.var != nullptr && binding.var->annotation != nullptr) {
          require_match(bound.slot(), binding.var->info, env.dims, info_of_closure);
        }
        if (binding.var != nullptr) env.vars.insert_or_assign(binding.var.get(), std::move(bound));
      }
    return value(seq.body, env, tail);
  }

  std::vector<Value> values(std::span<const Expr> exprs, Environment& env) {
    std::vector<Value> result;
    for (const auto& e : exprs) result.push_back(value(e, env));
    return result;
  }

  Value call(const Call& e, Environment& env, bool tail) {
    if (const auto* op = as<OpExpr>(e.callee)) return call_operator(e, *op->op, env);
    if (const auto* global = as<GlobalVar>(e.callee))
      return enter_now_or_later(global_activation(global->name, values(e.args, env)), tail);
    if (const auto* packed = as<ExternFunc>(e.callee)) return call_extern(*packed, e.args, e, env);
    const Value callee = value(e.callee, env);
    std::vector<Value> args = values(e.args, env);
    if (callee.kind() != Kind::PackedFunc) return enter_now_or_later(closure_activation(callee, std::move(args)), tail);
    Value result = call_value(callee, std::move(args));
    check_claim(result, e, env);
    return result;
  }

  Value call_extern(const ExternFunc& callee, std::span<const Expr> args, const Call& e, Environment& env) {
    const auto function = packed_func(callee.name, callee.writes);
    Value result = call_packed(*function, values(args, env), callee.writes);
    check_claim(result, e, env);
    return result;
  }

  Value enter_now_or_later(Activation next, bool tail) {
    if (!tail) return enter(std::move(next));
    tail_call_ = std::move(next);
    return {};
  }

  // What a PackedFunc gives is held against the StructInfo that the program claims for it, as far as its variables are
  // in scope.
  void check_claim(const Value& result, const Call& e, const Environment& env) {
    if (e.info == nullptr) return;
    require_match(result.slot(), erase_vars(e.info, [&](const SymVar& var) { return env.dims.contains(var.get()); }),
                  env.dims, info_of_closure);
  }

  Value call_operator(const Call& e, const Op& op, Environment& env) {
    if (op.name == "call_tir") return call_tir(e, env);
    if (op.name == "call_packed" || op.name == "call_pure_packed") {
      const auto args = std::span(e.args).subspan(1);
      if (const auto* packed = as<ExternFunc>(e.args.at(0))) return call_extern(*packed, args, e, env);
      const Value callee = value(e.args.at(0), env);
      Value result = call_value(callee, values(args, env));
      check_claim(result, e, env);
      return result;
    }
    std::vector<Value> args;
    if (op.name == "call_dps_packed") return call_dps_packed(e, env);
    for (const auto& arg : e.args)
      args.push_back(as<Shape>(arg) != nullptr ? shape(*as<Shape>(arg), env, true) : value(arg, env));
    if (op.name == "call_builtin") return call_builtin(std::get<std::string>(e.attrs.at("name")), args);
    Value result = apply_operator(
        e, op, args, [&](const Expr& composite) { return value(composite, env); }, call_builtin);
    return writes_ ? distinct(std::move(result), args) : result;
  }

  // Operators give tensors of their own, even where these are what they got.
  static Value distinct(Value result, std::span<const Value> args) {
    if (result.kind() == Kind::Tuple) {
      std::vector<Value> fields;
      for (const Slot& field : result.get<TupleObject>()->fields())
        fields.push_back(distinct(Value::copy_of(field), args));
      return Value(ingot::make_tuple(nullptr, fields));
    }
    if (result.kind() != Kind::Tensor || result.get<TensorObject>()->dtype == DType::String) return result;
    const auto& tensor = *result.get<TensorObject>();
    const bool given = std::ranges::any_of(args, [&](const Value& arg) { return holds(arg, tensor.data); });
    return given ? to_value(copy_tensor(nullptr, tensor)) : result;
  }

  static bool holds(const Value& value, const std::byte* data) {
    if (value.kind() == Kind::Tensor) return value.get<TensorObject>()->data == data;
    if (value.kind() != Kind::Tuple) return false;
    return std::ranges::any_of(value.get<TupleObject>()->fields(),
                               [&](const Slot& field) { return holds(Value::copy_of(field), data); });
  }

  Value call_tir(const Call& e, Environment& env) {
    const auto* global = as<GlobalVar>(e.args.at(0));
    const Definition* definition = global != nullptr ? module_->find(global->name) : nullptr;
    if (definition == nullptr || definition->prim_func == nullptr)
      fail(ErrorCode::TypeError, "call_tir: the first argument must name a prim_func of the module");
    std::vector<Value> inputs;
    const Value given = value(e.args.at(1), env);
    const tir::PrimFunc& func = *definition->prim_func;
    for (const Slot& field : given.get<TupleObject>()->fields()) {
      inputs.push_back(Value::copy_of(field));
      const tir::Buffer& buffer = func.buffers.at(inputs.size() - 1);
      const StructInfo needed = tensor_info(buffer.dtype, static_cast<uint32_t>(buffer.dims.size()));
      require_arguments({&inputs.back().slot(), 1}, {&needed, 1}, {&buffer.name, 1}, {}, {}, info_of_closure);
    }
    std::vector<int64_t> scalars;
    if (e.args.size() > 2) {
      // Scalars are no dimensions: they may be negative.
      if (const auto* written = as<Shape>(e.args[2])) {
        for (const auto& scalar : written->dims) scalars.push_back(dim_value(scalar, env.dims));
      } else {
        const Value shape = value(e.args[2], env);
        const auto dims = shape.get<ShapeObject>()->dims();
        scalars.assign(dims.begin(), dims.end());
      }
    }
    std::vector<StructInfo> outputs;
    for (const auto& info : e.info_args) outputs.push_back(concrete(info, env));
    return apply_prim_func(definition->prim_func, inputs, scalars, outputs);
  }

  static StructInfo concrete(const StructInfo& info, const Environment& env) {
    return substitute(info, [&](const SymVar& var) -> std::optional<PrimExpr> {
      const auto found = env.dims.find(var.get());
      return found == env.dims.end() ? std::nullopt : std::optional<PrimExpr>(found->second);
    });
  }

  Value call_dps_packed(const Call& e, Environment& env) {
    const Value given = value(e.args.at(1), env);
    std::vector<Value> args, outputs;
    std::vector<uint32_t> writes;
    for (const Slot& field : given.get<TupleObject>()->fields()) args.push_back(Value::copy_of(field));
    const bool tuple = e.info_args.size() != 1 || e.info_args[0]->kind == InfoKind::Tuple;
    const bool stated_as_one = e.info_args.size() == 1 && tuple;
    for (const auto& info : stated_as_one ? e.info_args[0]->fields : e.info_args) {
      std::vector<int64_t> dims;
      const StructInfo known = concrete(info, env);
      for (const auto& dim : *known->dims) dims.push_back(dim_value(dim, {}));
      const auto data = make_tensor(nullptr, info->dtype, dims);
      std::fill_n(data->data, data->bytes, std::byte{0});
      outputs.push_back(to_value(data));
      writes.push_back(static_cast<uint32_t>(args.size()));
      args.push_back(Value::copy_of(outputs.back().slot()));
    }
    if (const auto* packed = as<ExternFunc>(e.args.at(0)))
      call_packed(*packed_func(packed->name, writes), args, writes);
    else
      call_value(value(e.args.at(0), env), std::move(args));
    return tuple ? Value(ingot::make_tuple(nullptr, outputs)) : std::move(outputs[0]);
  }

  const Module* module_;
  const Options* options_;
  HostFunctions host_;
  bool writes_ = analysis::writes_tensors(*module_);
  uintptr_t stack_begin_ = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  std::optional<Activation> tail_call_;
  std::unordered_map<const ExprNode*, std::vector<VarRef>> free_vars_;  // of function literals
};

}  // namespace

Value evaluate(const Module& module, std::string_view function, std::span<const Value> args, const Options& options) {
  return Evaluator(module, options).call_global(function, {args.begin(), args.end()});
}

}  // namespace ingot::evaluator
