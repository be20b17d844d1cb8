#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "compiler/analysis/effects.h"
#include "compiler/ops/ops.h"
#include "compiler/transform/sequences.h"
#include "compiler/transform/transforms.h"

namespace ingot::transform {
namespace {

using namespace ir;

// scale * x + shift for each channel (dimension 1).
struct Affine {
  std::vector<double> scale, shift;

  bool finite() const {
    const auto is_finite = [](double value) { return std::isfinite(static_cast<float>(value)); };
    return std::ranges::all_of(scale, is_finite) && std::ranges::all_of(shift, is_finite);
  }
  // This, then `next`.
  void then(const Affine& next) {
    for (size_t c = 0; c < scale.size(); ++c) {
      scale[c] *= next.scale[c];
      shift[c] = shift[c] * next.scale[c] + next.shift[c];
    }
  }
};

// No weights have more; a program may write any number.
constexpr int64_t kMostChannels = 1 << 20;

std::optional<size_t> channels_of(const StructInfo& info) {
  if (info == nullptr || info->kind != InfoKind::Tensor || info->dtype != DType::Float32 || !info->dims ||
      info->dims->size() < 2)
    return std::nullopt;
  const auto channels = (*info->dims)[1].as_const();
  if (!channels || *channels < 1 || *channels > kMostChannels) return std::nullopt;
  return static_cast<size_t>(*channels);
}

// One number per channel: a constant that broadcasts to a tensor of this rank along dimension 1 alone.
std::optional<std::vector<double>> per_channel(const Expr& e, size_t rank, size_t channels) {
  const TensorObject* data = float_constant(e);
  if (data == nullptr || data->rank > rank) return std::nullopt;
  bool varies = false;
  for (size_t d = 0; d < data->rank; ++d) {
    if (data->dims()[d] == 1) continue;
    if (rank - data->rank + d != 1 || data->dims()[d] != static_cast<int64_t>(channels)) return std::nullopt;
    varies = true;
  }
  std::vector<double> values(channels);
  for (size_t c = 0; c < channels; ++c) values[c] = static_cast<double>(data->elements<float>()[varies ? c : 0]);
  return values;
}

std::optional<std::vector<double>> vector_constant(const Expr& e, size_t channels) {
  const TensorObject* data = float_constant(e);
  if (data == nullptr || data->rank != 1 || data->dims()[0] != static_cast<int64_t>(channels)) return std::nullopt;
  return std::vector<double>(data->elements<float>(), data->elements<float>() + channels);
}

std::optional<Affine> batch_norm(const Call& call, size_t channels) {
  const Site site(call);
  if (site->axis("axis", call.info->dims->size()) != 1) return std::nullopt;
  std::vector<std::vector<double>> parameters;
  for (size_t i = 1; i < 5; ++i) {
    const auto values = vector_constant(call.args[i], channels);
    if (!values) return std::nullopt;
    parameters.push_back(*values);
  }
  Affine affine;
  for (size_t c = 0; c < channels; ++c) {
    double scale = 1 / std::sqrt(parameters[3][c] + site->number("epsilon"));
    if (site->flag("scale")) scale *= parameters[0][c];
    affine.scale.push_back(scale);
    affine.shift.push_back((site->flag("center") ? parameters[1][c] : 0) - parameters[2][c] * scale);
  }
  return affine;
}

struct Step {
  Affine affine;
  const Var* data;
};

// The call as a step on one of its arguments; nothing where it is not one.
std::optional<Step> step_of(const Expr& value) {
  const Op* op = called_op(value);
  const auto channels = op == nullptr ? std::nullopt : channels_of(value->info);
  if (!channels) return std::nullopt;
  const auto& call = *as<Call>(value);
  const size_t rank = value->info->dims->size();
  const auto name = op->name;
  const auto on = [&](size_t data, std::optional<Affine> affine) -> std::optional<Step> {
    const auto* var = as<Var>(call.args[data]);
    if (!affine || !affine->finite() || var == nullptr || var->info == nullptr || !var->info->dims ||
        var->info->dims->size() != rank || channels_of(var->info) != channels)
      return std::nullopt;
    // Broadcasting must not enlarge the other dimensions.
    if (!same_info(var->info, value->info)) return std::nullopt;
    return Step{std::move(*affine), var};
  };
  if (name == "batch_norm") return on(0, batch_norm(call, *channels));
  if (name == "bias_add") {
    if (Site(call)->axis("axis", rank) != 1) return std::nullopt;
    const auto bias = vector_constant(call.args[1], *channels);
    if (!bias) return std::nullopt;
    return on(0, Affine{std::vector<double>(*channels, 1), *bias});
  }
  if (name != "add" && name != "multiply" && name != "subtract") return std::nullopt;
  for (const size_t data : {size_t{0}, size_t{1}}) {
    if (data == 1 && name == "subtract") break;
    auto values = per_channel(call.args[1 - data], rank, *channels);
    if (!values) continue;
    if (name == "subtract")
      for (double& v : *values) v = -v;
    if (name == "multiply") return on(data, Affine{*values, std::vector<double>(*channels, 0)});
    return on(data, Affine{std::vector<double>(*channels, 1), *values});
  }
  return std::nullopt;
}

// Asked first, as it is cheap: what step_of needs at least.
bool may_be_step(const Binding& binding) {
  const Op* op = called_op(binding.value);
  if (op == nullptr || !channels_of(binding.value->info)) return false;
  return op->name == "batch_norm" || op->name == "bias_add" || op->name == "add" || op->name == "multiply" ||
         op->name == "subtract";
}

Expr vector_expr(std::span<const double> values, const Span& span) {
  const int64_t dims[] = {static_cast<int64_t>(values.size())};
  auto data = make_tensor(nullptr, DType::Float32, dims);
  for (size_t i = 0; i < values.size(); ++i) data->elements<float>()[i] = static_cast<float>(values[i]);
  return typed_constant(std::move(data), span);
}

// A convolution with constant weights in the contract's layouts.
bool is_foldable_convolution(const Expr& value) {
  const Op* op = called_op(value);
  if (op == nullptr || op->name != "conv2d" || !channels_of(value->info)) return false;
  const auto& call = *as<Call>(value);
  const Site site(call);
  if (!op->library(*site)) return false;
  if (op->effect(*site) != Effect::Total || float_constant(call.args[1]) == nullptr) return false;
  return call.args.size() == 2 || float_constant(call.args[2]) != nullptr;
}

Expr fold_into(const Call& call, const Affine& affine, const Span& span) {
  const TensorObject& weight = *float_constant(call.args[1]);
  const size_t channels = affine.scale.size();
  auto folded = make_tensor(nullptr, DType::Float32, weight.dims());
  const size_t each = channels == 0 ? 0 : weight.bytes / sizeof(float) / channels;
  for (size_t c = 0; c < channels; ++c)
    for (size_t i = c * each; i < (c + 1) * each; ++i)
      folded->elements<float>()[i] =
          static_cast<float>(static_cast<double>(weight.elements<float>()[i]) * affine.scale[c]);
  std::vector<double> bias = affine.shift;
  if (call.args.size() == 3)
    for (size_t c = 0; c < channels; ++c)
      bias[c] += static_cast<double>(float_constant(call.args[2])->elements<float>()[c]) * affine.scale[c];
  std::vector<Expr> args = {call.args[0], typed_constant(std::move(folded), span), vector_expr(bias, span)};
  return typed(std::make_shared<Call>(call.callee, std::move(args), call.attrs, call.info_args, span), call.info);
}

Expr scale_shift(const Var* data, const Expr& data_expr, const Affine& affine, const Span& span) {
  std::vector<Expr> args = {data_expr, vector_expr(affine.scale, span), vector_expr(affine.shift, span)};
  return typed(std::make_shared<Call>(std::make_shared<OpExpr>(ops::find("scale_shift"), span), std::move(args),
                                      Attrs{}, std::vector<StructInfo>{}, span),
               data->info);
}

// A value that each channel's steps have been gathered for: what they start from and what they amount to.
struct Chain {
  const Binding* source = nullptr;  // a convolution; null where the chain starts from any tensor
  Expr data;                        // that tensor
  Affine affine;
  std::optional<size_t> fallible = {};  // of a convolution that may fail: bindings of the scope up to it that may
  size_t steps = 0;
  bool has_batch_norm = false;
  std::vector<Binding*> inner;  // bindings that the chain makes superfluous
};

class SequenceFolder {
 public:
  explicit SequenceFolder(Uses& uses) : uses_(&uses) {}

  void operator()(std::span<BindingBlock> blocks) {
    std::unordered_map<const Var*, Chain> convolutions;
    size_t fallible = 0;
    // What may fail does not move behind something else that may.
    const auto usable = [&](std::unordered_map<const Var*, Chain>& from, const Var* data) {
      const auto found = (*uses_)[data] == 1 ? from.find(data) : from.end();
      const bool stays = found == from.end() || !found->second.fallible || found->second.fallible == fallible;
      return stays ? found : from.end();
    };
    std::unordered_map<const Var*, Chain> chains;
    std::vector<std::pair<Binding*, const Var*>> order;
    for (auto& block : blocks)
      for (auto& binding : block.bindings) {
        // Branches are not searched at each level of a nest.
        const bool may_fail = as<If>(binding.value) != nullptr || analysis::effect_of(binding) != Effect::Total;
        if (may_fail) ++fallible;
        if (binding.var == nullptr || binding.cast != nullptr) continue;
        if (is_foldable_convolution(binding.value)) {
          Chain& chain = convolutions[binding.var.get()];
          chain.source = &binding;
          if (may_fail) chain.fallible = fallible;
          chain.inner.push_back(&binding);
        }
        auto step = step_of(binding.value);
        if (!step) continue;
        Chain chain;
        const auto known = usable(chains, step->data);
        const auto convolution = usable(convolutions, step->data);
        if (known != chains.end()) {
          chain = std::move(known->second);
          chains.erase(known);
          chain.inner.push_back(binding_of_.at(step->data));
          chain.affine.then(step->affine);
        } else {
          if (convolution != convolutions.end()) chain = convolution->second;
          const auto& call = *as<Call>(binding.value);
          chain.data = as<Var>(call.args[0]) == step->data ? call.args[0] : call.args[1];
          chain.affine = std::move(step->affine);
        }
        ++chain.steps;
        chain.has_batch_norm = chain.has_batch_norm || called_op(binding.value)->name == "batch_norm";
        binding_of_[binding.var.get()] = &binding;
        order.emplace_back(&binding, binding.var.get());
        chains.emplace(binding.var.get(), std::move(chain));
      }
    std::unordered_set<const Binding*> superfluous;
    for (const auto& [binding, var] : order)
      if (const auto chain = chains.find(var); chain != chains.end()) replace(*binding, chain->second, superfluous);
    if (superfluous.empty()) return;
    for (auto& block : blocks) {
      std::vector<Binding> kept;
      for (auto& binding : block.bindings)
        if (!superfluous.contains(&binding)) kept.push_back(std::move(binding));
      block.bindings = std::move(kept);
    }
  }

 private:
  static void replace(Binding& binding, const Chain& chain, std::unordered_set<const Binding*>& superfluous) {
    if (!chain.affine.finite()) return;
    if (chain.source != nullptr) {
      binding.value = fold_into(*as<Call>(chain.source->value), chain.affine, binding.value->span);
    } else if (chain.has_batch_norm || chain.steps > 1) {
      binding.value = scale_shift(as<Var>(chain.data), chain.data, chain.affine, binding.value->span);
    } else {
      return;
    }
    superfluous.insert(chain.inner.begin(), chain.inner.end());
  }

  Uses* uses_;
  std::unordered_map<const Var*, Binding*> binding_of_;
};

bool gives_tuple(const Binding& binding) {
  const Op* op = called_op(binding.value);
  return op != nullptr && (op->name == "batch_norm_tuple" || op->name == "dropout_tuple");
}

// Relay's batch_norm and dropout give tuples of which programs project the first field: the plain operators instead.
class Projections {
 public:
  void operator()(std::vector<BindingBlock>& blocks) {
    std::unordered_map<const Var*, Expr> tuples;
    for (auto& block : blocks)
      for (auto& binding : block.bindings) {
        if (binding.var != nullptr && gives_tuple(binding)) tuples.emplace(binding.var.get(), binding.value);
        const auto* item = as<TupleGetItem>(binding.value);
        const auto found = item == nullptr || item->index != 0 ? tuples.end() : tuples.find(as<Var>(item->tuple));
        if (found == tuples.end()) continue;
        const auto& call = *as<Call>(found->second);
        const bool is_norm = called_op(found->second)->name == "batch_norm_tuple";
        if (is_norm) {
          binding.value = typed(std::make_shared<Call>(std::make_shared<OpExpr>(ops::find("batch_norm"), call.span),
                                                       call.args, call.attrs, call.info_args, call.span),
                                call.info->fields[0]);
        } else {
          binding.value = call.args[0];
        }
      }
  }
};

}  // namespace

Module fold_batch_norm(Module module, PassContext& context) {
  if (analysis::writes_tensors(module)) return module;
  const auto any = [](const Module& in, const std::function<bool(const Binding&)>& holds) {
    return std::ranges::any_of(in.definitions(), [&](const Definition& definition) {
      return definition.function != nullptr && any_binding(definition.function, holds);
    });
  };
  if (any(module, gives_tuple)) {
    module = rewrite_functions(module, [](const FunctionRef& function) {
      return rewrite_sequences(function, [](std::vector<BindingBlock>& blocks, Expr&) { Projections()(blocks); });
    });
    module = eliminate_dead(std::move(module), context);
  }
  if (!any(module, may_be_step)) return module;
  return rewrite_functions(module, [](const FunctionRef& function) {
    if (!any_binding(function, may_be_step)) return function;
    Uses uses = count_uses(function);
    return rewrite_sequences(function, [&](std::vector<BindingBlock>& blocks, Expr&) {
      for_each_scope(blocks, [&](std::span<BindingBlock> scope) {
        SequenceFolder folder(uses);
        folder(scope);
      });
    });
  });
}

}  // namespace ingot::transform
