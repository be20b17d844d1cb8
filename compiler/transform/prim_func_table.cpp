#include "compiler/transform/prim_func_table.h"

#include <algorithm>
#include <span>

#include "runtime/tir/checker.h"
#include "runtime/tir/same_func.h"

namespace ingot::transform {
namespace {

bool has_same_names(const tir::PrimFunc& a, const tir::PrimFunc& b) {
  return std::ranges::equal(std::span(a.buffers).first(a.params), std::span(b.buffers).first(b.params), {},
                            &tir::Buffer::name, &tir::Buffer::name);
}

// An index that lies outside is an error that names the buffer.
bool names_matter(const tir::PrimFunc& func) {
  return std::ranges::any_of(tir::prove_bounds(func),
                             [](tir::BoundsProof proof) { return proof == tir::BoundsProof::None; });
}

}  // namespace

std::string PrimFuncTable::add(const tir::PrimFuncRef& func, const ir::Span& span) {
  auto& alike = by_hash_[tir::hash_func(*func)];
  for (const auto& [name, known] : alike)
    if (tir::same_func(*known, *func) && (has_same_names(*known, *func) || !names_matter(*func))) return name;
  const std::string name = module_->fresh_name(func->name);
  auto named = std::make_shared<tir::PrimFunc>(*func);
  named->name = name;
  module_->set({name, nullptr, std::move(named), false, span});
  alike.emplace_back(name, func);
  return name;
}

}  // namespace ingot::transform
