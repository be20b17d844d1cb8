#pragma once
#include "runtime/symbolic/simplify.h"
#include "runtime/tir/nest.h"

namespace ingot::tir {

// What cannot fault inside of loops whose indices `facts` knows.
class Totality {
 public:
  explicit Totality(const Assumptions& facts) : facts_(facts) {}

  // The value of the index expression always fits, so that it may wrap on the way.
  bool fits(const PrimExpr& expr) const;
  // Has a value wherever its variables have one.
  bool is_total(const PrimExpr& expr) const;
  // The access cannot fault anywhere in the loops around it.
  bool is_total(const Place& place) const;
  // Cannot fault, whether or not its value is asked for.
  bool is_safe(const NestExpr& expr) const;

 private:
  const Assumptions& facts_;
};

}  // namespace ingot::tir
