#include <algorithm>
#include <map>

#include "compiler/analysis/effects.h"
#include "compiler/ops/call.h"
#include "compiler/ops/op_func.h"
#include "compiler/ops/ops.h"
#include "compiler/transform/meaning_cache.h"
#include "compiler/transform/prim_func_table.h"
#include "compiler/transform/sequences.h"
#include "compiler/transform/transforms.h"
#include "vm/isa/builtins.h"
#include "vm/isa/isa.h"

namespace ingot::transform {
namespace {

using namespace ir;

bool is_low_level(std::string_view op) {
  return op == "call_tir" || op == "call_kernel" || op == "call_builtin" || op == "call_packed" ||
         op == "call_pure_packed" || op == "view" || op == "make_closure";
}

bool is_scalar(const StructInfo& info) {
  return info != nullptr && info->kind == InfoKind::Tensor && info->rank == 0u && info->dtype != DType::None &&
         info->dtype != DType::String;
}

// Is there an instruction that computes the operator on these rank-0 operands?
bool has_instruction(const Op& op, std::span<const StructInfo> operands) {
  if (op.scalar_instruction.empty() || operands.empty()) return false;
  for (const auto& operand : operands)
    if (!is_scalar(operand)) return false;
  std::string_view family = op.scalar_instruction;
  if (family.starts_with('>')) family.remove_prefix(1);
  const DType dtype = operands[0]->dtype;
  if (family == "and" || family == "or" || family == "not") return dtype == DType::Bool;
  if (vm::find_opcode(family)) return true;
  return vm::find_opcode(fmt::format("{}.{}", family, dtype_info(dtype).brief)).has_value();
}

class Legalizer {
 public:
  Legalizer(Module& module, PassContext& context)
      : module_(&module), prim_funcs_(module), context_(&context), writes_(analysis::writes_tensors(module)) {}

  FunctionRef function(const Function& f) {
    auto result = std::make_shared<Function>(f.params, body(f.body), f.result, f.pure, f.attrs, f.span);
    result->type_params = f.type_params;
    result->where = f.where;
    result->info = f.info;
    return result;
  }

 private:
  Expr body(const Expr& e) {
    const auto& seq = *as<Seq>(e);
    std::vector<BindingBlock> blocks;
    for (const auto& block : seq.blocks) {
      BindingBlock made{block.dataflow, {}};
      BindingBlock* outer = std::exchange(block_, &made);
      for (const auto& binding : block.bindings) this->binding(binding);
      block_ = outer;
      blocks.push_back(std::move(made));
    }
    if (!writes_) return typed(std::make_shared<Seq>(std::move(blocks), seq.body, seq.span), seq.info);
    BindingBlock last{false, {}};
    BindingBlock* outer = std::exchange(block_, &last);
    Expr result = own(seq.body);
    block_ = outer;
    if (!last.bindings.empty()) blocks.push_back(std::move(last));
    return typed(std::make_shared<Seq>(std::move(blocks), std::move(result), seq.span), seq.info);
  }

  void binding(const Binding& source) {
    Binding made = source;
    try {
      made.value = value(source.value);
    } catch (const Error& error) {
      context_->diagnostics.error(error.code(), source.span, error.what());
    }
    block_->bindings.push_back(std::move(made));
  }

  // What may stand on the right of a binding; bindings that it needs before go into the block.
  Expr value(const Expr& e) {
    if (const auto* f = as<Function>(e)) return function(*f);
    if (const auto* branch = as<If>(e))
      return typed(
          std::make_shared<If>(branch->condition, body(branch->then_branch), body(branch->else_branch), branch->span),
          branch->info);
    if (const auto* call = as<Call>(e)) {
      const auto* op = as<OpExpr>(call->callee);
      if (op != nullptr && !is_packed(op->op->name)) return operation(e, *call, *op->op);
      const bool held = op != nullptr && as<ExternFunc>(call->args.at(0)) == nullptr;  // a variable holds the callee
      if (!writes_ && !held) return e;
      std::vector<Expr> args;
      for (const auto& arg : std::span(call->args).subspan(held ? 1 : 0)) args.push_back(writes_ ? own(arg) : arg);
      if (held)
        return typed(
            std::make_shared<Call>(call->args[0], std::move(args), Attrs{}, std::vector<StructInfo>{}, call->span),
            e->info);
      return typed(std::make_shared<Call>(call->callee, std::move(args), call->attrs, call->info_args, call->span),
                   e->info);
    }
    return writes_ ? copied(e) : e;
  }

  static bool is_packed(std::string_view op) { return op == "call_packed" || op == "call_pure_packed"; }

  // The leaf with tensors that may be written to, in place of constants.
  Expr own(const Expr& leaf) {
    const Expr made = copied(leaf);
    return is_leaf(made) ? made : bind(made);
  }

  // The same as the value of a binding.
  Expr copied(const Expr& e) {
    if (const auto* tuple = as<Tuple>(e)) {
      std::vector<Expr> fields;
      for (const auto& field : tuple->fields) fields.push_back(own(field));
      return typed(std::make_shared<Tuple>(std::move(fields), e->span), e->info);
    }
    return as<Constant>(e) != nullptr ? duplicate(e) : e;
  }

  // A tensor of its own with the elements of `e`; `e` itself where nobody can write to it.
  Expr duplicate(const Expr& e) {
    const StructInfo& info = e->info;
    if (info->kind != InfoKind::Tensor || info->rank == 0u || info->dtype == DType::String || !info->dims) return e;
    return composed(ops::make_call("broadcast_to", {e, ops::make_shape(*info->dims)}), e->span);
  }

  // Operators give tensors of their own, even where these are what they got.
  Expr distinct(const Expr& e) {
    if (as<Var>(e) != nullptr) return duplicate(e);
    const auto* tuple = as<Tuple>(e);
    if (tuple == nullptr) return e;
    std::vector<Expr> fields;
    for (const auto& field : tuple->fields) fields.push_back(leaf(distinct(field), e->span));
    return typed(std::make_shared<Tuple>(std::move(fields), e->span), e->info);
  }

  Expr operation(const Expr& e, const Call& call, const Op& op) {
    if (op.name == "call_tir") return call_tir(e, call);
    if (op.name == "call_dps_packed") return call_dps_packed(call);
    if (op.name == "call_builtin") check_builtin(call);
    if (is_low_level(op.name)) return e;
    std::vector<StructInfo> infos;
    for (const auto& arg : call.args) infos.push_back(arg->info);
    const CallSite site(op, call.args, infos, call.attrs, call.info_args);

    std::vector<StructInfo> tensors;
    std::vector<Expr> scalars;
    for (const auto& arg : call.args)
      if (arg->info->kind == InfoKind::Tensor || arg->info->kind == InfoKind::Tuple) {
        tensors.push_back(arg->info);
        scalars.push_back(arg);
      }
    if (has_instruction(op, tensors)) {
      if (scalars.size() == call.args.size()) return e;
      // cast may have its dtype as an argument.
      Attrs attrs = call.attrs;
      attrs["dtype"] = call.info->dtype;
      return typed(std::make_shared<Call>(call.callee, std::move(scalars), std::move(attrs), call.info_args, call.span),
                   call.info);
    }

    hold_demands(site, call.span);
    const StructInfo& result = call.info;
    if (const auto* known = meanings_.find(op, call))
      return tir_call(known->prim_func, tensor_args(call), known->scalars, ops::results_of(result), result, call.span);
    const Meaning meaning = op.define(site);
    if (const auto* func = std::get_if<tir::PrimFuncRef>(&meaning)) return prim_func(call, site, *func);
    if (const auto* kernel = std::get_if<KernelCall>(&meaning)) {
      auto inputs = tensor_args(call);
      inputs.resize(std::min<size_t>(inputs.size(), kernel->inputs));
      return kernel_call(*kernel, std::move(inputs), result, call.span);
    }
    if (const auto* builtin = std::get_if<BuiltinCall>(&meaning)) {
      Attrs attrs = {{"name", std::string(builtin->builtin)}};
      return typed(low_level("call_builtin", call.args, std::move(attrs), {result}, call.span), result);
    }
    if (std::holds_alternative<View>(meaning))
      return typed(low_level("view", {writes_ ? leaf(duplicate(call.args[0]), call.span) : call.args[0]}, {}, {result},
                             call.span),
                   result);
    const Expr made = composed(std::get<Expr>(meaning), call.span);
    return writes_ ? distinct(made) : made;
  }

  // A PrimFunc that computes nothing, and fails where the sizes do not fit. Its result binds their variables.
  void hold_demands(const CallSite& site, const Span& span) {
    if (ops::is_elementwise(site.op()) || !ops::has_open_sizes(site)) return;
    (void)site.op().infer(site);
    for (const PrimExpr& condition : site.demands()) {
      Dims dims;
      for_each_var(condition, [&](const SymVar& var) {
        const bool known = std::ranges::any_of(dims, [&](const PrimExpr& dim) { return dim.var() == var; });
        if (!known) dims.emplace_back(var);
      });
      dims.emplace_back(0);
      tir::FuncBuilder check{std::string(site.op().name)};
      check.output("y", DType::UInt8, dims);
      check.temporary("sizes", DType::UInt8, {PrimExpr::make(PrimOp::Select, {condition, 0, -1})});
      const StructInfo info = tensor_info(DType::UInt8, dims);
      const std::string func = prim_funcs_.add(std::make_shared<const tir::PrimFunc>(check.finish()), span);
      bind(tir_call(func, {}, {}, {info}, info, span));
    }
  }

  Expr prim_func(const Call& call, const CallSite& site, const tir::PrimFuncRef& func) {
    const auto outputs = ops::results_of(call.info);
    std::vector<PrimExpr> scalars;
    for (const auto& var : ops::scalar_vars(site, outputs)) scalars.emplace_back(var);
    const std::string name = prim_funcs_.add(func, call.span);
    meanings_.add(site.op(), call, {name, scalars});
    return tir_call(name, tensor_args(call), std::move(scalars), outputs, call.info, call.span);
  }

  static void check_builtin(const Call& call) {
    const auto& name = std::get<std::string>(call.attrs.at("name"));
    const auto builtin = vm::find_builtin(name);
    if (!builtin) fail(ErrorCode::TypeError, "call_builtin: there is no builtin {}", name);
    const vm::BuiltinInfo& info = vm::kBuiltins[static_cast<size_t>(*builtin)];
    if (call.args.size() < info.min_args || call.args.size() > info.max_args)
      fail(ErrorCode::ArityMismatch, "{}: {} arguments are given, {} to {} are possible", name, call.args.size(),
           info.min_args, info.max_args);
  }

  // The inputs and the scalars of a prim_func are written out, one by one.
  Expr call_tir(const Expr& e, const Call& call) {
    const bool are_scalars_written = call.args.size() < 3 || as<Shape>(call.args[2]) != nullptr;
    if (call.args.size() < 2) return e;
    const bool known = std::ranges::all_of(call.args[1]->info->fields, is_known_tensor);
    if (as<Tuple>(call.args[1]) != nullptr && are_scalars_written && known) return e;
    std::vector<Expr> inputs;
    add_tensors(call.args[1], inputs);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!is_known_tensor(inputs[i]->info)) inputs[i] = checked_input(inputs[i], *as<GlobalVar>(call.args[0]), i);
    std::vector<StructInfo> infos;
    for (const auto& input : inputs) infos.push_back(input->info);
    auto args = call.args;
    args[1] = typed(std::make_shared<Tuple>(std::move(inputs), call.span), tuple_info(std::move(infos)));
    if (!are_scalars_written && args[2]->info->dims)
      args[2] = typed(std::make_shared<Shape>(*args[2]->info->dims, call.span), args[2]->info);
    return typed(std::make_shared<Call>(call.callee, std::move(args), call.attrs, call.info_args, call.span),
                 call.info);
  }

  static bool is_known_tensor(const StructInfo& info) {
    return info->kind == InfoKind::Tensor && info->dtype != DType::None && info->rank.has_value();
  }

  // By way of a function, whose entry raises TypeError and ShapeMismatch as those of all calls do.
  Expr checked_input(const Expr& input, const GlobalVar& callee, size_t index) {
    const tir::Buffer& buffer = module_->find(callee.name)->prim_func->buffers.at(index);
    const StructInfo wanted = tensor_info(buffer.dtype, static_cast<uint32_t>(buffer.dims.size()));
    Expr& check = input_checks_[{callee.name, index}];
    if (check == nullptr) {
      const auto param = std::make_shared<Var>(buffer.name, wanted, false, input->span);
      param->info = wanted;
      const auto body = typed(std::make_shared<Seq>(std::vector<BindingBlock>{}, param, input->span), wanted);
      const std::string name = module_->fresh_name(fmt::format("{}.{}", callee.name, buffer.name));
      auto function = std::make_shared<Function>(std::vector<VarRef>{param}, body, wanted, true, Attrs{}, input->span);
      function->info = func_info({wanted}, wanted, true);
      check = typed(std::make_shared<GlobalVar>(name, input->span), function->info);
      module_->set({name, std::move(function), nullptr, false, input->span});
    }
    return bind(
        typed(std::make_shared<Call>(check, std::vector<Expr>{input}, Attrs{}, std::vector<StructInfo>{}, input->span),
              wanted));
  }

  // The results begin as zeros, which the PackedFunc writes.
  Expr call_dps_packed(const Call& call) {
    std::vector<Expr> args;
    for (uint32_t i = 0; i < call.args[1]->info->fields.size(); ++i) args.push_back(field(call.args[1], i));
    std::vector<Expr> outputs;
    std::vector<uint32_t> writes;
    for (const auto& info : ops::results_of(call.info)) {
      const Expr zeros = ops::make_call("zeros", {ops::make_shape(*info->dims)}, {{"dtype", info->dtype}});
      outputs.push_back(bind(composed(zeros, call.span)));
      writes.push_back(static_cast<uint32_t>(args.size()));
      args.push_back(outputs.back());
    }
    const auto& name = as<ExternFunc>(call.args[0])->name;
    args.insert(args.begin(), typed(std::make_shared<ExternFunc>(name, std::vector<StructInfo>{}, writes, call.span),
                                    packed_func_info(object_info())));
    bind(typed(low_level("call_pure_packed", std::move(args), {}, {object_info()}, call.span), object_info()));
    if (call.info->kind != InfoKind::Tuple) return outputs[0];
    return typed(std::make_shared<Tuple>(std::move(outputs), call.span), call.info);
  }

  std::vector<Expr> tensor_args(const Call& call) {
    std::vector<Expr> result;
    for (const auto& arg : call.args) add_tensors(arg, result);
    return result;
  }

  void add_tensors(const Expr& arg, std::vector<Expr>& result) {
    if (arg->info->kind == InfoKind::Tensor) {
      result.push_back(arg);
    } else if (arg->info->kind == InfoKind::Tuple) {
      for (uint32_t i = 0; i < arg->info->fields.size(); ++i)
        if (arg->info->fields[i]->kind != InfoKind::Prim) result.push_back(field(arg, i));
    }
  }

  Expr field(const Expr& tuple, uint32_t index) {
    if (const auto* written = as<Tuple>(tuple)) return written->fields.at(index);
    const StructInfo& info = tuple->info->fields.at(index);
    return bind(typed(std::make_shared<TupleGetItem>(tuple, index, tuple->span), info));
  }

  // The meaning of an operator in terms of others, whose StructInfo is not known yet.
  Expr composed(const Expr& e, const Span& span) {
    if (e->info != nullptr && is_leaf(e)) return e;
    if (const auto* tuple = as<Tuple>(e)) {
      std::vector<Expr> fields;
      std::vector<StructInfo> infos;
      for (const auto& part : tuple->fields) {
        fields.push_back(leaf(part, span));
        infos.push_back(fields.back()->info);
      }
      return typed(std::make_shared<Tuple>(std::move(fields), span), tuple_info(std::move(infos)));
    }
    if (const auto* item = as<TupleGetItem>(e)) {
      const Expr tuple = leaf(item->tuple, span);
      if (const auto* written = as<Tuple>(tuple)) return written->fields.at(item->index);
      return typed(std::make_shared<TupleGetItem>(tuple, item->index, span), tuple->info->fields.at(item->index));
    }
    if (const auto* call = as<Call>(e)) {
      const Op& op = *as<OpExpr>(call->callee)->op;
      std::vector<Expr> args;
      std::vector<StructInfo> infos;
      for (const auto& arg : call->args) {
        args.push_back(leaf(arg, span));
        infos.push_back(args.back()->info);
      }
      const StructInfo info = op.infer(CallSite(op, args, infos, call->attrs, call->info_args));
      const auto made = std::make_shared<Call>(call->callee, std::move(args), call->attrs, call->info_args, span);
      made->kernel = call->kernel;
      made->info = info;
      return operation(made, *made, op);
    }
    if (const auto* constant = as<Constant>(e)) {
      Dims dims;
      for (const int64_t dim : constant->data->dims()) dims.emplace_back(dim);
      return typed(std::make_shared<Constant>(constant->data, false, span),
                   tensor_info(constant->data->dtype, std::move(dims)));
    }
    if (const auto* shape = as<Shape>(e))
      return typed(std::make_shared<Shape>(shape->dims, span), shape_info(shape->dims));
    if (as<NullValue>(e) != nullptr) return typed(std::make_shared<NullValue>(span), object_info());
    fail(ErrorCode::Internal, "legalize: an operator means something that is no expression of operators");
  }

  Expr leaf(const Expr& e, const Span& span) {
    const Expr made = composed(e, span);
    return is_leaf(made) ? made : bind(made);
  }

  Expr bind(const Expr& e) {
    const auto var = std::make_shared<Var>("t", nullptr, block_->dataflow, e->span);
    var->info = e->info;
    block_->bindings.push_back({var, e, nullptr, e->span});
    return var;
  }

  using Dims = std::vector<PrimExpr>;

  Module* module_;
  PrimFuncTable prim_funcs_;
  std::map<std::pair<std::string, size_t>, Expr> input_checks_;
  MeaningCache meanings_;
  PassContext* context_;
  bool writes_;  // nobody may write to a constant: where somebody may get it, it is copied
  BindingBlock* block_ = nullptr;
};

}  // namespace

Module legalize(Module module, PassContext& context) {
  Module result = module;
  Legalizer legalizer(result, context);
  for (const auto& definition : module.definitions()) {
    if (definition.function == nullptr) continue;
    Definition made = definition;
    made.function = legalizer.function(*definition.function);
    result.set(std::move(made));
  }
  result.form = Form::Legalized;
  return result;
}

}  // namespace ingot::transform
