#include "compiler/onnx/attention.h"

#include <cmath>

#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::onnx_import {
namespace {

// Heads of keys and values that several heads of queries share.
Typed for_queries(GraphBuilder& b, const Typed& x, const Typed& queries) {
  const auto have = x.dim(1).as_const(), wanted = queries.dim(1).as_const();
  if (!have || !wanted || *have == *wanted) return x;
  if (*have < 1 || *wanted % *have != 0)
    fail(ErrorCode::ShapeMismatch, "{} heads of keys for {} heads of queries", *have, *wanted);
  return b.call("repeat", {x}, {{"repeats", *wanted / *have}, {"axis", int64_t{1}}});
}

// Softmax with one more score that no key has.
Typed softmax_with_sink(GraphBuilder& b, const Typed& scores, const Typed& sink) {
  const Typed column = b.call("broadcast_to", {b.cast(sink, scores.dtype()),
                                               b.shape({scores.dim(0), scores.dim(1), scores.dim(2), PrimExpr(1)})});
  const Typed parts[] = {column, scores};
  const Typed all = b.call("softmax", {b.call_tuple("concat", parts, {{"axis", int64_t{3}}})}, {{"axis", int64_t{-1}}});
  return b.part(all, 3, 1, INT64_MAX);
}

}  // namespace

PrimExpr divided(const PrimExpr& dim, int64_t by, std::string_view what) {
  if (by < 1 || (dim.as_const() && *dim.as_const() % by != 0))
    fail(ErrorCode::ShapeMismatch, "{} {} do not divide {}", by, what, to_text(dim));
  return simplify(floor_div(dim, by));
}

int64_t head_count(const Node& node, std::string_view name, int64_t fallback) {
  constexpr int64_t kMostHeads = 1 << 20;
  return node.integer(name, fallback, 0, kMostHeads);
}

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

Typed over_heads(GraphBuilder& b, const Typed& x) {
  const auto rank = static_cast<int64_t>(x.rank());
  if (rank >= 4) return x;
  return b.call("expand_dims", {x}, {{"axis", rank}, {"num_newaxis", 4 - rank}});
}

Typed bias_where(GraphBuilder& b, const Typed& condition, DType dtype, double masked) {
  return b.call("where", {condition, b.scalar(dtype, 0), b.scalar(dtype, masked)});
}

Typed window_bias(GraphBuilder& b, const PrimExpr& queries, const PrimExpr& keys, const Typed& before, DType dtype,
                  int64_t left, int64_t right) {
  const Typed place = b.add(b.unsqueeze(b.positions(queries), 1), before), key = b.positions(keys);
  std::optional<Typed> seen;
  const auto also = [&](const Typed& condition) {
    seen = seen ? b.call("logical_and", {*seen, condition}) : condition;
  };
  if (right >= 0)
    also(b.call("less_equal", {key, right == 0 ? place : b.call("add", place, static_cast<double>(right))}));
  if (left >= 0) also(b.call("less_equal", {b.call("subtract", place, static_cast<double>(left)), key}));
  return bias_where(b, *seen, dtype, -INFINITY);
}

Attended attend(GraphBuilder& b, const Typed& q, const Typed& k, const Typed& v, const AttentionOptions& options) {
  Attended s;
  // The scale goes half to each side, so that products stay small.
  const Typed keys = for_queries(b, k, q), values = for_queries(b, v, q);
  const double half = std::sqrt(options.scale);
  s.scores = b.call("matmul", {b.call("multiply", q, half), b.call("multiply", keys, half)}, {{"transpose_b", true}});
  const double cap = options.softcap;
  s.capped = cap == 0 ? s.scores : b.call("multiply", b.call("tanh", {b.call("multiply", s.scores, 1 / cap)}), cap);
  s.biased = s.capped;
  std::optional<Typed> bias;
  for (const auto& part : options.biases) {
    const Typed term = b.cast(part, s.scores.dtype());
    bias = bias ? b.add(*bias, term) : term;
  }
  if (bias) s.biased = b.add(s.biased, *bias);
  Typed scores = options.precision ? b.cast(s.biased, *options.precision) : s.biased;
  if (options.change_scores) scores = options.change_scores(scores);
  s.weights =
      options.sink ? softmax_with_sink(b, scores, *options.sink) : b.call("softmax", {scores}, {{"axis", int64_t{-1}}});
  if (bias && options.may_see_nothing) {
    const Typed best = b.call("max", {*bias}, {{"axis", std::vector<int64_t>{-1}}, {"keepdims", true}});
    s.weights = b.call("where", {b.call("greater", best, -INFINITY), s.weights, b.scalar(s.weights.dtype(), 0)});
  }
  if (options.change_weights) s.weights = options.change_weights(s.weights);
  s.result = b.cast(b.call("matmul", {s.weights, b.cast(values, s.weights.dtype())}), v.dtype());
  return s;
}

double attention_scale(const Node& node, const Typed& q) {
  if (const double given = node.number("scale", 0); given != 0) return given;
  const auto width = q.dim(3).as_const();
  if (!width) fail(ErrorCode::Unsupported, "the width of the heads must be known, it is {}", to_text(q.dim(3)));
  return 1 / std::sqrt(static_cast<double>(*width));
}

Typed rotated(GraphBuilder& b, const Typed& x, const Typed& cosine, const Typed& sine, int64_t width,
              bool interleaved) {
  const auto whole = x.dim(3).as_const();
  if (!whole) fail(ErrorCode::Unsupported, "the width of the heads must be known, it is {}", to_text(x.dim(3)));
  if (width == 0) width = *whole;
  if (width % 2 != 0 || width > *whole)
    fail(ErrorCode::ShapeMismatch, "{} numbers of heads of {} cannot be turned in pairs", width, *whole);
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

}  // namespace ingot::onnx_import
