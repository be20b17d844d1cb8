#include "runtime/kernels/kernel_call.h"

#include <algorithm>
#include <array>

#include "runtime/base/error.h"

namespace ingot {
namespace {

constexpr std::string_view kContractNames[] = {
#define CONTRACT(name, ...) #name,
#define KERNEL(...)
#include "runtime/kernels/kernels.def"
};
static_assert(std::size(kContractNames) == kContractCount);

const Attribute* find(const KernelCall& call, std::string_view name) {
  for (const NamedAttribute& attribute : call.attributes)
    if (attribute.name == name) return &attribute.value;
  return nullptr;
}

template <typename T>
T read(const KernelCall& call, std::string_view name, T fallback, std::string_view type) {
  const Attribute* found = find(call, name);
  if (!found) return fallback;
  if (const T* value = std::get_if<T>(found)) return *value;
  fail(ErrorCode::CorruptFile, "{}: attribute '{}' is not {}", contract_name(call.contract), name, type);
}

}  // namespace

std::string_view contract_name(Contract contract) {
  const auto index = static_cast<size_t>(contract);
  return index < kContractCount ? kContractNames[index] : "unknown contract";
}

std::string_view post_op_name(PostOpKind kind) {
  constexpr std::array<std::string_view, kPostOpKindCount> kNames = {"relu", "leaky_relu", "clip", "sigmoid",
                                                                     "tanh", "gelu",       "add"};
  const auto index = static_cast<size_t>(kind);
  return index < kNames.size() ? kNames[index] : "unknown post-op";
}

int64_t KernelCall::integer(std::string_view name, int64_t fallback) const {
  return read<int64_t>(*this, name, fallback, "an integer");
}

double KernelCall::number(std::string_view name, double fallback) const {
  return read<double>(*this, name, fallback, "a number");
}

std::vector<int64_t> KernelCall::integers(std::string_view name, std::vector<int64_t> fallback) const {
  return read<std::vector<int64_t>>(*this, name, std::move(fallback), "a list of integers");
}

void KernelCall::set(std::string name, Attribute value) {
  const auto at = std::lower_bound(attributes.begin(), attributes.end(), name,
                                   [](const NamedAttribute& a, const std::string& b) { return a.name < b; });
  if (at != attributes.end() && at->name == name)
    at->value = std::move(value);
  else
    attributes.insert(at, {std::move(name), std::move(value)});
}

}  // namespace ingot
