#include "compiler/transform/prim_func_table.h"

#include "runtime/tir/text.h"

namespace ingot::transform {

std::string PrimFuncTable::add(const tir::PrimFuncRef& func, const ir::Span& span) {
  auto& same_stem = by_name_[func->name];
  for (const auto& [name, known] : same_stem)
    if (tir::same_func(*known, *func)) return name;
  const std::string name = module_->fresh_name(func->name);
  auto named = std::make_shared<tir::PrimFunc>(*func);
  named->name = name;
  module_->set({name, nullptr, std::move(named), false, span});
  same_stem.emplace_back(name, func);
  return name;
}

}  // namespace ingot::transform
