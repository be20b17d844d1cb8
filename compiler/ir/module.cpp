#include "compiler/ir/module.h"

#include <fmt/format.h>

namespace ingot::ir {

const Definition* Module::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &definitions_[found->second];
}

void Module::set(Definition definition) {
  const auto [at, added] = index_.try_emplace(definition.name, definitions_.size());
  if (added)
    definitions_.push_back(std::move(definition));
  else
    definitions_[at->second] = std::move(definition);
}

void Module::erase(std::string_view name) {
  const auto found = index_.find(name);
  if (found == index_.end()) return;
  const size_t position = found->second;
  definitions_.erase(definitions_.begin() + static_cast<ptrdiff_t>(position));
  index_.erase(found);
  for (auto& [other, at] : index_)
    if (at > position) --at;
}

std::string Module::fresh_name(std::string_view stem) {
  std::string name(stem);
  if (!index_.contains(name)) return name;
  size_t& tried = tried_[name];
  do name = fmt::format("{}_{}", stem, ++tried);
  while (index_.contains(name));
  return name;
}

}  // namespace ingot::ir
