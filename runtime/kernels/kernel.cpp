#include "runtime/kernels/kernel.h"

#include <array>

#include "runtime/base/error.h"
#include "runtime/kernels/check.h"

namespace ingot {

#define CONTRACT(name, check, channels_last, post_ops, summary) \
  void check(const Problem&);                                   \
  bool channels_last(const KernelCall&, size_t);
#define KERNEL(contract, variant, needs, accepts, make) \
  bool accepts(const Problem&);                         \
  std::unique_ptr<Kernel> make(const Problem&);
#include "runtime/kernels/kernels.def"

bool accept_always(const Problem&) { return true; }

namespace {

struct ContractRow {
  void (*check)(const Problem&);
  bool (*channels_last)(const KernelCall&, size_t);
  bool post_ops;
};

constexpr ContractRow kContracts[] = {
#define CONTRACT(name, check, channels_last, post_ops, summary) {check, channels_last, post_ops},
#define KERNEL(...)
#include "runtime/kernels/kernels.def"
};

constexpr KernelVariant kVariants[] = {
#define CONTRACT(...)
#define KERNEL(contract, variant, needs, accepts, make) {Contract::contract, #variant, Cpu::needs, accepts, make},
#include "runtime/kernels/kernels.def"
};

}  // namespace

std::span<const KernelVariant> kernel_variants(Contract contract) {
  size_t first = 0;
  while (first < std::size(kVariants) && kVariants[first].contract != contract) ++first;
  size_t last = first;
  while (last < std::size(kVariants) && kVariants[last].contract == contract) ++last;
  return {kVariants + first, last - first};
}

PreparedKernel prepare_kernel(const Problem& problem, std::string_view variant) {
  check_common(problem);
  const Contract contract = problem.call->contract;
  kContracts[static_cast<size_t>(contract)].check(problem);
  const auto variants = kernel_variants(contract);
  // The last variant is the reference, whatever its name.
  if (variant == "reference") variant = variants.back().name;
  bool exists = variant.empty();
  for (const KernelVariant& candidate : variants) {
    if (!variant.empty() && candidate.name != variant) continue;
    exists = true;
    if (candidate.needs > problem.cpu || !candidate.accepts(problem)) continue;
    if (auto kernel = candidate.make(problem)) return {std::move(kernel), candidate.name};
  }
  if (!exists) fail(ErrorCode::Unsupported, "{}: there is no variant '{}'", contract_name(contract), variant);
  fail(ErrorCode::Unsupported, "{}: {} does not take this call", contract_name(contract),
       variant.empty() ? "any variant" : variant);
}

bool takes_channels_last(Contract contract, size_t operand, const KernelCall& call) {
  const auto index = static_cast<size_t>(contract);
  return index < kContractCount && kContracts[index].channels_last(call, operand);
}

bool takes_post_ops(Contract contract) {
  const auto index = static_cast<size_t>(contract);
  return index < kContractCount && kContracts[index].post_ops;
}

}  // namespace ingot
