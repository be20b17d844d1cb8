#pragma once
#include "runtime/symbolic/simplify.h"

// Interval arithmetic over mathematical integers. A `least` of INT64_MIN stands for minus infinity and a `greatest` of
// INT64_MAX for plus infinity; results are rounded outwards, so they always contain every value.
namespace ingot {

inline constexpr Range kAnyValue{INT64_MIN, INT64_MAX};
inline constexpr Range kBooleanValue{0, 1};

inline bool has_least(Range r) { return r.least != INT64_MIN; }
inline bool has_greatest(Range r) { return r.greatest != INT64_MAX; }
inline bool contains(Range r, int64_t value) { return r.least <= value && value <= r.greatest; }

Range hull(Range a, Range b);
Range add(Range a, Range b);
Range negate(Range a);
Range multiply(Range a, Range b);
// Of the values that do not fault: a divisor of zero is left out.
Range floor_div(Range a, Range b);
Range floor_mod(Range a, Range b);
Range min(Range a, Range b);
Range max(Range a, Range b);

}  // namespace ingot
