#pragma once
#include "compiler/onnx/attention.h"

// What the attention operators of com.microsoft share. What their masks hide gets mask_filter_value, a finite number.
namespace ingot::onnx_import {

// Attention from heads, with the mask and the bias at these inputs, where they are given. `before`: how many keys come
// ahead of the first query, an int64 scalar. `last_sees_all`: unidirectional hides nothing from the last query, as
// ONNX Runtime has it where keys and queries are of different numbers.
Attended masked_attention(const Node& node, const Typed& q, const Typed& k, const Typed& v, size_t mask, size_t bias,
                          const Typed& before, bool last_sees_all = false);

// Keys or values of the past, of those up to now, and as the operator gives them back.
struct Cached {
  Typed used, present;
};
// `past` is as long as what it holds.
Cached appended(GraphBuilder& b, const Typed& past, const Typed& now);
// `past` is a buffer with room: its first `length` places are taken, an int64 scalar. With `beams` [batch, beam, room],
// a place of the past is read from the row of that beam.
Cached buffered(GraphBuilder& b, const Typed& past, const Typed& now, const Typed& length,
                const std::optional<Typed>& beams);

}  // namespace ingot::onnx_import
