#include <cmath>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

// Attention in the forms that exporters write, all brought to heads [batch, heads, time, width].
namespace ingot::onnx_import {
namespace {

Typed positions(GraphBuilder& b, const PrimExpr& count) {
  return b.call("arange", {Typed{std::make_shared<ir::PrimValue>(count, b.span()), prim_info(DType::Int64, count)}});
}

PrimExpr divided(const PrimExpr& dim, int64_t by, std::string_view what) {
  if (by < 1 || (dim.as_const() && *dim.as_const() % by != 0))
    fail(ErrorCode::ShapeMismatch, "{} {} do not divide {}", by, what, to_text(dim));
  return simplify(floor_div(dim, by));
}

// [batch, time, heads * width] to [batch, heads, time, width], and back.
Typed to_heads(GraphBuilder& b, const Typed& x, int64_t heads) {
  if (x.rank() == 4) return x;
  if (x.rank() != 3) fail(ErrorCode::ShapeMismatch, "an operand has rank {}, it must have 3 or 4", x.rank());
  return b.transpose(b.reshape(x, {x.dim(0), x.dim(1), PrimExpr(heads), divided(x.dim(2), heads, "heads")}),
                     {0, 2, 1, 3});
}

Typed from_heads(GraphBuilder& b, const Typed& x) {
  return b.reshape(b.transpose(x, {0, 2, 1, 3}), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

Typed joined(GraphBuilder& b, const Typed& past, const Typed& now) {
  const Typed parts[] = {past, now};
  return b.call_tuple("concat", parts, {{"axis", int64_t{2}}});
}

// Heads of keys and values that several heads of queries share.
Typed for_queries(GraphBuilder& b, const Typed& x, const Typed& queries) {
  const auto have = x.dim(1).as_const(), wanted = queries.dim(1).as_const();
  if (!have || !wanted || *have == *wanted) return x;
  if (*have < 1 || *wanted % *have != 0)
    fail(ErrorCode::ShapeMismatch, "{} heads of keys for {} heads of queries", *have, *wanted);
  return b.call("repeat", {x}, {{"repeats", *wanted / *have}, {"axis", int64_t{1}}});
}

// 0 where the condition holds, else -infinity.
Typed bias_where(GraphBuilder& b, const Typed& condition, DType dtype) {
  return b.call("where", {condition, b.scalar(dtype, 0), b.scalar(dtype, -INFINITY)});
}

// A query sees the keys up to its own place; `before` keys come ahead of the first query. With a window, only so many.
Typed causal_bias(GraphBuilder& b, const PrimExpr& queries, const PrimExpr& keys, const PrimExpr& before, DType dtype,
                  int64_t window = -1) {
  const Typed place = b.unsqueeze(b.add(positions(b, queries), b.tensor_of({before}, 0)), 1);
  const Typed key = positions(b, keys);
  Typed seen = b.call("greater_equal", {place, key});
  if (window > 0)
    seen = b.call("logical_and", {seen, b.call("less", b.subtract(place, key), static_cast<double>(window))});
  return bias_where(b, seen, dtype);
}

struct Scores {
  Typed raw, biased, capped, weights, result;
};

Scores attend(GraphBuilder& b, const Typed& q, const Typed& k, const Typed& v, double scale,
              const std::vector<Typed>& biases, double softcap) {
  Scores s;
  // The scale goes half to each side, so that products stay small.
  const Typed keys = for_queries(b, k, q), values = for_queries(b, v, q);
  const double half = std::sqrt(scale);
  s.raw = b.call("matmul", {b.call("multiply", q, half), b.call("multiply", keys, half)}, {{"transpose_b", true}});
  s.biased = s.raw;
  for (const auto& bias : biases) s.biased = b.add(s.biased, b.cast(bias, s.raw.dtype()));
  s.capped = softcap == 0 ? s.biased
                          : b.call("multiply", b.call("tanh", {b.call("multiply", s.biased, 1 / softcap)}), softcap);
  // Rows of which nothing is seen give 0, not NaN.
  const Typed weights = b.call("softmax", {s.capped}, {{"axis", int64_t{-1}}});
  s.weights =
      biases.empty() ? weights : b.call("where", {b.call("isnan", {weights}), b.scalar(weights.dtype(), 0), weights});
  s.result = b.call("matmul", {s.weights, values});
  return s;
}

double scale_for(const Node& node, const Typed& q) {
  if (const double given = node.number("scale", 0); given != 0) return given;
  const auto width = q.dim(3).as_const();
  if (!width) fail(ErrorCode::Unsupported, "the width of the heads must be known, it is {}", to_text(q.dim(3)));
  return 1 / std::sqrt(static_cast<double>(*width));
}

// x [batch, time, heads, width]; cos and sin [batch or 1, time, rotated / 2].
Typed rotated(GraphBuilder& b, const Typed& x, const Typed& cosine, const Typed& sine, int64_t width,
              bool interleaved) {
  const auto whole = x.dim(3).as_const();
  if (!whole) fail(ErrorCode::Unsupported, "the width of the heads must be known, it is {}", to_text(x.dim(3)));
  if (width == 0) width = *whole;
  const Typed turned = b.part(x, 3, 0, width);
  const auto every = [&](int64_t first) {
    return interleaved ? b.call("strided_slice", {turned},
                                {{"begin", std::vector{first}},
                                 {"end", std::vector{width}},
                                 {"strides", std::vector<int64_t>{2}},
                                 {"axes", std::vector<int64_t>{3}}})
                       : b.part(turned, 3, first * (width / 2), (first + 1) * (width / 2));
  };
  const auto bring = [&](const Typed& t) {
    return b.unsqueeze(b.cast(b.part(t, static_cast<int64_t>(t.rank()) - 1, 0, width / 2), x.dtype()), 2);
  };
  const Typed c = bring(cosine), s = bring(sine), one = every(0), two = every(1);
  const Typed real = b.subtract(b.multiply(c, one), b.multiply(s, two));
  const Typed imaginary = b.add(b.multiply(s, one), b.multiply(c, two));
  Typed result;
  if (interleaved) {
    const Typed parts[] = {b.unsqueeze(real, 4), b.unsqueeze(imaginary, 4)};
    result = b.reshape(b.call_tuple("concat", parts, {{"axis", int64_t{4}}}), turned.dims());
  } else {
    const Typed parts[] = {real, imaginary};
    result = b.call_tuple("concat", parts, {{"axis", int64_t{3}}});
  }
  if (width == *whole) return result;
  const Typed parts[] = {result, b.part(x, 3, width, *whole)};
  return b.call_tuple("concat", parts, {{"axis", int64_t{3}}});
}

Typed rotary(const Node& node, const Typed& x, const Typed& cosine, const Typed& sine) {
  auto& b = node.builder();
  const int64_t width = node.integer("rotary_embedding_dim", 0);
  const bool interleaved = node.flag("interleaved");
  if (x.rank() == 4)
    return b.transpose(rotated(b, b.transpose(x, {0, 2, 1, 3}), cosine, sine, width, interleaved), {0, 2, 1, 3});
  int64_t heads = node.integer("num_heads", 0);
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

Results convert_attention(const Node& node) {
  auto& b = node.builder();
  const bool flat = node.input(0).rank() == 3;
  const Typed q = to_heads(b, node.input(0), node.integer("q_num_heads", 0));
  Typed k = to_heads(b, node.input(1), node.integer("kv_num_heads", 0));
  Typed v = to_heads(b, node.input(2), node.integer("kv_num_heads", 0));
  PrimExpr before = 0;
  if (node.has(4)) {
    before = node.input(4).dim(2);
    k = joined(b, node.input(4), k);
    v = joined(b, node.input(5), v);
  }
  std::vector<Typed> biases;
  if (node.has(3)) {
    const Typed& mask = node.input(3);
    biases.push_back(mask.dtype() == DType::Bool ? bias_where(b, mask, q.dtype()) : mask);
  }
  if (node.flag("is_causal")) biases.push_back(causal_bias(b, q.dim(2), k.dim(2), before, q.dtype()));
  if (node.has(6)) {
    const Typed length = b.call("expand_dims", {b.cast(node.input(6), DType::Int64)},
                                {{"axis", int64_t{1}}, {"num_newaxis", int64_t{3}}});
    biases.push_back(bias_where(b, b.call("less", {positions(b, k.dim(2)), length}), q.dtype()));
  }
  const Scores s = attend(b, q, k, v, scale_for(node, q), biases, node.number("softcap", 0));
  const int64_t mode = node.integer("qk_matmul_output_mode", 0);
  return {flat ? from_heads(b, s.result) : s.result, k, v,
          mode == 0   ? s.raw
          : mode == 1 ? s.biased
          : mode == 2 ? s.capped
                      : s.weights};
}

Results convert_rotary_embedding(const Node& node) {
  auto& b = node.builder();
  Typed cosine = node.input(1), sine = node.input(2);
  if (node.has(3)) {
    cosine = b.call("take", {cosine, node.input(3)}, {{"axis", int64_t{0}}});
    sine = b.call("take", {sine, node.input(3)}, {{"axis", int64_t{0}}});
  }
  return {rotary(node, node.input(0), cosine, sine)};
}

// com.microsoft: the positions are the second input; one number is where each batch begins.
Results convert_ms_rotary_embedding(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  Typed place = b.cast(node.input(1), DType::Int64);
  if (place.rank() == 1) place = b.unsqueeze(b.add(place, positions(b, x.dim(x.rank() == 4 ? 2 : 1))), 0);
  const auto at = [&](size_t i) { return b.call("take", {node.input(i), place}, {{"axis", int64_t{0}}}); };
  return {rotary(node, x, at(2), at(3))};
}

// query, key, value, past key, past value, last key of each batch, total length, cosines, sines
Results convert_group_query_attention(const Node& node) {
  auto& b = node.builder();
  const int64_t heads = node.integer("num_heads", 1), kv_heads = node.integer("kv_num_heads", 1);
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
  const PrimExpr before = node.has(3) ? node.input(3).dim(2) : PrimExpr(0);
  if (node.flag("do_rotary")) {
    const Typed place = b.unsqueeze(b.add(positions(b, q.dim(2)), b.tensor_of({before}, 0)), 0);
    const auto at = [&](size_t i) { return b.call("take", {node.input(i), place}, {{"axis", int64_t{0}}}); };
    const auto turn = [&](const Typed& x) {
      const Typed moved = rotated(b, b.transpose(x, {0, 2, 1, 3}), at(7), at(8), 0, node.flag("rotary_interleaved"));
      return b.transpose(moved, {0, 2, 1, 3});
    };
    q = turn(q);
    k = turn(k);
  }
  if (node.has(3)) {
    k = joined(b, node.input(3), k);
    v = joined(b, node.input(4), v);
  }
  std::vector<Typed> biases = {
      causal_bias(b, q.dim(2), k.dim(2), before, q.dtype(), node.integer("local_window_size", -1))};
  if (node.has(5)) {
    const Typed flat = b.reshape(b.cast(node.input(5), DType::Int64), {q.dim(0)});
    const Typed last = b.call("expand_dims", {flat}, {{"axis", int64_t{1}}, {"num_newaxis", int64_t{3}}});
    biases.push_back(bias_where(b, b.call("less_equal", {positions(b, k.dim(2)), last}), q.dtype()));
  }
  const Scores s = attend(b, q, k, v, scale_for(node, q), biases, node.number("softcap", 0));
  return {from_heads(b, s.result), k, v};
}

namespace {

// A mask of keys [batch, keys] or their numbers [batch], as a bias.
Typed padding_bias(GraphBuilder& b, const Typed& mask, const PrimExpr& keys, DType dtype) {
  const Typed whole = b.cast(mask, DType::Int64);
  const auto spread = [&](const Typed& x, int64_t axis, int64_t count) {
    return b.call("expand_dims", {x}, {{"axis", axis}, {"num_newaxis", count}});
  };
  if (whole.rank() == 1) return bias_where(b, b.call("less", {positions(b, keys), spread(whole, 1, 3)}), dtype);
  if (whole.rank() == 2) return bias_where(b, b.call("greater", spread(whole, 1, 2), 0.0), dtype);
  if (whole.rank() == 3) return bias_where(b, b.call("greater", spread(whole, 1, 1), 0.0), dtype);
  return bias_where(b, b.call("greater", whole, 0.0), dtype);
}

}  // namespace

// com.microsoft: input, weights, bias, mask, past, attention bias
Results convert_ms_attention(const Node& node) {
  auto& b = node.builder();
  const int64_t heads = node.integer("num_heads", 1);
  Typed all = b.call("matmul", {node.input(0), node.input(1)});
  if (node.has(2)) all = b.add(all, node.input(2));
  auto sizes = node.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>{});
  if (sizes.size() != 3) {
    const auto width = all.dim(2).as_const();
    if (!width) fail(ErrorCode::Unsupported, "the width of the weights must be known, it is {}", to_text(all.dim(2)));
    sizes.assign(3, *width / 3);
  }
  const Typed q = to_heads(b, b.part(all, 2, 0, sizes[0]), heads);
  Typed k = to_heads(b, b.part(all, 2, sizes[0], sizes[0] + sizes[1]), heads);
  Typed v = to_heads(b, b.part(all, 2, sizes[0] + sizes[1], sizes[0] + sizes[1] + sizes[2]), heads);
  PrimExpr before = 0;
  if (node.has(4)) {
    const auto past = [&](int64_t i) { return b.squeeze(b.part(node.input(4), 0, i, i + 1), 0); };
    before = node.input(4).dim(3);
    k = joined(b, past(0), k);
    v = joined(b, past(1), v);
  }
  std::vector<Typed> biases;
  if (node.has(3)) biases.push_back(padding_bias(b, node.input(3), k.dim(2), q.dtype()));
  if (node.has(5)) biases.push_back(node.input(5));
  if (node.flag("unidirectional")) biases.push_back(causal_bias(b, q.dim(2), k.dim(2), before, q.dtype()));
  const Scores s = attend(b, q, k, v, scale_for(node, q), biases, 0);
  Results results = {from_heads(b, s.result)};
  if (node.wants(1)) {
    const Typed both[] = {b.unsqueeze(k, 0), b.unsqueeze(v, 0)};
    results.push_back(b.call_tuple("concat", both, {{"axis", int64_t{0}}}));
  }
  return results;
}

// com.microsoft: query, key, value, bias, key mask, attention bias, past key, past value
Results convert_ms_multi_head_attention(const Node& node) {
  auto& b = node.builder();
  const int64_t heads = node.integer("num_heads", 1);
  Typed inputs[3];
  for (size_t i = 0; i < 3; ++i) {
    if (!node.has(i)) fail(ErrorCode::Unsupported, "packed queries, keys and values (input {} is missing)", i);
    inputs[i] = node.input(i);
  }
  if (node.has(3)) {
    int64_t begin = 0;
    for (auto& input : inputs) {
      const auto width = input.rank() == 3 ? input.dim(2).as_const() : std::nullopt;
      if (!width) fail(ErrorCode::Unsupported, "a bias for operands of rank {}", input.rank());
      input = b.add(input, b.part(node.input(3), 0, begin, begin + *width));
      begin += *width;
    }
  }
  const Typed q = to_heads(b, inputs[0], heads);
  Typed k = to_heads(b, inputs[1], heads), v = to_heads(b, inputs[2], heads);
  PrimExpr before = 0;
  if (node.has(6)) {
    before = node.input(6).dim(2);
    k = joined(b, node.input(6), k);
    v = joined(b, node.input(7), v);
  }
  std::vector<Typed> biases;
  if (node.has(4)) biases.push_back(padding_bias(b, node.input(4), k.dim(2), q.dtype()));
  if (node.has(5)) biases.push_back(node.input(5));
  if (node.flag("unidirectional")) biases.push_back(causal_bias(b, q.dim(2), k.dim(2), before, q.dtype()));
  const Scores s = attend(b, q, k, v, scale_for(node, q), biases, 0);
  return {from_heads(b, s.result), k, v};
}

}  // namespace ingot::onnx_import
