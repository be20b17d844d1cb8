#include "compiler/onnx/contrib_attention.h"
#include "compiler/onnx/conversions.h"
#include "compiler/ops/operands.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

// Batches of sequences without their padding: [tokens, width], and for each place [batch, time] of the padded batch
// the row it comes from, those of tokens first.
namespace ingot::onnx_import {
namespace {

// The places of the tokens in the padded batch, taken as one dimension.
Typed places_of(GraphBuilder& b, const Typed& offsets, const PrimExpr& tokens) {
  const Typed all = b.reshape(b.cast(offsets, DType::Int64), {ops::product(offsets.dims())});
  return b.builtin("slice", {all, b.integers({0}), b.prim(tokens), b.integers({0}), b.none()},
                   tensor_info(DType::Int64, Dims{tokens}));
}

Typed padded(GraphBuilder& b, const Typed& x, const Typed& offsets) {
  const PrimExpr& width = x.dim(1);
  const Typed zeros = b.call("full", {b.scalar(x.dtype(), 0), b.shape({ops::product(offsets.dims()), width})});
  const Typed rows = b.call("scatter_nd", {zeros, b.unsqueeze(places_of(b, offsets, x.dim(0)), 1), x});
  return b.reshape(rows, {offsets.dim(0), offsets.dim(1), width});
}

Typed unpadded(GraphBuilder& b, const Typed& x, const Typed& offsets, const PrimExpr& tokens) {
  const Typed rows = b.reshape(x, {x.dim(0) * x.dim(1), x.dim(2)});
  return b.gather(rows, places_of(b, offsets, tokens), 0);
}

// Attention of tokens, of which `sums` says how many came before each sequence.
Typed packed(const Node& node, const std::vector<Typed>& tokens, size_t offsets_at, size_t bias) {
  auto& b = node.builder();
  const int64_t heads = head_count(node, "num_heads", 1);
  const Typed &offsets = node.input(offsets_at), &sums = node.input(offsets_at + 1);
  std::vector<Typed> all;
  for (const auto& x : tokens) all.push_back(to_heads(b, padded(b, x, offsets), heads));
  const Typed lengths = b.subtract(b.part(sums, 0, 1, INT64_MAX), b.part(sums, 0, 0, -1));
  // The lengths are a mask that the node has no input for.
  const size_t mask = bias + 1;
  const Attended result =
      masked_attention(node.with_input(mask, lengths), all[0], all[1], all[2], mask, bias, b.scalar(DType::Int64, 0));
  return unpadded(b, from_heads(b, result.result), offsets, tokens[0].dim(0));
}

}  // namespace

// input [batch, time, width], how many tokens each sequence has
Results convert_remove_padding(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const Typed counts = b.cast(node.input(1), DType::Int64);
  const Typed flat = b.positions(x.dim(0) * x.dim(1));
  const Typed is_token = b.call("less", {b.positions(x.dim(1)), b.unsqueeze(counts, 1)});
  const Typed flags =
      b.reshape(b.call("broadcast_to", {is_token, b.shape({x.dim(0), x.dim(1)})}), {x.dim(0) * x.dim(1)});
  const auto those = [&](const Typed& which, const char* name) {
    return b.builtin("compress", {flat, which, b.prim(0)}, tensor_info(DType::Int64, Dims{make_sym_var(name)}));
  };
  const Typed tokens = those(flags, "tokens");
  const Typed parts[] = {tokens, those(b.call("logical_not", {flags}), "padding")};
  const Typed order = b.match(b.call_tuple("concat", parts, {{"axis", int64_t{0}}}),
                              tensor_info(DType::Int64, Dims{x.dim(0) * x.dim(1)}));
  const Typed rows = b.reshape(x, {x.dim(0) * x.dim(1), x.dim(2)});
  const Typed zero[] = {b.integers({0}), b.call("cumsum", {counts}, {{"axis", int64_t{0}}})};
  const auto narrow = [&](const Typed& t) { return b.cast(t, DType::Int32); };
  return {b.gather(rows, tokens, 0), narrow(b.reshape(order, {x.dim(0), x.dim(1)})),
          narrow(b.call_tuple("concat", zero, {{"axis", int64_t{0}}})),
          narrow(b.call("max", {counts}, {{"axis", std::vector<int64_t>{0}}, {"keepdims", true}}))};
}

Results convert_restore_padding(const Node& node) { return {padded(node.builder(), node.input(0), node.input(1))}; }

// input [tokens, width], weights, bias, rows of the places, sums of the lengths, attention bias
Results convert_packed_attention(const Node& node) {
  auto& b = node.builder();
  const Typed all = b.add(b.call("matmul", {node.input(0), node.input(1)}), node.input(2));
  auto sizes = node.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>{});
  if (sizes.size() != 3) {
    const auto width = all.dim(1).as_const();
    if (!width) fail(ErrorCode::Unsupported, "the width of the weights must be known, it is {}", to_text(all.dim(1)));
    sizes.assign(3, *width / 3);
  }
  std::vector<Typed> tokens;
  for (int64_t i = 0, begin = 0; i < 3; begin += sizes[static_cast<size_t>(i++)])
    tokens.push_back(b.part(all, 1, begin, begin + sizes[static_cast<size_t>(i)]));
  return {packed(node, tokens, 3, 5)};
}

// query [tokens, width] or [tokens, heads, 3, width], key, value, bias, rows of the places, sums of the lengths,
// attention bias
Results convert_packed_multi_head_attention(const Node& node) {
  auto& b = node.builder();
  std::vector<Typed> tokens;
  for (int64_t i = 0; i < 3; ++i) {
    if (node.has(1)) {
      tokens.push_back(node.input(static_cast<size_t>(i)));
    } else {
      const Typed part = b.squeeze(b.part(node.input(0), 2, i, i + 1), 2);
      tokens.push_back(b.reshape(part, {part.dim(0), part.dim(1) * part.dim(2)}));
    }
  }
  if (node.has(3)) {
    int64_t begin = 0;
    for (auto& x : tokens) {
      const auto width = x.dim(1).as_const();
      if (!width) fail(ErrorCode::Unsupported, "a bias for operands {}", to_text(x.info));
      x = b.add(x, b.part(node.input(3), 0, begin, begin + *width));
      begin += *width;
    }
  }
  return {packed(node, tokens, 4, 6)};
}

}  // namespace ingot::onnx_import
