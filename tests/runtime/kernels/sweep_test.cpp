// Every variant of every contract against the reference over many small problems. A contract without a generator in
// cases.cpp fails the test, so that no kernel exists untested.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/runtime/kernels/cases.h"

namespace ingot::test {
namespace {

class Sweep : public testing::TestWithParam<Contract> {};

TEST_P(Sweep, VariantsAgreeWithTheReference) {
  const auto row = case_generators().find(GetParam());
  if (row == case_generators().end()) {
    ASSERT_LE(kernel_variants(GetParam()).size(), 1u) << "no generator for " << contract_name(GetParam());
    return;
  }
  Numbers numbers(42);
  std::set<std::string_view> ran;
  for (int i = 0; i < row->second.cases && !HasFailure(); ++i) {
    KernelCase problem = row->second.generate(numbers);
    problem.threads = i % 16 == 0 ? 2 : 1;
    problem.cpu = i % 2 == 0 ? detect_cpu() : std::min(detect_cpu(), Cpu::Avx2);
    ran.merge(expect_variants_agree(problem));
  }
  const auto variants = kernel_variants(GetParam());
  for (const KernelVariant& variant : variants)
    EXPECT_TRUE(ran.contains(variant.name) || variant.needs > detect_cpu() || &variant == &variants.back())
        << variant.name << " took no case";
}

std::vector<Contract> all_contracts() {
  std::vector<Contract> contracts;
  for (size_t i = 0; i < kContractCount; ++i) contracts.push_back(static_cast<Contract>(i));
  return contracts;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Sweep, testing::ValuesIn(all_contracts()),
                         [](const auto& param) { return std::string(contract_name(param.param)); });

}  // namespace
}  // namespace ingot::test
