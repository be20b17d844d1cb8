#pragma once
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/module.h"

namespace ingot::transform {

// The private PrimFuncs that a pass adds to a module, each structure once.
class PrimFuncTable {
 public:
  explicit PrimFuncTable(ir::Module& module) : module_(&module) {}

  // The name in the module of a definition with this structure.
  std::string add(const tir::PrimFuncRef& func, const ir::Span& span);

 private:
  ir::Module* module_;
  std::unordered_map<size_t, std::vector<std::pair<std::string, tir::PrimFuncRef>>> by_hash_;
};

}  // namespace ingot::transform
