#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/ir/expr.h"

namespace ingot::analysis {

// Where the graph bindings of one function of form Parsed are evaluated. A scope is what becomes a sequence: the body
// of a function or a branch of an if, named by its expression; the function's own body is its function.
struct GraphPlacement {
  // Bindings that leave the place where they are written, by the scope at whose start they are evaluated, in the order
  // of the program.
  std::unordered_map<const ir::ExprNode*, std::vector<const ir::Binding*>> moved_to;
  std::unordered_map<const ir::Binding*, const ir::ExprNode*> moved;
};

GraphPlacement place_graph_bindings(const ir::Function& function);

}  // namespace ingot::analysis
