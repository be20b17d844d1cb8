#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "vm/executable/program.h"

// The words of program text for enumerators.
namespace ingot::vm {

inline constexpr std::array<std::string_view, 11> kKindWords = {
    "any", "Scalar", "Prim", "DType", "Tensor", "Tuple", "Shape", "Closure", "PackedFunc", "String", "Object"};
inline constexpr std::array<std::string_view, 4> kHoldingWords = {"uncounted", "owned", "param", "kept"};

// Of a loop header's register, where None stands for any kind.
constexpr std::string_view kind_word(Kind kind) { return kKindWords[static_cast<size_t>(kind)]; }
constexpr std::string_view holding_word(Holding holding) { return kHoldingWords[static_cast<size_t>(holding)]; }

// The enumerator whose word it is.
template <typename Enum, size_t n>
std::optional<Enum> find_word(const std::array<std::string_view, n>& words, std::string_view word) {
  const auto at = std::ranges::find(words, word);
  if (at == words.end()) return std::nullopt;
  return static_cast<Enum>(at - words.begin());
}

// A name that needs no quotes.
constexpr bool is_word(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}

}  // namespace ingot::vm
