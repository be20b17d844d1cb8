#pragma once
#include <functional>
#include <unordered_map>

#include "compiler/ir/expr.h"

namespace ingot::analysis {

// A copy of a function with variables of its own. Symbolic variables stay, but for what `map_info` (may be null) makes
// of annotations, casts and StructInfo arguments. Parameters take the annotations of `params` where those are not null.
// `origin` gets, for each new variable, the old one, through earlier copies back to the program's. Nothing inferred is
// copied.
ir::FunctionRef copy_function(const ir::Function& function,
                              const std::function<StructInfo(const StructInfo&)>& map_info,
                              const std::vector<StructInfo>& params,
                              std::unordered_map<const ir::Var*, const ir::Var*>& origin);

}  // namespace ingot::analysis
