#include "compiler/transform/wrap_prim_funcs.h"

#include <algorithm>
#include <map>

#include "compiler/ir/op.h"
#include "compiler/ir/visitor.h"
#include "compiler/ops/ops.h"
#include "runtime/tir/builder.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/walk.h"

namespace ingot::transform {
namespace {

using namespace ir;

// A PrimFunc whose outputs begin as further inputs, which stand behind its own ones in the order of `begun`.
struct Updating {
  tir::PrimFuncRef func;
  std::vector<uint32_t> begun;  // outputs of the function
};

tir::Stmt copy_elements(const tir::PrimFunc& func, tir::BufferId from, tir::BufferId to) {
  std::vector<SymVar> vars;
  tir::Indices indices;
  for (size_t d = 0; d < func.buffers[to].dims.size(); ++d) {
    vars.push_back(make_sym_var(fmt::format("i{}", d)));
    indices.emplace_back(vars.back());
  }
  tir::Stmt stmt = tir::store(to, indices, tir::load(func, from, indices));
  for (size_t d = vars.size(); d-- > 0;)
    stmt = tir::loop(vars[d], func.buffers[to].dims[d], tir::LoopKind::Serial, {stmt});
  return stmt;
}

Updating begin_outputs(const tir::PrimFuncRef& func, std::span<const uint32_t> updated, const std::string& name) {
  const uint32_t inputs = func->params - func->outputs;
  Updating made{func, {}};
  for (const uint32_t output : updated)
    if (!tir::writes_whole(*func, inputs + output)) made.begun.push_back(output);
  if (made.begun.empty()) return made;

  const auto further = static_cast<uint32_t>(made.begun.size());
  auto result = std::make_shared<tir::PrimFunc>(*func);
  result->name = name;
  std::vector<tir::Buffer> before;
  for (const uint32_t output : made.begun) {
    before.push_back(func->buffers[inputs + output]);
    before.back().name += "_before";
  }
  result->buffers.insert(result->buffers.begin() + inputs, before.begin(), before.end());
  result->params += further;
  result->body.clear();
  for (uint32_t i = 0; i < further; ++i)
    result->body.push_back(copy_elements(*result, inputs + i, inputs + further + made.begun[i]));
  tir::Rewrite renumber;
  renumber.buffer = [&](tir::BufferId id) { return id < inputs ? id : id + further; };
  for (tir::Stmt& stmt : rewrite(func->body, renumber)) result->body.push_back(std::move(stmt));
  tir::check(*result);
  made.func = std::move(result);
  return made;
}

// The signature of a function around a PrimFunc, in symbolic variables of its own.
class Signature {
 public:
  explicit Signature(const tir::PrimFunc& func, const Span& span) : func_(&func), span_(&span) {}

  PrimExpr local(const PrimExpr& expr) {
    return ingot::substitute(expr, [this](const SymVar& var) -> std::optional<PrimExpr> {
      auto& own = vars_[var.get()];
      if (own == nullptr) own = make_sym_var(var->name);
      return PrimExpr(own);
    });
  }
  std::vector<PrimExpr> dims(uint32_t buffer) {
    std::vector<PrimExpr> result;
    for (const PrimExpr& dim : func_->buffers[buffer].dims) result.push_back(local(dim));
    return result;
  }
  StructInfo tensor(uint32_t buffer) { return tensor_info(func_->buffers[buffer].dtype, dims(buffer)); }
  std::vector<PrimExpr> scalars() {
    std::vector<PrimExpr> result;
    for (const tir::Scalar& scalar : func_->scalars) result.push_back(local(scalar.var->index));
    return result;
  }
  VarRef param(std::string name, StructInfo info) {
    params.push_back(std::make_shared<Var>(std::move(name), std::move(info), false, *span_));
    return params.back();
  }

  std::vector<VarRef> params;

 private:
  const tir::PrimFunc* func_;
  const Span* span_;
  std::map<const SymVarNode*, SymVar> vars_;
};

class Wrapper {
 public:
  Wrapper(Module& module, Diagnostics& diagnostics) : module_(&module), diagnostics_(&diagnostics) {}

  Expr expr(const Expr& e) {
    if (e->kind == ExprKind::GlobalVar) return function_of(e);
    if (e->depth == 1) return e;
    const Span outer = here_;
    if (e->span.line != 0 || e->span.node) here_ = e->span;
    Expr made = inner(e);
    here_ = outer;
    return made;
  }

 private:
  Expr inner(const Expr& e) {
    const auto map = [this](const Expr& child) { return expr(child); };
    const auto* call = as<Call>(e);
    const auto* op = call == nullptr ? nullptr : as<OpExpr>(call->callee);
    const bool named = op != nullptr && (op->op->name == "call_tir" || op->op->name == "call_tir_inplace");
    if (!named) return map_children(e, map);
    const Expr first = call->args.empty() ? nullptr : call->args[0];
    const Expr made = map_children(e, [&](const Expr& child) { return child == first ? child : expr(child); });
    return op->op->name == "call_tir" ? made : in_place(*as<Call>(made));
  }

  const Definition* prim_func(const Expr& e) const {
    const auto* global = as<GlobalVar>(e);
    const auto* definition = global == nullptr ? nullptr : module_->find(global->name);
    return definition == nullptr || definition->prim_func == nullptr ? nullptr : definition;
  }

  bool is_supported(const Definition& definition, std::span<const uint32_t> updated) {
    const tir::PrimFunc& func = *definition.prim_func;
    for (const tir::Scalar& scalar : func.scalars)
      if (scalar.var->index == nullptr) {
        diagnostics_->error(ErrorCode::Unsupported, here_,
                            fmt::format("@{} takes {} as a scalar {}, calls pass int64 only", definition.name,
                                        scalar.var->name, dtype_name(scalar.var->dtype)));
        return false;
      }
    for (const uint32_t output : updated)
      if (const tir::Buffer& buffer = func.buffers[func.params - func.outputs + output]; buffer.dims.empty()) {
        diagnostics_->error(
            ErrorCode::Unsupported, here_,
            fmt::format("@{} writes {}, a tensor of rank 0, which is passed by value", definition.name, buffer.name),
            "call it on fresh results: call_tir(@" + definition.name + ", (...), Tensor[...])");
        return false;
      }
    return true;
  }

  // Call and variable of the results.
  static Expr field(const VarRef& results, size_t outputs, uint32_t output) {
    if (outputs == 1) return results;
    return std::make_shared<TupleGetItem>(results, output, results->span);
  }

  Binding bind(const VarRef& var, Expr value) const { return {var, std::move(value), nullptr, here_}; }
  VarRef fresh(std::string name) const { return std::make_shared<Var>(std::move(name), nullptr, false, here_); }
  Expr operation(std::string_view op, std::vector<Expr> args, std::vector<StructInfo> infos) const {
    return std::make_shared<Call>(std::make_shared<OpExpr>(ops::find(op), here_), std::move(args), Attrs{},
                                  std::move(infos), here_);
  }

  // `who`: "@f writes %y".
  Binding write(Expr to, Expr from, std::string who) const {
    const auto callee =
        std::make_shared<ExternFunc>("ingot.write", std::vector<StructInfo>{}, std::vector<uint32_t>{0}, here_);
    std::vector<Expr> args = {std::move(to), std::move(from), std::make_shared<String>(std::move(who), here_)};
    return bind(fresh(""), std::make_shared<Call>(callee, std::move(args), Attrs{}, std::vector<StructInfo>{}, here_));
  }

  Binding call_tir(const VarRef& results, const Updating& updating, std::vector<Expr> inputs, Signature& signature) {
    if (module_->find(updating.func->name) == nullptr)
      module_->set({updating.func->name, nullptr, updating.func, false, here_});
    const tir::PrimFunc& func = *updating.func;
    std::vector<StructInfo> infos;
    for (uint32_t i = func.params - func.outputs; i < func.params; ++i)
      infos.push_back(tensor_info(func.buffers[i].dtype, local_dims(func.buffers[i], signature)));
    std::vector<Expr> args = {std::make_shared<GlobalVar>(func.name, here_),
                              std::make_shared<Tuple>(std::move(inputs), here_)};
    if (!func.scalars.empty()) args.push_back(std::make_shared<Shape>(signature.scalars(), here_));
    return bind(results, operation("call_tir", std::move(args), std::move(infos)));
  }

  static std::vector<PrimExpr> local_dims(const tir::Buffer& buffer, Signature& signature) {
    std::vector<PrimExpr> result;
    for (const PrimExpr& dim : buffer.dims) result.push_back(signature.local(dim));
    return result;
  }

  std::string define(const Definition& definition, std::string_view how, Signature& signature,
                     std::vector<Binding> bindings, Expr result, StructInfo info, bool pure) {
    const std::string name = module_->fresh_name(definition.name + std::string(how));
    Attrs attrs = {{std::string(kStandsFor), definition.name}};
    if (pure) attrs["force_pure"] = true;
    auto body =
        std::make_shared<Seq>(std::vector<BindingBlock>{{false, std::move(bindings)}}, std::move(result), here_);
    module_->set({name,
                  std::make_shared<Function>(std::move(signature.params), std::move(body), std::move(info), pure,
                                             std::move(attrs), definition.span),
                  nullptr, false, definition.span});
    return name;
  }

  Expr function_of(const Expr& e) {
    const Definition* found = prim_func(e);
    if (found == nullptr) return e;
    const Definition definition = *found;
    const tir::PrimFunc& func = *definition.prim_func;
    auto& name = direct_[definition.name];
    if (name.empty()) {
      const uint32_t inputs = func.params - func.outputs;
      std::vector<uint32_t> updated(func.outputs);
      for (uint32_t i = 0; i < func.outputs; ++i) updated[i] = i;
      if (!is_supported(definition, updated)) return e;
      const Updating updating =
          begin_outputs(definition.prim_func, updated, module_->fresh_name(definition.name + "_update"));
      Signature signature(func, here_);
      std::vector<Expr> args;
      for (uint32_t i = 0; i < inputs; ++i) args.push_back(signature.param(func.buffers[i].name, signature.tensor(i)));
      std::vector<VarRef> written;
      for (uint32_t i = inputs; i < func.params; ++i)
        written.push_back(signature.param(func.buffers[i].name, signature.tensor(i)));
      for (const tir::Scalar& scalar : func.scalars)
        signature.param(scalar.var->name, prim_info(DType::Int64, signature.local(scalar.var->index)));
      for (const uint32_t output : updating.begun) args.push_back(written[output]);
      const VarRef results = fresh("results");
      std::vector<Binding> bindings = {call_tir(results, updating, std::move(args), signature)};
      for (uint32_t i = 0; i < func.outputs; ++i)
        bindings.push_back(write(written[i], field(results, func.outputs, i),
                                 fmt::format("@{} writes {}", definition.name, written[i]->name)));
      name = define(definition, "_call", signature, std::move(bindings),
                    std::make_shared<Tuple>(std::vector<Expr>{}, here_), tuple_info({}), false);
    }
    return std::make_shared<GlobalVar>(name, e->span);
  }

  template <typename... Args>
  void wrong(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
    diagnostics_->error(code, here_, "call_tir_inplace: " + fmt::format(format, std::forward<Args>(args)...));
  }

  static std::vector<int64_t> indices_of(const Call& call) {
    const auto found = call.attrs.find("inplace_indices");
    if (found == call.attrs.end()) return {};
    if (const auto* one = std::get_if<int64_t>(&found->second)) return {*one};
    if (const auto* list = std::get_if<std::vector<int64_t>>(&found->second)) return *list;
    return {};
  }

  // Stands for a call that is wrong: what depends on it is not looked at.
  Expr missing() const { return std::make_shared<Var>("", nullptr, false, here_); }

  Expr in_place(const Call& call) {
    if (call.args.size() < 2) {
      wrong(ErrorCode::ArityMismatch, "{} arguments are given, a prim_func and a tuple are needed", call.args.size());
      return missing();
    }
    const Definition* found = prim_func(call.args[0]);
    if (found == nullptr) {
      wrong(ErrorCode::TypeError, "the first argument must be a prim_func of the module");
      return missing();
    }
    const Definition definition = *found;
    const tir::PrimFunc& func = *definition.prim_func;
    const auto news = static_cast<uint32_t>(std::ranges::count(indices_of(call), -1));
    const bool takes_one = func.params == news + 1 || func.params == func.outputs + 1;
    const Expr given = takes_one && as<Tuple>(call.args[1]) == nullptr
                           ? std::make_shared<Tuple>(std::vector<Expr>{call.args[1]}, here_)
                           : call.args[1];
    const auto* tuple = as<Tuple>(given);
    if (tuple == nullptr) {
      wrong(ErrorCode::TypeError, "the arguments must be written as a tuple; one as (%x,)");
      return missing();
    }
    const std::vector<int64_t> indices = indices_of(call);
    if (indices.size() != func.outputs || call.info_args.size() != func.outputs) {
      wrong(ErrorCode::ArityMismatch, "@{} has {} outputs; {} are stated, with {} inplace_indices", definition.name,
            func.outputs, call.info_args.size(), indices.size());
      return missing();
    }
    const auto count = static_cast<uint32_t>(tuple->fields.size());
    for (const int64_t index : indices)
      if (index < -1 || index >= count) {
        wrong(ErrorCode::IndexOutOfRange, "inplace index {} of {} arguments", index, count);
        return missing();
      }
    const uint32_t inputs = func.params - func.outputs;
    const bool all_behind = count == inputs;
    if (!all_behind && count + news != func.params) {
      wrong(ErrorCode::ArityMismatch, "@{} has {} parameters; {} arguments and {} fresh outputs are given",
            definition.name, func.params, count, news);
      return missing();
    }
    // Which output the k-th stated one is.
    std::vector<uint32_t> output(indices.size());
    uint32_t next = count;
    std::vector<bool> taken(func.outputs, false);
    for (size_t k = 0; k < indices.size(); ++k) {
      const uint32_t buffer = all_behind         ? inputs + static_cast<uint32_t>(k)
                              : indices[k] == -1 ? next++
                                                 : static_cast<uint32_t>(indices[k]);
      if (buffer < inputs || taken[buffer - inputs]) {
        wrong(ErrorCode::TypeError, "@{} {} {}, which inplace_indices name for output {}", definition.name,
              buffer < inputs ? "does not write" : "writes once", func.buffers[buffer].name, k);
        return missing();
      }
      output[k] = buffer - inputs;
      taken[output[k]] = true;
    }
    return call_in_place(call, *tuple, definition, indices, output, all_behind);
  }

  Expr call_in_place(const Call& call, const Tuple& tuple, const Definition& definition,
                     const std::vector<int64_t>& indices, const std::vector<uint32_t>& output, bool all_behind) {
    const tir::PrimFunc& func = *definition.prim_func;
    const uint32_t inputs = func.params - func.outputs;
    std::vector<uint32_t> updated, begun;
    for (size_t k = 0; k < indices.size(); ++k) {
      if (indices[k] == -1) continue;
      updated.push_back(output[k]);
      // Where inputs and outputs are apart, what an output begins as is not the function's to know.
      if (!all_behind) begun.push_back(output[k]);
    }
    if (!is_supported(definition, updated)) return std::make_shared<Tuple>(std::vector<Expr>{}, call.span);
    Signature signature(func, here_);
    std::vector<Expr> given = tuple.fields;
    std::vector<VarRef> params;
    for (uint32_t i = 0; i < tuple.fields.size(); ++i)
      params.push_back(signature.param(func.buffers[i].name, signature.tensor(i)));
    for (size_t k = 0; k < indices.size(); ++k) {
      // The stated dimensions, held against those of the buffer.
      signature.param(func.buffers[inputs + output[k]].name + "_shape", shape_info(signature.dims(inputs + output[k])));
      const StructInfo& stated = call.info_args[k];
      if (stated->kind != InfoKind::Tensor || !stated->dims ||
          stated->dtype != func.buffers[inputs + output[k]].dtype) {
        wrong(ErrorCode::TypeError, "output {} of @{} is {}, stated is {}", k, definition.name,
              to_text(tensor_info(func.buffers[inputs + output[k]].dtype, func.buffers[inputs + output[k]].dims)),
              to_text(stated));
        return std::make_shared<Tuple>(std::vector<Expr>{}, call.span);
      }
      given.push_back(std::make_shared<Shape>(*stated->dims, call.span));
    }
    if (!func.scalars.empty()) {
      signature.param("vars", shape_info(signature.scalars()));
      given.push_back(call.args.size() > 2 ? call.args[2]
                                           : std::make_shared<Shape>(std::vector<PrimExpr>{}, call.span));
    }
    const Updating updating =
        begin_outputs(definition.prim_func, begun, module_->fresh_name(definition.name + "_update"));
    std::vector<Expr> args(params.begin(), params.begin() + inputs);
    for (const uint32_t which : updating.begun)
      args.push_back(
          params[static_cast<size_t>(indices[static_cast<size_t>(std::ranges::find(output, which) - output.begin())])]);
    const VarRef results = fresh("results");
    std::vector<Binding> bindings = {call_tir(results, updating, std::move(args), signature)};
    std::vector<Expr> fields;
    std::vector<StructInfo> infos;
    for (size_t k = 0; k < indices.size(); ++k) {
      infos.push_back(signature.tensor(inputs + output[k]));
      Expr result = field(results, func.outputs, output[k]);
      if (indices[k] != -1) {
        const VarRef& to = params[static_cast<size_t>(indices[k])];
        bindings.push_back(write(to, std::move(result), fmt::format("@{} writes {}", definition.name, to->name)));
        result = to;
      }
      fields.push_back(std::move(result));
    }
    const bool one = fields.size() == 1;
    const Expr result = one ? fields[0] : std::make_shared<Tuple>(std::move(fields), here_);
    const std::string name = define(definition, "_in_place", signature, std::move(bindings), result,
                                    one ? infos[0] : tuple_info(std::move(infos)), true);
    return std::make_shared<Call>(std::make_shared<GlobalVar>(name, call.span), std::move(given), Attrs{},
                                  std::vector<StructInfo>{}, call.span);
  }

  Module* module_;
  Diagnostics* diagnostics_;
  Span here_;
  std::map<std::string, std::string> direct_;
};

}  // namespace

Module wrap_prim_funcs(Module module, Diagnostics& diagnostics) {
  if (std::ranges::none_of(module.definitions(), [](const Definition& d) { return d.prim_func != nullptr; }))
    return module;
  Wrapper wrapper(module, diagnostics);
  const std::vector<Definition> definitions = module.definitions();
  for (Definition definition : definitions) {
    if (definition.function == nullptr) continue;
    const Expr made = wrapper.expr(definition.function);
    if (made == definition.function) continue;
    definition.function = std::static_pointer_cast<const Function>(made);
    module.set(std::move(definition));
  }
  return module;
}

}  // namespace ingot::transform
