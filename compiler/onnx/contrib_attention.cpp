#include "compiler/onnx/contrib_attention.h"

#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

// A mask as a bias: of keys [batch, keys], of queries and keys [batch, queries, keys], of all [batch, 1, queries,
// keys]; or the number of keys [batch], or where they end and then where they begin [2 * batch].
Typed padding_bias(const Node& node, const Typed& mask, const Typed& k, DType dtype) {
  auto& b = node.builder();
  const Typed whole = b.cast(mask, DType::Int64), zero = b.scalar(DType::Int64, 0);
  const double masked = node.number("mask_filter_value", -10000);
  const auto spread = [&](const Typed& x, int64_t count) {
    return b.call("expand_dims", {x}, {{"axis", int64_t{1}}, {"num_newaxis", count}});
  };
  if (whole.rank() > 1)
    return bias_where(b,
                      b.call("greater", {whole.rank() == 4 ? whole : spread(whole, whole.rank() == 2 ? 2 : 1), zero}),
                      dtype, masked);
  const Typed place = b.positions(k.dim(2));
  const auto count = whole.dim(0).as_const(), batch = k.dim(0).as_const();
  if (!count || !batch || *count == *batch)
    return bias_where(b, b.call("less", {place, spread(whole, 3)}), dtype, masked);
  // Behind the numbers of keys come sums of them and of the queries, which say the same.
  if (*count == 3 * *batch + 2)
    return bias_where(b, b.call("less", {place, spread(b.part(whole, 0, 0, *batch), 3)}), dtype, masked);
  if (*count != 2 * *batch)
    fail(ErrorCode::ShapeMismatch, "a mask of {} numbers for {} batches; it has one, two or three for each", *count,
         *batch);
  const Typed end = spread(b.part(whole, 0, 0, *batch), 3), begin = spread(b.part(whole, 0, *batch, *count), 3);
  const Typed seen = b.call("logical_and", {b.call("less", {place, end}), b.call("greater_equal", {place, begin})});
  return bias_where(b, seen, dtype, masked);
}

// A cache [batch * beams, heads, room, width] whose places below `length` are read from the rows of other beams.
Typed of_beams(GraphBuilder& b, const Typed& cache, const Typed& beams, const Typed& length) {
  const auto count = beams.dim(1).as_const();
  if (!count || *count < 1)
    fail(ErrorCode::Unsupported, "the number of beams must be known, it is {}", to_text(beams.info));
  const auto width = static_cast<double>(*count);
  const Dims places = {cache.dim(0), cache.dim(2)};
  const Typed own = b.unsqueeze(b.positions(cache.dim(0)), 1), place = b.positions(cache.dim(2));
  const Typed first = b.call("multiply", b.call("floor_divide", own, width), width);
  const Typed other = b.add(b.reshape(b.cast(beams, DType::Int64), places), first);
  const Typed row = b.call("where", {b.call("less", {place, length}), other, own});
  const Typed index[] = {b.unsqueeze(row, 2), b.unsqueeze(b.call("broadcast_to", {place, b.shape(places)}), 2)};
  const Typed whole = b.transpose(cache, {0, 2, 1, 3});
  return b.transpose(b.call("gather_nd", {whole, b.call_tuple("concat", index, {{"axis", int64_t{2}}})}), {0, 2, 1, 3});
}

}  // namespace

Attended masked_attention(const Node& node, const Typed& q, const Typed& k, const Typed& v, size_t mask, size_t bias,
                          const Typed& before, bool last_sees_all) {
  auto& b = node.builder();
  AttentionOptions options{.scale = attention_scale(node, q)};
  if (node.has(mask)) options.biases.push_back(padding_bias(node, node.input(mask), k, q.dtype()));
  if (node.has(bias)) options.biases.push_back(node.input(bias));
  if (node.flag("unidirectional")) {
    Typed order = window_bias(b, q.dim(2), k.dim(2), before, q.dtype(), -1, 0);
    if (last_sees_all) {
      const Typed last = b.tensor_of({q.dim(2) - 1}, 0);
      const Typed is_last = b.unsqueeze(b.call("equal", {b.positions(q.dim(2)), last}), 1);
      order = b.call("where", {is_last, b.scalar(q.dtype(), 0), order});
    }
    options.biases.push_back(order);
  }
  return attend(b, q, k, v, options);
}

Cached appended(GraphBuilder& b, const Typed& past, const Typed& now) {
  const Typed all = joined(b, past, now);
  return {all, all};
}

Cached buffered(GraphBuilder& b, const Typed& past, const Typed& now, const Typed& length,
                const std::optional<Typed>& beams) {
  const Typed count = b.tensor_of({now.dim(2)}, 0), place = b.positions(past.dim(2));
  const Typed behind = b.subtract(place, length), end = b.add(length, count);
  const Typed fits = b.call("minimum", {b.call("maximum", behind, 0.0), b.call("subtract", count, 1.0)});
  const Typed fresh = now.dim(2).is_const(1) ? now : b.gather(now, fits, 2);
  const Typed is_new = b.call("logical_and", {b.call("greater_equal", behind, 0.0), b.call("less", {behind, count})});
  Cached result;
  result.present = b.call("where", {b.unsqueeze(is_new, 1), fresh, past});
  const Typed all = beams ? of_beams(b, result.present, *beams, length) : result.present;
  result.used = b.builtin(
      "slice", {all, b.integers({0}), b.call("expand_dims", {end}, {{"axis", int64_t{0}}}), b.integers({2}), b.none()},
      tensor_info(all.dtype(), Dims{all.dim(0), all.dim(1), PrimExpr(make_sym_var("keys")), all.dim(3)}));
  return result;
}

}  // namespace ingot::onnx_import
