#pragma once
#include <functional>
#include <span>

#include "runtime/tir/prim_func.h"

namespace ingot::jit {

// A function of f32 that the generator knows, and what it should give: from libm, and, fast enough for all floats, from
// SLEEF, four lanes at a time. Both err by a few units in the last place of a double.
struct ExactFunction {
  const char* name;
  tir::ExprOp op;
  std::function<double(double)> exact;
  // Of a multiple of four numbers. AVX2 is needed.
  void (*exact_lanes)(std::span<const float> x, std::span<double> y);
  double power = 0;  // of Pow
};
std::span<const ExactFunction> exact_functions();
void exact_pow(std::span<const float> x, std::span<const float> power, std::span<double> y);

// The distance in units of the last place of the true value as a float. Infinite where one is NaN and the other is
// not, where an infinity is missing or too much, and between zeros of different signs.
double ulps(float got, double exact);

struct Worst {
  double distance = 0;
  float x = 0;
  void add(float at, double other) {
    if (other <= distance) return;
    distance = other;
    x = at;
  }
};
// Adds the distances of all numbers, a multiple of four, but for those that are rounded right. AVX2 is needed.
void add_ulps(std::span<const float> x, std::span<const float> got, std::span<const double> exact, Worst& worst);

}  // namespace ingot::jit
