#include "compiler/transform/prim_func_table.h"

#include "runtime/tir/same_func.h"

namespace ingot::transform {

std::string PrimFuncTable::add(const tir::PrimFuncRef& func, const ir::Span& span) {
  auto& alike = by_hash_[tir::hash_func(*func)];
  for (const auto& [name, known] : alike)
    if (tir::same_func(*known, *func)) return name;
  const std::string name = module_->fresh_name(func->name);
  auto named = std::make_shared<tir::PrimFunc>(*func);
  named->name = name;
  module_->set({name, nullptr, std::move(named), false, span});
  alike.emplace_back(name, func);
  return name;
}

}  // namespace ingot::transform
