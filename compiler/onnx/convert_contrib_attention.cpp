#include <cmath>

#include "compiler/onnx/contrib_attention.h"
#include "compiler/onnx/conversions.h"
#include "compiler/onnx/quantized.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

// Attention of com.microsoft.
namespace ingot::onnx_import {
namespace {

void refuse(const Node& node, std::string_view attribute) {
  if (node.flag(attribute)) fail(ErrorCode::Unsupported, "attribute {} is 1", attribute);
}

constexpr size_t kNoInput = SIZE_MAX;

// An integer input of one element, as an int64 scalar.
Typed place_of(const Node& node, size_t i) {
  auto& b = node.builder();
  return b.reshape(b.cast(node.input(i), DType::Int64), {});
}

// From queries, keys and values side by side; the numbers of the inputs that hold mask, past, attention bias and
// how much of the past is taken, where it is a buffer.
Results packed_attention(const Node& node, const Typed& all, size_t mask, size_t past_input, size_t bias,
                         size_t length) {
  auto& b = node.builder();
  refuse(node, "do_rotary");
  const int64_t heads = head_count(node, "num_heads", 1);
  auto sizes = node.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>{});
  if (sizes.size() != 3) {
    const auto width = all.dim(2).as_const();
    if (!width) fail(ErrorCode::Unsupported, "the width of the weights must be known, it is {}", to_text(all.dim(2)));
    sizes.assign(3, *width / 3);
  }
  const Typed q = to_heads(b, b.part(all, 2, 0, sizes[0]), heads);
  const Typed k = to_heads(b, b.part(all, 2, sizes[0], sizes[0] + sizes[1]), heads);
  const Typed v = to_heads(b, b.part(all, 2, sizes[0] + sizes[1], sizes[0] + sizes[1] + sizes[2]), heads);
  Typed before = b.scalar(DType::Int64, 0);
  Cached keys{k, k}, values{v, v};
  if (node.has(past_input)) {
    const Typed& both = node.input(past_input);
    const auto past = [&](int64_t i) { return b.squeeze(b.part(both, 0, i, i + 1), 0); };
    if (node.flag("past_present_share_buffer")) {
      before = place_of(node, length);
      keys = buffered(b, past(0), k, before, {});
      values = buffered(b, past(1), v, before, {});
    } else {
      before = b.tensor_of({both.dim(3)}, 0);
      keys = appended(b, past(0), k);
      values = appended(b, past(1), v);
    }
  }
  Results results = {from_heads(b, masked_attention(node, q, keys.used, values.used, mask, bias, before).result)};
  if (node.wants(1)) {
    const Typed both[] = {b.unsqueeze(keys.present, 0), b.unsqueeze(values.present, 0)};
    results.push_back(b.call_tuple("concat", both, {{"axis", int64_t{0}}}));
  }
  return results;
}

}  // namespace

// input, weights, bias, mask, past, attention bias, how much of the past is taken
Results convert_ms_attention(const Node& node) {
  auto& b = node.builder();
  const Typed all = b.call("matmul", {node.input(0), node.input(1)});
  return packed_attention(node, node.has(2) ? b.add(all, node.input(2)) : all, 3, 4, 5, 6);
}

// input, weights, bias, scales of input and weights, mask, their zero points, past
Results convert_q_attention(const Node& node) {
  auto& b = node.builder();
  const Typed all = scaled_product(b, node.input(0), node.input(3), optional(node, 6), node.input(1), node.input(4),
                                   optional(node, 7));
  return packed_attention(node, b.add(all, node.input(2)), 5, 8, kNoInput, kNoInput);
}

namespace {

// Where an operator has what it may be given beside queries, keys and values.
struct HeadInputs {
  size_t bias, mask, attention_bias, past_key, past_value, length, beams;
};

// Queries, keys and values may also come packed as query [batch, time, heads, 3, width], or keys and values as key
// [batch, time, heads, 2, width]. Keys and values of rank 4 are those of another sequence, with their bias.
Results multi_head_attention(const Node& node, const HeadInputs& at) {
  auto& b = node.builder();
  const int64_t heads = head_count(node, "num_heads", 1);
  const auto unpacked = [&](const Typed& packed, int64_t i, int64_t count) {
    if (packed.rank() != 5 || !packed.dim(3).is_const(count))
      fail(ErrorCode::ShapeMismatch, "packed operands must have rank 5 and {} of them in dimension 3, they are {}",
           count, to_text(packed.info));
    const Typed part = b.squeeze(b.part(packed, 3, i, i + 1), 3);
    return b.reshape(part, {part.dim(0), part.dim(1), part.dim(2) * part.dim(3)});
  };
  std::vector<Typed> inputs;
  if (node.has(2)) {
    inputs = {node.input(0), node.input(1), node.input(2)};
  } else if (node.has(1)) {
    inputs = {node.input(0), unpacked(node.input(1), 0, 2), unpacked(node.input(1), 1, 2)};
  } else {
    for (int64_t i = 0; i < 3; ++i) inputs.push_back(unpacked(node.input(0), i, 3));
  }
  if (node.has(at.bias)) {
    int64_t begin = 0;
    for (auto& input : inputs) {
      if (input.rank() == 4) break;
      const auto width = input.dim(2).as_const();
      if (!width) fail(ErrorCode::Unsupported, "a bias for operands {}", to_text(input.info));
      input = b.add(input, b.part(node.input(at.bias), 0, begin, begin + *width));
      begin += *width;
    }
  }
  const Typed q = to_heads(b, inputs[0], heads), k = to_heads(b, inputs[1], heads), v = to_heads(b, inputs[2], heads);
  Typed before = b.scalar(DType::Int64, 0);
  Cached keys{k, k}, values{v, v};
  if (node.has(at.past_key) && node.has(at.length)) {
    before = place_of(node, at.length);
    keys = buffered(b, node.input(at.past_key), k, before, optional(node, at.beams));
    values = buffered(b, node.input(at.past_value), v, before, optional(node, at.beams));
  } else if (node.has(at.past_key)) {
    if (node.has(at.beams)) fail(ErrorCode::Unsupported, "beams of a past that is no buffer");
    before = b.tensor_of({node.input(at.past_key).dim(2)}, 0);
    keys = appended(b, node.input(at.past_key), k);
    values = appended(b, node.input(at.past_value), v);
  }
  const bool crosses = prove_equal(q.dim(2), k.dim(2)) != Proof::Yes;
  const Attended all = masked_attention(node, q, keys.used, values.used, at.mask, at.attention_bias, before, crosses);
  return {from_heads(b, all.result), keys.present, values.present, all.biased};
}

}  // namespace

// query, key, value, bias, key mask, attention bias, past key, past value, how much of the past is taken, beams
Results convert_ms_multi_head_attention(const Node& node) {
  return multi_head_attention(
      node, {.bias = 3, .mask = 4, .attention_bias = 5, .past_key = 6, .past_value = 7, .length = 8, .beams = 9});
}

// query, key, value, key mask, attention bias, past key, past value, how much of the past is taken, width of the
// beams, beams, bias
Results convert_decoder_masked_multi_head_attention(const Node& node) {
  return multi_head_attention(
      node, {.bias = 10, .mask = 3, .attention_bias = 4, .past_key = 5, .past_value = 6, .length = 7, .beams = 9});
}

namespace {

// Keys of each batch: those of the past up to its own number, then those of now; behind them zeros, since what a buffer
// holds there may be no number.
Typed gathered_present(GraphBuilder& b, const Typed& past, const Typed& now, const Typed& counts, const Typed& places) {
  const Typed first = b.unsqueeze(counts, 1);
  const Typed behind = b.subtract(places, first);
  const Typed is_new = b.call(
      "logical_and", {b.call("greater_equal", behind, 0.0), b.call("less", {behind, b.tensor_of({now.dim(2)}, 0)})});
  const Typed old = b.call("minimum", {places, b.call("maximum", b.tensor_of({past.dim(2) - 1}, 0), 0.0)});
  const Typed from = b.call("where", {is_new, b.add(behind, b.tensor_of({past.dim(2)}, 0)), old});
  const Typed whole = b.transpose(joined(b, past, now), {0, 2, 1, 3});
  const Typed found = b.call("gather_nd", {whole, b.unsqueeze(from, 2)}, {{"batch_dims", int64_t{1}}});
  const Typed taken = b.call("less", {behind, b.tensor_of({now.dim(2)}, 0)});
  const Typed all = b.call("where", {b.unsqueeze(b.unsqueeze(taken, 2), 3), found, b.scalar(now.dtype(), 0)});
  return b.transpose(all, {0, 2, 1, 3});
}

// A bias of as many keys as there are: caches may be longer than the total length, which is what a bias has.
Typed for_keys(GraphBuilder& b, const Typed& bias, const PrimExpr& keys) {
  const size_t last = bias.rank() - 1;
  if (prove_equal(bias.dim(last), keys) == Proof::Yes) return bias;
  Dims sides(2 * bias.rank(), PrimExpr(0)), dims = bias.dims();
  sides.back() = keys - bias.dim(last);
  dims[last] = keys;
  return b.builtin("pad", {bias, b.list(b.tensor_of(std::move(sides), 1)), b.none(), b.none(), b.text("constant")},
                   tensor_info(bias.dtype(), std::move(dims)));
}

}  // namespace

// query, key, value, past key, past value, last key of each batch, total length, cosines, sines, positions, attention
// bias, sinks, scales of the cache, weights of norms of queries and keys. The past may be a buffer with room behind
// what it holds.
Results convert_group_query_attention(const Node& node) {
  auto& b = node.builder();
  const int64_t heads = head_count(node, "num_heads", 1), kv_heads = head_count(node, "kv_num_heads", 1);
  refuse(node, "sliding_window_cache");
  for (const char* quantised : {"k_quant_type", "v_quant_type"})
    if (const std::string type = node.text(quantised, "NONE"); type != "NONE")
      fail(ErrorCode::Unsupported, "attribute {} is '{}'", quantised, type);
  Typed query = node.input(0), key, value;
  if (node.has(1)) {
    key = node.input(1);
    value = node.input(2);
  } else {
    const auto width = query.dim(2).as_const();
    if (!width || *width % (heads + 2 * kv_heads) != 0)
      fail(ErrorCode::ShapeMismatch, "{} and twice {} heads do not divide {}", heads, kv_heads, to_text(query.dim(2)));
    const int64_t head = *width / (heads + 2 * kv_heads);
    const Typed packed = query;
    query = b.part(packed, 2, 0, heads * head);
    key = b.part(packed, 2, heads * head, (heads + kv_heads) * head);
    value = b.part(packed, 2, (heads + kv_heads) * head, *width);
  }
  Typed q = to_heads(b, query, heads), k = to_heads(b, key, kv_heads), v = to_heads(b, value, kv_heads);
  if (node.has(14) && node.has(15)) {
    const auto normal = [&](const Typed& x, size_t weight) {
      const Typed square = b.call("mean", {b.multiply(x, x)}, {{"axis", std::vector<int64_t>{3}}, {"keepdims", true}});
      const Typed inverse = b.call("rsqrt", {b.call("add", square, node.number("qk_norm_epsilon", 1e-6))});
      return b.multiply(b.multiply(x, inverse), node.input(weight));
    };
    q = normal(q, 14);
    k = normal(k, 15);
  }
  const PrimExpr now = q.dim(2), before = node.has(3) ? node.input(3).dim(2) : PrimExpr(0);
  const auto total = known_values(node.input(6));
  const bool grows = total && total->size() == 1 && prove_equal(total->front(), before + now) == Proof::Yes;
  // How many keys of the past each batch has: the same for all where it is one.
  const bool alike = grows && (q.dim(0).is_const(1) || !node.has(3));
  const Typed counts = b.call(
      "maximum",
      b.subtract(b.call("add", b.reshape(b.cast(node.input(5), DType::Int64), {q.dim(0)}), 1.0), b.tensor_of({now}, 0)),
      0.0);
  const Typed first = alike ? b.tensor_of({before}, 0) : over_heads(b, counts);
  if (node.flag("do_rotary")) {
    const Typed place = node.has(9) ? b.cast(node.input(9), DType::Int64)
                        : alike     ? b.unsqueeze(b.add(b.positions(now), first), 0)
                                    : b.add(b.unsqueeze(counts, 1), b.positions(now));
    const auto half = node.input(7).dim(1).as_const();
    const auto width = q.dim(3).as_const();
    if (!half || !width || *half > *width / 2)
      fail(ErrorCode::Unsupported, "cosines {} for heads of {}", to_text(node.input(7).info), to_text(q.dim(3)));
    const auto at = [&](size_t i) { return b.gather(node.input(i), place, 0); };
    const auto turn = [&](const Typed& x) {
      const Typed moved =
          rotated(b, b.transpose(x, {0, 2, 1, 3}), at(7), at(8), 2 * *half, node.flag("rotary_interleaved"));
      return b.transpose(moved, {0, 2, 1, 3});
    };
    q = turn(q);
    k = turn(k);
  }
  if (node.has(3) && alike) {
    k = joined(b, node.input(3), k);
    v = joined(b, node.input(4), v);
  } else if (node.has(3)) {
    Typed places;
    if (total && total->size() == 1) {
      places = b.positions(simplify(max(total->front(), before)));
    } else {
      const Typed end =
          b.call("maximum", {b.reshape(b.cast(node.input(6), DType::Int64), {}), b.tensor_of({before}, 0)});
      places = b.builtin("range", {b.scalar(DType::Int64, 0), end, b.scalar(DType::Int64, 1)},
                         tensor_info(DType::Int64, uint32_t{1}));
    }
    k = gathered_present(b, node.input(3), k, counts, places);
    v = gathered_present(b, node.input(4), v, counts, places);
  }
  AttentionOptions options{.scale = attention_scale(node, q), .softcap = node.number("softcap", 0)};
  const int64_t window = node.integer("local_window_size", -1, -1);
  if (node.flag("causal", true)) {
    options.biases.push_back(window_bias(b, now, k.dim(2), first, q.dtype(), window > 0 ? window - 1 : -1, 0));
  } else {
    const Typed end = b.add(first, b.tensor_of({now}, 0));
    options.biases.push_back(bias_where(b, b.call("less", {b.positions(k.dim(2)), end}), q.dtype(), -INFINITY));
  }
  if (node.has(10)) options.biases.push_back(for_keys(b, node.input(10), k.dim(2)));
  if (node.has(11)) {
    options.sink = b.reshape(node.input(11), {PrimExpr(1), PrimExpr(heads), PrimExpr(1), PrimExpr(1)});
  } else if (node.flag("smooth_softmax")) {
    options.sink = b.scalar(q.dtype(), 0);
  }
  const Attended all = attend(b, q, k, v, options);
  Results results = {from_heads(b, all.result), k, v};
  if (!node.wants(3)) return results;
  // Scores of what may not be seen are given as zeros.
  const Typed seen = b.call("not_equal", all.biased, -INFINITY);
  const Typed scores = b.call("where", {seen, all.biased, b.scalar(all.biased.dtype(), 0)});
  results.push_back(b.cast(node.integer("qk_output", 0) == 2 ? all.weights : scores, q.dtype()));
  return results;
}

}  // namespace ingot::onnx_import
