#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/writes.h"
#include "compiler/ops/ops.h"
#include "compiler/transform/sequences.h"
#include "compiler/transform/transforms.h"
#include "runtime/kernels/kernel.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::transform {
namespace {

using namespace ir;

// More are never seen; each variant takes this many.
constexpr size_t kMostPostOps = 8;

bool is_float_tensor(const StructInfo& info) {
  return info != nullptr && info->kind == InfoKind::Tensor && info->dtype == DType::Float32 && info->dims &&
         !info->dims->empty();
}

bool same_dims(std::span<const PrimExpr> a, std::span<const PrimExpr> b) {
  return std::ranges::equal(a, b, [](const PrimExpr& x, const PrimExpr& y) { return prove_equal(x, y) == Proof::Yes; });
}

// Does it broadcast to `to` without enlarging it, whatever the variables are?
bool broadcasts_to(std::span<const PrimExpr> dims, std::span<const PrimExpr> to) {
  if (dims.size() > to.size()) return false;
  to = to.last(dims.size());
  return std::ranges::equal(
      dims, to, [](const PrimExpr& x, const PrimExpr& y) { return x.is_const(1) || prove_equal(x, y) == Proof::Yes; });
}

// A library kernel that stands for the value of a variable.
struct Candidate {
  KernelCall kernel;
  std::vector<Expr> inputs;
  bool has_bias = false;
  // The variables of the bindings whose work it does as well.
  std::vector<const Var*> swallowed = {};
  const Binding* binding = nullptr;  // where it stands
  bool may_fail = false;
  size_t fallible_before = 0;  // bindings of the scope that may fail, it included
};

// The tensor arguments in order, tuples written out; nullopt where a tuple is not.
std::optional<std::vector<Expr>> tensor_args(const Call& call) {
  std::vector<Expr> inputs;
  for (const auto& arg : call.args) {
    const auto* tuple = as<Tuple>(arg);
    if (tuple == nullptr && arg->info->kind == InfoKind::Tuple) return std::nullopt;
    if (tuple == nullptr) {
      inputs.push_back(arg);
    } else {
      inputs.insert(inputs.end(), tuple->fields.begin(), tuple->fields.end());
    }
  }
  return inputs;
}

std::optional<Candidate> start(const Call& call, const Op& op) {
  if (op.library == nullptr || !is_float_tensor(call.info)) return std::nullopt;
  const Site site(call);
  if (op.effect(*site) != Effect::Total) return std::nullopt;
  auto kernel = op.library(*site);
  auto inputs = tensor_args(call);
  if (!kernel || !inputs || !site->demands().empty()) return std::nullopt;
  inputs->resize(std::min<size_t>(inputs->size(), kernel->inputs));
  const bool has_bias = kernel->integer("has_bias", 0) != 0;
  return Candidate{*std::move(kernel), *std::move(inputs), has_bias};
}

std::optional<PostOp> activation(const Call& call, const Op& op) {
  const Site site(call);
  if (op.name == "relu") return PostOp{PostOpKind::Relu};
  if (op.name == "leaky_relu") return PostOp{PostOpKind::LeakyRelu, site->number("alpha")};
  if (op.name == "clip") return PostOp{PostOpKind::Clip, site->number("a_min"), site->number("a_max")};
  if (op.name == "sigmoid") return PostOp{PostOpKind::Sigmoid};
  if (op.name == "tanh") return PostOp{PostOpKind::Tanh};
  if (op.name == "gelu") return PostOp{PostOpKind::Gelu};
  return std::nullopt;
}

// A constant with one number per channel of a convolution's result, as the vector that it is.
Expr channel_vector(const Expr& e, std::span<const PrimExpr> result) {
  const TensorObject* data = float_constant(e);
  if (data == nullptr || data->rank > 4 || data->rank < 3 || data->dims()[data->rank - 3] == 1) return nullptr;
  for (size_t d = 0; d < data->rank; ++d)
    if (d != data->rank - 3 && data->dims()[d] != 1) return nullptr;
  const int64_t dims[] = {data->dims()[data->rank - 3]};
  if (!result[1].is_const(dims[0])) return nullptr;
  return typed_constant(make_view(nullptr, as<Constant>(e)->data, dims), e->span);
}

// Would oneDNN take several times as long to prepare a matrix product with this activation as without it, for each
// shape anew? Generated code does it faster, for all shapes (docs/adr/0015).
bool is_better_apart(const Candidate& made, const PostOp& post_op) {
  const bool is_long =
      post_op.kind == PostOpKind::Gelu || post_op.kind == PostOpKind::Tanh || post_op.kind == PostOpKind::Sigmoid;
  return is_long && made.kernel.contract == Contract::matmul;
}

bool add_bias(Candidate& made, const Expr& bias) {
  if (made.has_bias || !made.kernel.post_ops.empty()) return false;
  made.inputs.push_back(bias);
  made.has_bias = true;
  made.kernel.set("has_bias", int64_t{1});
  return true;
}

// Lets the kernel do the work of a call that reads its result as argument `place`.
bool extend(Candidate& made, const Call& call, const Op& op, size_t place) {
  if (!is_float_tensor(call.info) || made.kernel.post_ops.size() >= kMostPostOps ||
      !takes_post_ops(made.kernel.contract))
    return false;
  const Site site(call);
  if (op.effect(*site) != Effect::Total) return false;
  if (const auto post_op = activation(call, op); post_op && place == 0) {
    if (is_better_apart(made, *post_op)) return false;
    made.kernel.post_ops.push_back(*post_op);
    return true;
  }
  const auto& dims = *call.info->dims;
  const bool is_conv = made.kernel.contract == Contract::conv2d;
  const bool is_matmul = made.kernel.contract == Contract::matmul;
  if (op.name == "bias_add" && place == 0) {
    const auto axis = site->axis("axis", dims.size());
    const bool fits = (is_conv && axis == 1) || (is_matmul && axis == static_cast<int64_t>(dims.size()) - 1);
    return fits && add_bias(made, call.args[1]);
  }
  if (op.name != "add") return false;
  const Expr& other = call.args[1 - place];
  if (!is_float_tensor(other->info) || !same_dims(*call.args[place]->info->dims, dims)) return false;
  const auto& other_dims = *other->info->dims;
  if (is_conv)
    if (const Expr bias = channel_vector(other, dims); bias != nullptr && add_bias(made, bias)) return true;
  const bool whole = same_dims(other_dims, dims);
  if (is_matmul && !whole && broadcasts_to(other_dims, dims) && add_bias(made, other)) return true;
  if (other_dims.size() != dims.size() || !broadcasts_to(other_dims, dims)) return false;
  made.kernel.post_ops.push_back({PostOpKind::Add});
  made.inputs.push_back(other);
  return true;
}

class SequenceFuser {
 public:
  SequenceFuser(const Uses& uses, analysis::Writes& writes) : uses_(&uses), writes_(&writes) {}

  void operator()(std::span<BindingBlock> blocks) {
    writes_->enter(blocks);
    std::vector<Binding*> order;
    for (auto& block : blocks)
      for (auto& binding : block.bindings) {
        // Branches are not searched at each level of a nest.
        const bool may_fail = as<If>(binding.value) != nullptr || analysis::effect_of(binding) != Effect::Total;
        if (may_fail) ++fallible_;
        if (binding.var == nullptr || binding.cast != nullptr) continue;
        if (visit(binding, may_fail)) order.push_back(&binding);
      }
    std::unordered_set<const Var*> swallowed;
    for (Binding* binding : order) {
      const auto found = candidates_.find(binding->var.get());
      if (found == candidates_.end()) continue;
      const Candidate& made = found->second;
      binding->value = kernel_call(made.kernel, made.inputs, binding->value->info, binding->value->span);
      swallowed.insert(made.swallowed.begin(), made.swallowed.end());
    }
    if (swallowed.empty()) return;
    for (auto& block : blocks)
      std::erase_if(block.bindings, [&](const Binding& binding) { return swallowed.contains(binding.var.get()); });
  }

 private:
  bool visit(Binding& binding, bool may_fail) {
    const Op* op = called_op(binding.value);
    if (op == nullptr) return false;
    const auto& call = *as<Call>(binding.value);
    if (!call.info_args.empty() || call.kernel != nullptr) return false;
    // Of two candidates the one that is computed last takes the other's result as its input.
    std::vector<std::pair<size_t, size_t>> places;  // position of the candidate, argument
    for (size_t i = 0; i < call.args.size(); ++i) {
      const auto* var = as<Var>(call.args[i]);
      const auto uses = var == nullptr ? uses_->end() : uses_->find(var);
      if (uses == uses_->end() || uses->second != 1 || !candidates_.contains(var)) continue;
      places.emplace_back(positions_.at(var), i);
    }
    std::ranges::sort(places, std::greater());
    for (const auto& [position, place] : places) {
      const auto* var = as<Var>(call.args[place]);
      Candidate made = candidates_.at(var);
      if (!may_move(made, binding)) continue;
      if (!extend(made, call, *op, place)) continue;
      made.swallowed.push_back(var);
      candidates_.erase(var);
      keep(binding, std::move(made));
      return true;
    }
    if (auto made = start(call, *op)) {
      made->may_fail = may_fail;
      made->fallible_before = fallible_;
      keep(binding, std::move(*made));
      return true;
    }
    return false;
  }

  // Would the kernel read the same where another binding stands, and nothing fail before it that did not?
  bool may_move(const Candidate& made, const Binding& to) const {
    if (made.may_fail && made.fallible_before != fallible_) return false;
    return std::ranges::none_of(made.inputs,
                                [&](const Expr& input) { return writes_->may_change(*made.binding, to, input); });
  }

  void keep(Binding& binding, Candidate made) {
    made.binding = &binding;
    const Var* var = binding.var.get();
    candidates_.emplace(var, std::move(made));
    positions_.emplace(var, positions_.size());
  }

  const Uses* uses_;
  analysis::Writes* writes_;
  size_t fallible_ = 0;
  std::unordered_map<const Var*, Candidate> candidates_;
  std::unordered_map<const Var*, size_t> positions_;
};

}  // namespace

Module fuse_library_kernels(Module module, PassContext&) {
  const bool writes_tensors = analysis::writes_tensors(module);
  return rewrite_functions(module, [&](const FunctionRef& function) {
    const Uses uses = count_uses(function);
    analysis::Writes writes(writes_tensors, function);
    return rewrite_sequences(function, [&](std::vector<BindingBlock>& blocks, Expr&) {
      for_each_scope(blocks, [&](std::span<BindingBlock> scope) {
        SequenceFuser fuser(uses, writes);
        fuser(scope);
      });
    });
  });
}

}  // namespace ingot::transform
