#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ingot {

struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

// How a tensor differs from what is expected.
struct Comparison {
  size_t elements = 0;
  size_t mismatches = 0;
  // The first mismatch in row-major order.
  std::vector<int64_t> first;
  std::string first_actual;
  std::string first_expected;
  // Over all elements, matching or not: |actual - expected|, and that divided by |expected| (where that is not 0).
  // Infinite where one element is infinite or NaN and the other is something else. 0 for booleans and strings.
  double max_abs = 0;
  double max_rel = 0;

  bool matches() const { return mismatches == 0; }
};

// Floats match where |actual - expected| <= atol + rtol * |expected|; NaN matches NaN, an infinity matches itself.
// Integers, booleans and strings match exactly. Throws TypeError, naming both, where the dtypes differ, ShapeMismatch
// where the shapes do.
Comparison compare_tensors(const TensorObject& actual, const TensorObject& expected, Tolerance tolerance);

// "all 6 elements match (largest error 1e-07, relative 2e-07)" or "2 of 6 elements differ: the first at (0, 2) is 1.5
// and should be 1.25; largest error 0.25, relative 0.2".
std::string comparison_text(const Comparison& comparison);

}  // namespace ingot
