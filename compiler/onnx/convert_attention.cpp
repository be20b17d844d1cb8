#include <cmath>

#include "compiler/onnx/attention.h"
#include "compiler/onnx/conversions.h"
#include "compiler/onnx/spatial.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"

// Attention, rotary embeddings and what replaces attention, as the standard has them.
namespace ingot::onnx_import {
namespace {

// A mask whose keys end early goes on with -infinity.
Typed padded_mask(GraphBuilder& b, const Typed& mask, const PrimExpr& keys) {
  const size_t last = mask.rank() - 1;
  const auto have = mask.dim(last).as_const(), wanted = keys.as_const();
  if (!have || !wanted || *have >= *wanted || *have == 1) return mask;
  std::vector<int64_t> width(2 * mask.rank(), 0);
  width[2 * last + 1] = *wanted - *have;
  return b.call("pad", {mask}, {{"pad_width", width}, {"pad_value", -INFINITY}});
}

std::optional<DType> softmax_precision(const Node& node) {
  const auto type = node.element_type("softmax_precision");
  return type == 0 ? std::nullopt : std::optional(dtype_of(type));
}

}  // namespace

// Before version 1.22 of the standard qk_matmul_output_mode 1 was what 2 is now. Without a softcap it tells nothing
// that 0 does not, so it is taken in the old meaning there.
Results convert_attention(const Node& node) {
  auto& b = node.builder();
  const bool flat = node.input(0).rank() == 3;
  const Typed q = to_heads(b, node.input(0), head_count(node, "q_num_heads", 0));
  Typed k = to_heads(b, node.input(1), head_count(node, "kv_num_heads", 0));
  Typed v = to_heads(b, node.input(2), head_count(node, "kv_num_heads", 0));
  Typed before = b.scalar(DType::Int64, 0);
  if (node.has(4)) {
    before = b.tensor_of({node.input(4).dim(2)}, 0);
    k = joined(b, node.input(4), k);
    v = joined(b, node.input(5), v);
  }
  AttentionOptions options{.scale = attention_scale(node, q), .softcap = node.number("softcap", 0)};
  options.precision = softmax_precision(node);
  options.may_see_nothing = node.has(3) || node.has(6);
  if (node.has(3)) {
    const Typed& mask = node.input(3);
    const Typed bias = mask.dtype() == DType::Bool ? bias_where(b, mask, q.dtype(), -INFINITY) : mask;
    options.biases.push_back(padded_mask(b, bias, k.dim(2)));
  }
  if (node.has(6)) {
    const Typed length = over_heads(b, b.cast(node.input(6), DType::Int64));
    options.biases.push_back(bias_where(b, b.call("less", {b.positions(k.dim(2)), length}), q.dtype(), -INFINITY));
    if (!node.has(4)) before = b.subtract(length, b.tensor_of({q.dim(2)}, 0));
  }
  const int64_t left = node.integer("left_window_size", -1, -1), right = node.integer("right_window_size", -1, -1);
  const int64_t reach = node.flag("is_causal") ? 0 : right;
  if (left >= 0) options.may_see_nothing = true;
  if (left >= 0 || reach >= 0)
    options.biases.push_back(window_bias(b, q.dim(2), k.dim(2), before, q.dtype(), left, reach));
  const Attended s = attend(b, q, k, v, options);
  const int64_t mode = node.integer("qk_matmul_output_mode", 0, 0, 3);
  const Typed& shown = mode == 0                           ? s.scores
                       : mode == 1 && options.softcap != 0 ? s.capped
                       : mode == 3                         ? s.weights
                                                           : s.biased;
  return {flat ? from_heads(b, s.result) : s.result, k, v, b.cast(shown, q.dtype())};
}

// The graphs see scores and weights in float32, or wider.
Results convert_flex_attention(const Node& node) {
  auto& b = node.builder();
  const Typed &q = node.input(0), &k = node.input(1), &v = node.input(2);
  for (const auto* x : {&q, &k, &v})
    if (x->rank() != 4) fail(ErrorCode::ShapeMismatch, "an operand has rank {}, it must have 4", x->rank());
  AttentionOptions options{.scale = attention_scale(node, q)};
  options.precision = softmax_precision(node).value_or(q.dtype() == DType::Float64 ? DType::Float64 : DType::Float32);
  const auto change = [&](const char* name) -> std::function<Typed(const Typed&)> {
    if (node.find(name) == nullptr) return {};
    return [&node, name](const Typed& x) { return node.subgraph(name, std::span(&x, 1)).at(0); };
  };
  options.change_scores = change("score_mod");
  options.change_weights = change("prob_mod");
  return {attend(b, q, k, v, options).result};
}

namespace {

Typed rotary(const Node& node, const Typed& x, const Typed& cosine, const Typed& sine) {
  auto& b = node.builder();
  const int64_t width = node.integer("rotary_embedding_dim", 0, 0);
  const bool interleaved = node.flag("interleaved");
  if (x.rank() == 4)
    return b.transpose(rotated(b, b.transpose(x, {0, 2, 1, 3}), cosine, sine, width, interleaved), {0, 2, 1, 3});
  int64_t heads = head_count(node, "num_heads", 0);
  if (heads == 0) {
    // The caches tell the width of a head.
    const auto half = cosine.dim(cosine.rank() - 1).as_const(), hidden = x.dim(2).as_const();
    if (!half || !hidden || width != 0 || *hidden % (2 * *half) != 0)
      fail(ErrorCode::InvalidArgument, "attribute num_heads is missing");
    heads = *hidden / (2 * *half);
  }
  const Typed split = b.reshape(x, {x.dim(0), x.dim(1), PrimExpr(heads), divided(x.dim(2), heads, "heads")});
  return b.reshape(rotated(b, split, cosine, sine, width, interleaved), x.dims());
}

}  // namespace

Results convert_rotary_embedding(const Node& node) {
  auto& b = node.builder();
  Typed cosine = node.input(1), sine = node.input(2);
  if (node.has(3)) {
    cosine = b.gather(cosine, node.input(3), 0);
    sine = b.gather(sine, node.input(3), 0);
  }
  return {rotary(node, node.input(0), cosine, sine)};
}

// com.microsoft: the positions are the second input; one number is where each batch begins.
Results convert_ms_rotary_embedding(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  Typed place = b.cast(node.input(1), DType::Int64);
  if (place.rank() == 1) place = b.unsqueeze(b.add(place, b.positions(x.dim(x.rank() == 4 ? 2 : 1))), 0);
  const auto at = [&](size_t i) { return b.gather(node.input(i), place, 0); };
  return {rotary(node, x, at(2), at(3))};
}

// A convolution of each channel that sees what came before it only; the last places are the state of the next call.
Results convert_causal_conv_with_state(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &weight = node.input(1);
  const auto channels = x.dim(1).as_const(), kernel = weight.dim(2).as_const();
  if (!channels || !kernel || *kernel < 1)
    fail(ErrorCode::Unsupported, "the channels {} and the kernel {} must be known", to_text(x.dim(1)),
         to_text(weight.dim(2)));
  const Typed past =
      node.has(3) ? node.input(3)
                  : b.call("full", {b.scalar(x.dtype(), 0), b.shape({x.dim(0), x.dim(1), PrimExpr(*kernel - 1)})});
  const Typed whole = *kernel == 1 ? x : joined(b, past, x);
  const Window window{{*kernel}, {1}, {1}, {0, 0}};
  Typed y = convolution(b, whole, weight, window, *channels);
  if (node.has(2)) y = b.call("bias_add", {y, node.input(2)}, {{"axis", int64_t{1}}});
  const std::string activation = node.choice("activation", "none", {"none", "silu", "swish"});
  if (activation != "none") y = b.cast(b.call("silu", {b.cast(y, DType::Float32)}), x.dtype());
  if (*kernel == 1) return {y, past};
  return {y, b.part(whole, 2, 1 - *kernel, INT64_MAX)};
}

// A state [batch, heads, key width, value width] that each step of time decays, corrects and reads.
Results convert_linear_attention(const Node& node) {
  auto& b = node.builder();
  const std::string rule = node.choice("update_rule", "gated_delta", {"linear", "gated", "delta", "gated_delta"});
  const bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
  const int64_t heads = head_count(node, "q_num_heads", 0), kv_heads = head_count(node, "kv_num_heads", 0);
  if (kv_heads < 1 || heads % kv_heads != 0)
    fail(ErrorCode::InvalidArgument, "{} heads of keys for {} heads of queries", kv_heads, heads);
  const auto wide = [&](size_t i, int64_t count) { return b.cast(to_heads(b, node.input(i), count), DType::Float32); };
  const Typed q = wide(0, heads), k = wide(1, kv_heads), v = wide(2, kv_heads);
  const Typed zero = b.call("full", {b.scalar(DType::Float32, 0), b.shape({k.dim(0), k.dim(1), k.dim(3), v.dim(3)})});
  const Typed state = node.has(3) ? b.cast(node.input(3), DType::Float32) : zero;
  std::optional<Typed> decay, beta;
  if (gated) decay = b.call("exp", {wide(4, kv_heads)});
  if (delta) {
    const bool shared = node.input(5).dim(2).is_const(1);
    beta = wide(5, shared ? 1 : kv_heads);
  }
  const double scale = attention_scale(node, q);
  const Typed count = b.tensor_of({q.dim(2)}, 0);
  Loop loop;
  loop.count = count;
  loop.carried = {state};
  loop.collected = {{2, false}};
  loop.step = [&](const Typed& step, const Typed&, std::span<const Typed> carried) {
    const auto now = [&](const Typed& x) { return b.gather(x, step, 2); };
    const Typed key = now(k);
    Typed value = now(v), s = carried[0];
    // Vectors of keys are columns, those of values rows.
    const Typed column = b.unsqueeze(key, 3), row = b.unsqueeze(key, 2);
    if (decay) s = b.multiply(s, b.unsqueeze(now(*decay), 3));
    if (beta) value = b.multiply(now(*beta), b.subtract(value, b.squeeze(b.call("matmul", {row, s}), 2)));
    s = b.add(s, b.multiply(column, b.unsqueeze(value, 2)));
    Typed query = b.unsqueeze(b.call("multiply", now(q), scale), 2), read = s;
    if (heads != kv_heads) read = b.call("repeat", {s}, {{"repeats", heads / kv_heads}, {"axis", int64_t{1}}});
    return LoopStep{std::nullopt, {s}, {b.squeeze(b.call("matmul", {query, read}), 2)}};
  };
  const auto results = b.loop(loop);
  const DType dtype = node.input(0).dtype();
  const Typed outputs = b.match(results[1], tensor_info(DType::Float32, Dims{q.dim(0), q.dim(1), q.dim(2), v.dim(3)}));
  return {b.cast(from_heads(b, outputs), dtype), b.cast(results[0], node.has(3) ? node.input(3).dtype() : dtype)};
}

}  // namespace ingot::onnx_import
