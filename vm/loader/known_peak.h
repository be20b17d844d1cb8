#pragma once
#include <cstddef>

namespace ingot::vm {

struct FunctionPlan;
struct LinkedFunction;

// How much memory of a session one activation takes.
struct KnownPeak {
  size_t bytes = 0;    // is reached in any case, unless the activation ends early: segment and tensors of the pool
  bool whole = false;  // and never passed: no branches, no calls, no sizes that are found on the way
};

// Of `function`; `plan` has its segment and kernels.
KnownPeak known_peak(const LinkedFunction& function, const FunctionPlan& plan);

}  // namespace ingot::vm
