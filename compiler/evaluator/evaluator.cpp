#include "compiler/evaluator/evaluator.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "compiler/analysis/effects.h"
#include "compiler/evaluator/builtins.h"
#include "compiler/evaluator/match.h"
#include "compiler/evaluator/operators.h"
#include "compiler/ir/op.h"
#include "compiler/ir/prim_value.h"
#include "runtime/base/error.h"

namespace ingot::evaluator {
namespace {

using namespace ir;

// What is in scope: a closure keeps a copy of all of it.
struct Environment {
  std::unordered_map<const Var*, Value> vars;
  SymValues dims;
};

// What the `home` of the evaluator's closures is.
struct ClosureValue {
  FunctionRef function;
  Environment captured;
  const Var* self;  // the variable that it is bound to, if any
};

class Evaluator {
 public:
  Evaluator(const Module& module, const Options& options) : module_(&module), options_(&options) {}

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
    std::string name;
  };

  // What a function said of its result before it went on in a tail call.
  struct Promise {
    FunctionRef function;
    SymValues dims;
    std::string name;
    bool operator==(const Promise& other) const { return function == other.function && dims == other.dims; }
  };

  Activation global_activation(std::string_view name, std::vector<Value> args) const {
    const Definition* definition = module_->find(name);
    if (definition == nullptr || definition->function == nullptr)
      fail(ErrorCode::InvalidArgument, "there is no function @{}", name);
    return {definition->function, {}, std::move(args), fmt::format("@{}", name)};
  }

  static Activation closure_activation(const Value& callee, std::vector<Value> args) {
    const auto* closure = as_closure(callee);
    if (closure == nullptr) fail(ErrorCode::TypeError, "{} is called, but it is no function", to_text(info_of(callee)));
    Environment env = closure->captured;
    if (closure->self != nullptr) env.vars.insert_or_assign(closure->self, callee);
    return {closure->function, std::move(env), std::move(args),
            closure->self != nullptr && !closure->self->name.empty() ? fmt::format("%{}", closure->self->name) : "fn"};
  }

  // Runs the function and what it calls in tail position.
  Value enter(Activation next) {
    require_stack();
    std::vector<Promise> promises;
    while (true) {
      bind_params(next);
      Value result = value(next.function->body, next.env, true);
      if (next.function->result != nullptr) {
        Promise promise{next.function, std::move(next.env.dims), std::move(next.name)};
        if (std::ranges::find(promises, promise) == promises.end()) promises.push_back(std::move(promise));
      }
      if (!tail_call_) {
        for (auto promise = promises.rbegin(); promise != promises.rend(); ++promise)
          require(result, promise->function->result, promise->dims, MatchAt::Cast,
                  fmt::format("the result of {}", promise->name), func_info());
        return result;
      }
      next = std::move(*tail_call_);
      tail_call_.reset();
    }
  }

  static void bind_params(Activation& activation) {
    auto& [function, env, args, name] = activation;
    const Function& f = *function;
    if (args.size() != f.params.size())
      fail(ErrorCode::ArityMismatch, "{} takes {} arguments, {} were given", name, f.params.size(), args.size());
    for (size_t i = 0; i < args.size(); ++i) bind_dims(args[i], param_info(f, i), env.dims);
    for (size_t i = 0; i < args.size(); ++i) {
      require(args[i], param_info(f, i), env.dims, MatchAt::Entry, fmt::format("{}: %{}", name, f.params[i]->name),
              func_info());
      env.vars.insert_or_assign(f.params[i].get(), std::move(args[i]));
    }
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

  static std::function<StructInfo(const Value&)> func_info() {
    return [](const Value& value) -> StructInfo {
      const auto* closure = as_closure(value);
      return closure == nullptr ? nullptr : closure->function->info;
    };
  }

  static const ClosureValue* as_closure(const Value& value) {
    if (value.kind() != Kind::Closure) return nullptr;
    return static_cast<const ClosureValue*>(value.get<ClosureObject>()->home.get());
  }

  static Value make_closure(FunctionRef function, Environment env, const Var* self) {
    auto closure = ingot::make_closure(nullptr, 0, {});
    closure->home = std::make_shared<ClosureValue>(ClosureValue{std::move(function), std::move(env), self});
    return Value(std::move(closure));
  }

  Value call_value(const Value& callee, std::vector<Value> args) {
    if (callee.kind() == Kind::PackedFunc) {
      std::vector<Slot> slots;
      for (const auto& arg : args) slots.push_back(arg.slot());
      return callee.get<PackedFuncObject>()->function(PackedArgs(slots, nullptr));
    }
    return enter(closure_activation(callee, std::move(args)));
  }

  Value packed_func(const ExternFunc& e) {
    if (e.name == "ingot.write" && e.writes != std::vector<uint32_t>{0})
      fail(ErrorCode::NotAllowed, "ingot.write writes its first argument, which the program must say: writes=(0,)");
    if (auto own = ingot_function(e.name, options_->log, options_->print)) return Value(std::move(own));
    const bool allowed = !options_->allow || options_->allow->contains(e.name);
    auto found = allowed ? options_->registry.find(e.name) : Ref<PackedFuncObject>();
    if (!found)
      fail(ErrorCode::NotAllowed, "PackedFunc \"{}\" is {}", e.name,
           allowed ? "not registered" : "not on the host's list of allowed names");
    return Value(std::move(found));
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
        return make_closure(definition->function, {}, nullptr);
      }
      case ExprKind::Tuple: {
        std::vector<Value> fields = values(as<Tuple>(e)->fields, env);
        return Value(ingot::make_tuple(nullptr, fields));
      }
      case ExprKind::Seq: {
        // Variables of the sequence leave scope with it.
        Environment inner = env;
        return sequence(*as<Seq>(e), inner, tail);
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
        return make_closure(std::static_pointer_cast<const Function>(e), env, nullptr);
      case ExprKind::If: {
        const auto& branch = *as<If>(e);
        const Value condition = value(branch.condition, env);
        const bool is_one = condition.kind() == Kind::Scalar || condition.kind() == Kind::Prim;
        if (!is_one || condition.slot().dtype != DType::Bool)
          fail(ErrorCode::TypeError, "the condition of an if is {}, expected Tensor[(), bool]",
               to_text(info_of(condition)));
        return value(condition.slot().as<uint8_t>() != 0 ? branch.then_branch : branch.else_branch, env, tail);
      }
      case ExprKind::ExternFunc:
        if (Value function = packed_func(*as<ExternFunc>(e)); as<ExternFunc>(e)->writes.empty()) return function;
        fail(ErrorCode::Unsupported, "{} writes its arguments and can only be called by its name",
             as<ExternFunc>(e)->name);
      case ExprKind::Call:
        return call(*as<Call>(e), env, tail);
      case ExprKind::Shape:
        return shape(*as<Shape>(e), env, false);
      case ExprKind::TupleGetItem: {
        const auto& item = *as<TupleGetItem>(e);
        const Value tuple = value(item.tuple, env);
        if (tuple.kind() != Kind::Tuple)
          fail(ErrorCode::TypeError, "projection .{} of {}, which is no tuple", item.index, to_text(info_of(tuple)));
        const auto fields = tuple.get<TupleObject>()->fields();
        if (item.index >= fields.size())
          fail(ErrorCode::IndexOutOfRange, "projection .{} of a tuple with {} fields", item.index, fields.size());
        return Value::copy_of(fields[item.index]);
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
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] < 0 && !(of_operator && e.dims[i].as_const()))
        fail(ErrorCode::ShapeMismatch, "dimension {} of a shape is negative: {} = {}", i, to_text(e.dims[i]), dims[i]);
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
        Value bound =
            as<Function>(binding.value) != nullptr
                ? make_closure(std::static_pointer_cast<const Function>(binding.value), env, binding.var.get())
                : value(binding.value, env);
        if (binding.cast != nullptr) {
          bind_dims(bound, binding.cast, env.dims);
          require(bound, binding.cast, env.dims, MatchAt::Cast, "match_cast: the value", func_info());
        } else if (binding.var != nullptr && binding.var->annotation != nullptr) {
          require(bound, binding.var->info, env.dims, MatchAt::Cast, fmt::format("%{}", binding.var->name),
                  func_info());
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
    const Value callee = callee_value(e.callee, env);
    std::vector<Value> args = values(e.args, env);
    if (callee.kind() != Kind::PackedFunc) return enter_now_or_later(closure_activation(callee, std::move(args)), tail);
    Value result = call_value(callee, std::move(args));
    check_claim(result, e, env);
    return result;
  }

  Value callee_value(const Expr& e, Environment& env) {
    const auto* packed = as<ExternFunc>(e);
    return packed != nullptr ? packed_func(*packed) : value(e, env);
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
    require(result, erase_vars(e.info, [&](const SymVar& var) { return env.dims.contains(var.get()); }), env.dims,
            MatchAt::Cast, "the result of a PackedFunc", func_info());
  }

  Value call_operator(const Call& e, const Op& op, Environment& env) {
    if (op.name == "call_tir") return call_tir(e, env);
    if (op.name == "call_packed" || op.name == "call_pure_packed") {
      const Value callee = callee_value(e.args.at(0), env);
      Value result = call_value(callee, values(std::span(e.args).subspan(1), env));
      check_claim(result, e, env);
      return result;
    }
    std::vector<Value> args;
    for (const auto& arg : e.args)
      args.push_back(as<Shape>(arg) != nullptr ? shape(*as<Shape>(arg), env, true) : value(arg, env));
    if (op.name == "call_dps_packed") return call_dps_packed(e, env);
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
      require(inputs.back(), tensor_info(buffer.dtype, static_cast<uint32_t>(buffer.dims.size())), {}, MatchAt::Entry,
              fmt::format("@{}: %{}", func.name, buffer.name), func_info());
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
    const Value callee = value(e.args.at(0), env);
    const Value given = value(e.args.at(1), env);
    std::vector<Value> args, outputs;
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
      args.push_back(Value::copy_of(outputs.back().slot()));
    }
    call_value(callee, std::move(args));
    return tuple ? Value(ingot::make_tuple(nullptr, outputs)) : std::move(outputs[0]);
  }

  const Module* module_;
  const Options* options_;
  bool writes_ = analysis::writes_tensors(*module_);
  uintptr_t stack_begin_ = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  std::optional<Activation> tail_call_;
};

}  // namespace

Value evaluate(const Module& module, std::string_view function, std::span<const Value> args, const Options& options) {
  return Evaluator(module, options).call_global(function, {args.begin(), args.end()});
}

}  // namespace ingot::evaluator
