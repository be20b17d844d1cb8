#pragma once
#include <bit>
#include <cstdint>

namespace ingot {

// IEEE 754 binary16 and bfloat16 as storage: converted to float for arithmetic, rounded to nearest even on the way
// back. Infinities, NaN (payloads may change) and subnormal numbers are kept.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
  friend bool operator==(Half, Half) = default;  // compares bits, not values
};

struct BHalf {
  uint16_t bits = 0;

  BHalf() = default;
  explicit BHalf(float value);
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  friend bool operator==(BHalf, BHalf) = default;  // compares bits, not values
};

}  // namespace ingot
