#include "runtime/kernels/family_cache.h"

#include <algorithm>
#include <bit>

namespace ingot {
namespace {

std::vector<int64_t> key_of(const Problem& problem) {
  std::vector<int64_t> key = {std::bit_cast<int64_t>(problem.call)};
  for (const auto* operands : {&problem.inputs, &problem.outputs})
    for (const OperandSpec& operand : *operands) {
      key.push_back(static_cast<int64_t>(operand.dims.size()));
      key.push_back(operand.varying);
      key.push_back(std::bit_cast<int64_t>(operand.constant));
      for (size_t d = 0; d < operand.dims.size(); ++d)
        if (!operand.varies(d)) key.push_back(operand.dims[d]);
    }
  return key;
}

}  // namespace

std::shared_ptr<const Family> FamilyCache::get(const Problem& problem,
                                               const std::function<std::shared_ptr<const Family>()>& make) {
  return get(key_of(problem), make);
}

std::shared_ptr<const Family> FamilyCache::get(std::string_view name,
                                               const std::function<std::shared_ptr<const Family>()>& make) {
  // Keys of problems begin with an address.
  Key key = {0};
  key.insert(key.end(), name.begin(), name.end());
  return get(std::move(key), make);
}

std::shared_ptr<const Family> FamilyCache::get(Key key, const std::function<std::shared_ptr<const Family>()>& make) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = families_.find(key); found != families_.end()) return found->second;
  }
  auto made = make();
  const std::scoped_lock lock(mutex_);
  return families_.emplace(std::move(key), std::move(made)).first->second;
}

bool varies(const Problem& problem) {
  const auto any = [](const OperandSpec& operand) { return operand.varying != 0; };
  return std::ranges::any_of(problem.inputs, any) || std::ranges::any_of(problem.outputs, any);
}

}  // namespace ingot
