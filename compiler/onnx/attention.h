#pragma once
#include <optional>
#include <vector>

#include "compiler/onnx/node.h"

// Attention over heads [batch, heads, time, width], the form to which all conversions bring it.
namespace ingot::onnx_import {

// `dim / by`; ShapeMismatch, naming `what`, where it does not divide a known dimension.
PrimExpr divided(const PrimExpr& dim, int64_t by, std::string_view what);

// An attribute that counts heads, `fallback` where it is missing; InvalidArgument where it cannot be one.
int64_t head_count(const Node& node, std::string_view name, int64_t fallback);

// [batch, time, heads * width] to [batch, heads, time, width], which stays as it is.
Typed to_heads(GraphBuilder& b, const Typed& x, int64_t heads);
// [batch, heads, time, width] to [batch, time, heads * width].
Typed from_heads(GraphBuilder& b, const Typed& x);
// Keys or values of the past with those of now behind them.
Typed joined(GraphBuilder& b, const Typed& past, const Typed& now);
// x spread to rank 4: dimensions of 1 behind its own.
Typed over_heads(GraphBuilder& b, const Typed& x);

// 0 where the condition holds, else `masked`.
Typed bias_where(GraphBuilder& b, const Typed& condition, DType dtype, double masked);
// A scores' bias: a query of place p sees the key of place k where p - left <= k <= p + right; a negative bound is
// none. `before` keys come ahead of the first query: an int64 scalar, or one number for each batch [batch, 1, 1, 1].
Typed window_bias(GraphBuilder& b, const PrimExpr& queries, const PrimExpr& keys, const Typed& before, DType dtype,
                  int64_t left, int64_t right);

struct AttentionOptions {
  double scale = 1;
  double softcap = 0;  // 0: none
  // Added to the scores, after the softcap.
  std::vector<Typed> biases = {};
  // May the biases be -infinity for all keys of a query? Its weights are 0 then.
  bool may_see_nothing = false;
  // What the weights are computed in; as the scores where it is not given.
  std::optional<DType> precision = {};
  // A score beside those of the keys that draws weight to nothing, [1, heads, 1, 1] or a scalar.
  std::optional<Typed> sink = {};
  // Applied to scores and weights.
  std::function<Typed(const Typed&)> change_scores = {}, change_weights = {};
};
struct Attended {
  Typed scores, capped, biased, weights, result;
};
// Heads of keys and values may be fewer than those of queries, and are shared then.
Attended attend(GraphBuilder& b, const Typed& q, const Typed& k, const Typed& v, const AttentionOptions& options);
// Attribute scale, or 1 / sqrt(width) of the heads.
double attention_scale(const Node& node, const Typed& q);

// x [batch, time, heads, width] turned by angles; cosine and sine [batch or 1, time, rotated / 2]. `width` of the
// first numbers of each head are turned, all where it is 0.
Typed rotated(GraphBuilder& b, const Typed& x, const Typed& cosine, const Typed& sine, int64_t width, bool interleaved);

}  // namespace ingot::onnx_import
