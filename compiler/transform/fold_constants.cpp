#include <algorithm>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/writes.h"
#include "compiler/ir/visitor.h"
#include "compiler/ops/op_func.h"
#include "compiler/transform/sequences.h"
#include "compiler/transform/transforms.h"
#include "runtime/kernels/kernel.h"

namespace ingot::transform {
namespace {

using namespace ir;

// Results above this size must not be larger than the largest operand, or all operands where those are no more than the
// constants of the program, so that programs do not swell.
constexpr size_t kFreeBytes = 4096;

std::optional<std::vector<int64_t>> known_dims(const StructInfo& info) {
  if (info == nullptr || info->kind != InfoKind::Tensor || !info->dims) return std::nullopt;
  std::vector<int64_t> dims;
  for (const auto& dim : *info->dims) {
    const auto value = dim.as_const();
    if (!value || *value < 0) return std::nullopt;
    dims.push_back(*value);
  }
  return dims;
}

bool is_constant(const Expr& e) {
  if (const auto* tuple = as<Tuple>(e)) return std::ranges::all_of(tuple->fields, is_constant);
  if (const auto* constant = as<Constant>(e)) return constant->data->dtype != DType::String;
  if (const auto* shape = as<Shape>(e))
    return std::ranges::all_of(shape->dims, [](const PrimExpr& dim) { return dim.as_const().has_value(); });
  if (const auto* prim = as<PrimValue>(e)) {
    const auto* expr = std::get_if<PrimExpr>(&prim->value);
    return expr == nullptr || expr->as_const();
  }
  return e->kind == ExprKind::String || e->kind == ExprKind::DataType || e->kind == ExprKind::NullValue;
}

void add_tensors(const Expr& e, std::vector<Ref<TensorObject>>& tensors) {
  if (const auto* constant = as<Constant>(e)) tensors.push_back(constant->data);
  if (const auto* tuple = as<Tuple>(e))
    for (const auto& field : tuple->fields) add_tensors(field, tensors);
}

OperandSpec spec_of(const TensorObject& tensor) {
  return {tensor.dtype, Layout::RowMajor, {tensor.dims().begin(), tensor.dims().end()}, nullptr};
}

// The results of a kernel on constants; nothing where it faults, so that the program faults where it would.
std::optional<std::vector<Ref<TensorObject>>> run(const KernelCall& call, const std::vector<Ref<TensorObject>>& inputs,
                                                  const std::vector<StructInfo>& results) {
  std::vector<Ref<TensorObject>> outputs;
  std::vector<OperandSpec> input_specs, output_specs;
  std::vector<const std::byte*> input_data;
  std::vector<std::byte*> output_data;
  for (const auto& input : inputs) {
    input_specs.push_back(spec_of(*input));
    input_data.push_back(input->data);
  }
  for (const auto& result : results) {
    outputs.push_back(make_tensor(nullptr, result->dtype, *known_dims(result)));
    output_specs.push_back(spec_of(*outputs.back()));
    output_data.push_back(outputs.back()->data);
  }
  const auto prepared = prepare_kernel({.call = &call, .inputs = input_specs, .outputs = output_specs});
  const int64_t scratch_dims[] = {static_cast<int64_t>(prepared.kernel->scratch_bytes())};
  const auto scratch = make_tensor(nullptr, DType::UInt8, scratch_dims);
  const auto status = prepared.kernel->run({input_data, output_data, scratch->data, {}});
  if (status.failed) return std::nullopt;
  return outputs;
}

void add_constants(const Expr& e, std::unordered_map<const TensorObject*, size_t>& sizes) {
  if (const auto* constant = as<Constant>(e)) sizes.emplace(constant->data.get(), constant->data->bytes);
  for_each_child(e, [&](const Expr& child) { add_constants(child, sizes); });
}

size_t constant_bytes(const Module& module) {
  std::unordered_map<const TensorObject*, size_t> sizes;
  for (const auto& definition : module.definitions())
    if (definition.function != nullptr) add_constants(definition.function, sizes);
  size_t bytes = 0;
  for (const auto& [tensor, size] : sizes) bytes += size;
  return bytes;
}

class Folder {
 public:
  Folder(size_t program_bytes, const analysis::Writes& writes) : program_bytes_(program_bytes), writes_(&writes) {}

  Expr rewrite(const Expr& e) {
    switch (e->kind) {
      case ExprKind::Var: {
        const auto known = values_.find(as<Var>(e));
        return known == values_.end() ? e : known->second;
      }
      case ExprKind::Seq:
        return sequence(*as<Seq>(e));
      default:
        return map_children(e, [&](const Expr& child) { return rewrite(child); });
    }
  }

 private:
  Expr sequence(const Seq& seq) {
    auto blocks = seq.blocks;
    for (auto& block : blocks)
      for (auto& binding : block.bindings) {
        // Elsewhere each evaluation makes a tensor that may be written to.
        if (binding.var != nullptr && !writes_->is_out_of_reach(*binding.var)) {
          binding.value = rewrite(binding.value);
          continue;
        }
        binding.value = projected(rewrite(binding.value));
        if (auto folded = fold(binding.value)) binding.value = std::move(folded);
        if (binding.var != nullptr && binding.cast == nullptr && is_leaf(binding.value) && is_constant(binding.value) &&
            binding.value->info != nullptr && binding.value->kind != ExprKind::NullValue)
          values_.emplace(binding.var.get(), binding.value);
      }
    return typed(std::make_shared<Seq>(std::move(blocks), rewrite(seq.body), seq.span), seq.info);
  }

  static Expr projected(const Expr& e) {
    const auto* item = as<TupleGetItem>(e);
    const auto* tuple = item == nullptr ? nullptr : as<Tuple>(item->tuple);
    return tuple != nullptr && item->index < tuple->fields.size() ? tuple->fields[item->index] : e;
  }

  // The value of a call of an operator on constants; null where it is not to be computed here.
  Expr fold(const Expr& e) const {
    const Op* op = called_op(e);
    if (op == nullptr) return nullptr;
    const auto& call = *as<Call>(e);
    if (!call.info_args.empty() || call.kernel != nullptr || !std::ranges::all_of(call.args, is_constant))
      return nullptr;
    const Site site(call);
    if (op->effect(*site) != Effect::Total || call.info == nullptr) return nullptr;
    return evaluate(call, *op, site);
  }

  Expr evaluate(const Call& call, const Op& op, const Site& site) const {
    std::vector<Ref<TensorObject>> inputs;
    for (const auto& arg : call.args) add_tensors(arg, inputs);
    size_t largest = kFreeBytes, together = 0;
    for (const auto& input : inputs) {
      largest = std::max(largest, input->bytes);
      together += input->bytes;
    }
    const auto results = ops::results_of(call.info);
    size_t result_bytes = 0;
    for (const auto& result : results) {
      const auto dims = known_dims(result);
      if (!dims) return nullptr;
      result_bytes += byte_size(result->dtype, *dims);
    }
    if (result_bytes > std::max(largest, std::min(together, program_bytes_))) return nullptr;

    const Meaning meaning = op.define(*site);
    if (std::holds_alternative<View>(meaning))
      return typed_constant(make_view(nullptr, inputs.at(0), *known_dims(call.info)), call.span);
    if (const auto* composed = std::get_if<Expr>(&meaning)) return evaluate(*composed, call.span);
    KernelCall kernel;
    if (const auto* func = std::get_if<tir::PrimFuncRef>(&meaning)) {
      kernel = {.contract = Contract::prim_func, .prim_func = *func};
    } else if (const auto* library = std::get_if<KernelCall>(&meaning)) {
      kernel = *library;
    } else {
      return nullptr;
    }
    kernel.inputs = static_cast<uint16_t>(inputs.size());
    kernel.outputs = static_cast<uint16_t>(results.size());
    auto outputs = run(kernel, inputs, results);
    if (!outputs) return nullptr;
    std::vector<Expr> fields;
    for (auto& output : *outputs) fields.push_back(typed_constant(std::move(output), call.span));
    if (call.info->kind != InfoKind::Tuple) return fields[0];
    return typed(std::make_shared<Tuple>(std::move(fields), call.span), call.info);
  }

  // A composition of operators on constants, whose StructInfo is not known yet.
  Expr evaluate(const Expr& e, const Span& span) const {
    if (is_constant(e) && e->info != nullptr) return e;
    if (const auto* constant = as<Constant>(e)) return typed_constant(constant->data, span);
    if (const auto* call = as<Call>(e)) {
      std::vector<Expr> args;
      for (const auto& arg : call->args) {
        args.push_back(evaluate(arg, span));
        if (args.back() == nullptr) return nullptr;
      }
      const Op& op = *as<OpExpr>(call->callee)->op;
      const auto made = std::make_shared<Call>(call->callee, std::move(args), call->attrs, call->info_args, span);
      const Site site(*made);
      made->info = op.infer(*site);
      return op.effect(*site) == Effect::Total ? evaluate(*made, op, site) : nullptr;
    }
    return nullptr;
  }

  size_t program_bytes_;
  const analysis::Writes* writes_;
  std::unordered_map<const Var*, Expr> values_;
};

}  // namespace

Module fold_constants(Module module, PassContext&) {
  const bool writes_tensors = analysis::writes_tensors(module);
  return rewrite_functions(module, [writes_tensors, bytes = constant_bytes(module)](const FunctionRef& function) {
    const analysis::Writes writes(writes_tensors, function);
    return std::static_pointer_cast<const Function>(Folder(bytes, writes).rewrite(function));
  });
}

}  // namespace ingot::transform
