#include "runtime/symbolic/interval.h"

#include <algorithm>

#include "runtime/base/checked.h"

namespace ingot {
namespace {

// Wide enough for every product of two int64 and for sums of infinities.
__extension__ typedef __int128 Wide;
constexpr Wide kInfinity = static_cast<Wide>(1) << 100;

Wide widen_least(Range r) { return has_least(r) ? static_cast<Wide>(r.least) : -kInfinity; }
Wide widen_greatest(Range r) { return has_greatest(r) ? static_cast<Wide>(r.greatest) : kInfinity; }

bool infinite(Wide value) { return value == kInfinity || value == -kInfinity; }

int64_t narrow(Wide value) {
  return static_cast<int64_t>(std::clamp(value, static_cast<Wide>(INT64_MIN), static_cast<Wide>(INT64_MAX)));
}

Wide corner_product(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  return a * b;
}

Wide corner_quotient(Wide a, Wide b) {
  const bool negative = a != 0 && (a < 0) != (b < 0);
  if (infinite(b)) return negative ? -1 : 0;
  if (infinite(a)) return negative ? -kInfinity : kInfinity;
  const Wide quotient = a / b;
  return negative && a % b != 0 ? quotient - 1 : quotient;
}

template <typename Corner>
Range corners(Range a, Range b, Corner corner) {
  const Wide values[] = {corner(widen_least(a), widen_least(b)), corner(widen_least(a), widen_greatest(b)),
                         corner(widen_greatest(a), widen_least(b)), corner(widen_greatest(a), widen_greatest(b))};
  return {narrow(*std::ranges::min_element(values)), narrow(*std::ranges::max_element(values))};
}

}  // namespace

Range hull(Range a, Range b) { return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)}; }

Range add(Range a, Range b) {
  return {narrow(widen_least(a) + widen_least(b)), narrow(widen_greatest(a) + widen_greatest(b))};
}

Range negate(Range a) { return {narrow(-widen_greatest(a)), narrow(-widen_least(a))}; }

Range multiply(Range a, Range b) { return corners(a, b, corner_product); }

Range floor_div(Range a, Range b) {
  const auto by = [&](Range divisor) { return corners(a, divisor, corner_quotient); };
  const Range negative{b.least, std::min<int64_t>(b.greatest, -1)};
  const Range positive{std::max<int64_t>(b.least, 1), b.greatest};
  const bool below = b.least < 0;
  const bool above = b.greatest > 0;
  if (below && above) return hull(by(negative), by(positive));
  if (below) return by(negative);
  return above ? by(positive) : kAnyValue;
}

Range floor_mod(Range a, Range b) {
  if (b.least > 0 && a.least >= 0 && a.greatest < b.least) return a;
  Range result{0, 0};
  if (b.greatest > 0) {
    result.greatest = has_greatest(b) ? b.greatest - 1 : INT64_MAX;
    if (b.least >= 0 && a.least >= 0) result.greatest = std::min(result.greatest, a.greatest);
  }
  if (b.least < 0) result.least = has_least(b) ? b.least + 1 : INT64_MIN;
  return result;
}

Range min(Range a, Range b) { return {std::min(a.least, b.least), std::min(a.greatest, b.greatest)}; }

Range max(Range a, Range b) { return {std::max(a.least, b.least), std::max(a.greatest, b.greatest)}; }

}  // namespace ingot
