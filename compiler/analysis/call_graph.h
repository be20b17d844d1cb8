#pragma once
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/module.h"

namespace ingot::analysis {

// Which functions of a module mention which: calls and other uses alike. Positions are those of
// Module::definitions(); names that the module does not define are left out. Linear in the size of the module.
struct CallGraph {
  std::vector<std::vector<size_t>> callees;
  // Functions that reach each other have one component; a component's number is above those of all that it calls.
  std::vector<size_t> component;
  std::vector<bool> recursive;  // does it reach itself?
};

CallGraph build_call_graph(const ir::Module& module);

}  // namespace ingot::analysis
