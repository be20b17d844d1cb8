#pragma once
#include <optional>
#include <string_view>

#include "compiler/ir/expr.h"

namespace ingot::text {

// The dtype that a literal's suffix names ("f" is float32); nullopt for "" and what is no suffix.
std::optional<DType> literal_dtype(std::string_view suffix);

// A rank-0 tensor of `dtype` with the value of an integer or decimal as written ("300", "1e3", "inf"). Nullopt where it
// is out of the dtype's range or a decimal for an integer dtype.
Ref<TensorObject> parse_literal(std::string_view text, bool negative, DType dtype);

// Stores the value as an element of `dtype`. False as above.
bool store_literal(std::string_view text, bool negative, DType dtype, std::byte* to);

// A rank-0 tensor as an attribute: int64, double or bool; nullopt for other tensors.
std::optional<ir::AttrValue> literal_attribute(const TensorObject& tensor);

}  // namespace ingot::text
