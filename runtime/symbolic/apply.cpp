#include "runtime/symbolic/apply.h"

#include <algorithm>

#include "runtime/base/checked.h"

namespace ingot {

std::optional<int64_t> apply(PrimOp op, int64_t a, int64_t b) {
  switch (op) {
    case PrimOp::Add:
      return checked_add(a, b);
    case PrimOp::Sub:
      return checked_sub(a, b);
    case PrimOp::Mul:
      return checked_mul(a, b);
    case PrimOp::FloorDiv:
      if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
      return floor_div(a, b);
    case PrimOp::FloorMod:
      if (b == 0) return std::nullopt;
      return b == -1 ? 0 : floor_mod(a, b);
    case PrimOp::Min:
      return std::min(a, b);
    case PrimOp::Max:
      return std::max(a, b);
    case PrimOp::Equal:
      return a == b;
    case PrimOp::NotEqual:
      return a != b;
    case PrimOp::Less:
      return a < b;
    case PrimOp::LessEqual:
      return a <= b;
    default:
      return std::nullopt;
  }
}

}  // namespace ingot
