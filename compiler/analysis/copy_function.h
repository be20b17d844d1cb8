#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "compiler/ir/expr.h"

namespace ingot::analysis {

// A copy of a function with variables of its own. Symbolic variables stay, but for what `map_info` (may be null) makes
// of annotations, casts and StructInfo arguments. Parameters take the annotations of `params` where those are not null.
// `origin` gets, for each new variable, the old one, through earlier copies back to the program's, and the copy that it
// belongs to. Nothing inferred is copied.
struct Origin {
  const ir::Var* var = nullptr;
  uint32_t copy = 0;                                // 0: the program itself
  auto operator<=>(const Origin&) const = default;  // NOLINT(modernize-use-nullptr): takes the 0 of <=> for a pointer
};
ir::FunctionRef copy_function(const ir::Function& function,
                              const std::function<StructInfo(const StructInfo&)>& map_info,
                              const std::vector<StructInfo>& params, std::unordered_map<const ir::Var*, Origin>& origin,
                              uint32_t copy);

}  // namespace ingot::analysis
