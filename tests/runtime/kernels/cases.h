#pragma once
#include <map>

#include "tests/runtime/kernels/kernel_case.h"

namespace ingot::test {

// Small problems of each contract that has more than one variant.
struct CaseGenerator {
  KernelCase (*generate)(Numbers&);
  int cases;  // how many the sweep tries
};
const std::map<Contract, CaseGenerator>& case_generators();

}  // namespace ingot::test
