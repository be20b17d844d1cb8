#include "compiler/transform/sequences.h"

#include <algorithm>

#include "compiler/ir/visitor.h"
#include "compiler/ops/op_func.h"
#include "compiler/ops/ops.h"

namespace ingot::transform {

using namespace ir;

namespace {

Expr rewrite_in(const Expr& e, const RewriteSequence& rewrite) {
  if (e->kind != ExprKind::Seq && e->kind != ExprKind::If && e->kind != ExprKind::Function) return e;
  const Expr inner = map_children(e, [&](const Expr& child) { return rewrite_in(child, rewrite); });
  const auto* seq = as<Seq>(inner);
  if (seq == nullptr) return inner;
  auto blocks = seq->blocks;
  Expr body = seq->body;
  rewrite(blocks, body);
  std::erase_if(blocks, [](const BindingBlock& block) { return block.bindings.empty(); });
  return typed(std::make_shared<Seq>(std::move(blocks), std::move(body), seq->span), seq->info);
}

bool any_in(const Expr& e, const std::function<bool(const Binding&)>& holds) {
  if (const auto* f = as<Function>(e)) return any_in(f->body, holds);
  if (const auto* branch = as<If>(e)) return any_in(branch->then_branch, holds) || any_in(branch->else_branch, holds);
  const auto* seq = as<Seq>(e);
  return seq != nullptr && std::ranges::any_of(seq->blocks, [&](const BindingBlock& block) {
           return std::ranges::any_of(
               block.bindings, [&](const Binding& binding) { return holds(binding) || any_in(binding.value, holds); });
         });
}

std::vector<StructInfo> infos_of(const Call& call) {
  std::vector<StructInfo> infos;
  for (const auto& arg : call.args) infos.push_back(arg->info);
  return infos;
}

}  // namespace

FunctionRef rewrite_sequences(const FunctionRef& function, const RewriteSequence& rewrite) {
  return std::static_pointer_cast<const Function>(rewrite_in(function, rewrite));
}

void for_each_scope(std::vector<BindingBlock>& blocks, const std::function<void(std::span<BindingBlock>)>& visit) {
  size_t begin = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool ends = i + 1 == blocks.size() || blocks[i].dataflow || blocks[i + 1].dataflow;
    if (!ends) continue;
    visit(std::span(blocks).subspan(begin, i + 1 - begin));
    begin = i + 1;
  }
}

Module rewrite_functions(const Module& module, const std::function<FunctionRef(const FunctionRef&)>& rewrite) {
  Module result = module;
  for (const auto& definition : module.definitions()) {
    if (definition.function == nullptr) continue;
    Definition made = definition;
    made.function = rewrite(definition.function);
    result.set(std::move(made));
  }
  return result;
}

bool any_binding(const FunctionRef& function, const std::function<bool(const Binding&)>& holds) {
  return any_in(function, holds);
}

Uses count_uses(const Expr& expr) {
  Uses uses;
  const std::function<void(const Expr&)> visit = [&](const Expr& e) {
    if (const auto* var = as<Var>(e)) {
      ++uses[var];
    } else if (const auto* seq = as<Seq>(e)) {
      size_t bindings = uses.size();
      for (const auto& block : seq->blocks) bindings += block.bindings.size();
      if (bindings > uses.bucket_count()) uses.reserve(std::max(bindings, 2 * uses.bucket_count()));
      for_each_child(e, visit);
    } else if (e->depth > 1) {
      for_each_child(e, visit);
    }
  };
  visit(expr);
  return uses;
}

const Op* called_op(const Expr& value) {
  const auto* call = as<Call>(value);
  const auto* op = call == nullptr ? nullptr : as<OpExpr>(call->callee);
  return op == nullptr ? nullptr : op->op;
}

Expr typed(Expr expr, StructInfo info) {
  expr->info = std::move(info);
  return expr;
}

Expr typed_constant(Ref<TensorObject> data, const Span& span) {
  std::vector<PrimExpr> dims;
  for (const int64_t dim : data->dims()) dims.emplace_back(dim);
  const DType dtype = data->dtype;
  return typed(std::make_shared<Constant>(std::move(data), false, span), tensor_info(dtype, std::move(dims)));
}

const TensorObject* float_constant(const Expr& expr) {
  const auto* constant = as<Constant>(expr);
  return constant != nullptr && constant->data->dtype == DType::Float32 ? constant->data.get() : nullptr;
}

std::shared_ptr<Call> low_level(std::string_view op, std::vector<Expr> args, Attrs attrs,
                                std::vector<StructInfo> info_args, const Span& span) {
  return std::make_shared<Call>(std::make_shared<OpExpr>(ops::find(op), span), std::move(args), std::move(attrs),
                                std::move(info_args), span);
}

Expr tir_call(const std::string& prim_func, std::vector<Expr> inputs, std::vector<PrimExpr> scalars,
              std::vector<StructInfo> outputs, const StructInfo& result, const Span& span) {
  std::vector<StructInfo> infos;
  for (const auto& input : inputs) infos.push_back(input->info);
  std::vector<Expr> args = {typed(std::make_shared<GlobalVar>(prim_func, span), func_info({}, tuple_info({}), false)),
                            typed(std::make_shared<Tuple>(std::move(inputs), span), tuple_info(std::move(infos)))};
  if (!scalars.empty()) args.push_back(typed(std::make_shared<Shape>(scalars, span), shape_info(scalars)));
  return typed(low_level("call_tir", std::move(args), {}, std::move(outputs), span), result);
}

Expr kernel_call(KernelCall kernel, std::vector<Expr> inputs, const StructInfo& result, const Span& span) {
  Attrs attrs = {{"kernel", std::string(contract_name(kernel.contract))}};
  std::string post_ops;
  for (const auto& post_op : kernel.post_ops)
    post_ops += (post_ops.empty() ? "" : ", ") + std::string(post_op_name(post_op.kind));
  if (!post_ops.empty()) attrs["post_ops"] = post_ops;
  kernel.inputs = static_cast<uint16_t>(inputs.size());
  const auto call = std::make_shared<Call>(std::make_shared<OpExpr>(ops::find("call_kernel"), span), std::move(inputs),
                                           std::move(attrs), ops::results_of(result), span);
  call->kernel = std::make_shared<const KernelCall>(std::move(kernel));
  return typed(call, result);
}

Site::Site(const Call& call)
    : infos_(infos_of(call)), site_(*as<OpExpr>(call.callee)->op, call.args, infos_, call.attrs, call.info_args) {}

}  // namespace ingot::transform
