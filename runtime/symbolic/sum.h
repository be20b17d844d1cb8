#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/symbolic/prim_expr.h"

// The normal form behind simplifier and prover: a constant plus products of atoms with constant coefficients. An atom
// is a variable or anything that is not a sum or product of others, with operands in canonical form.
namespace ingot {

struct Term {
  int64_t coefficient;            // not 0
  std::vector<PrimExpr> factors;  // sorted, not empty
};

struct Sum {
  int64_t constant = 0;
  std::vector<Term> terms;  // sorted by factors, each product of factors once

  bool is_const() const { return terms.empty(); }
  bool is_const(int64_t value) const { return terms.empty() && constant == value; }
};

// The total order of atoms within one simplification, and arithmetic that keeps it. Sums are nullopt where a
// coefficient overflows or where they would grow out of proportion.
class SumAlgebra {
 public:
  // Negative, zero or positive. Zero means the same structure. Variables are ordered by name, those of one name by the
  // order in which they were met.
  int compare(const PrimExpr& a, const PrimExpr& b);
  void meet(const SymVar& var) { rank(var); }

  static Sum of_const(int64_t value) { return {value, {}}; }
  static Sum of_atom(PrimExpr atom);
  std::optional<Sum> add(const Sum& a, const Sum& b);
  std::optional<Sum> subtract(const Sum& a, const Sum& b);
  std::optional<Sum> scale(const Sum& a, int64_t factor) const;
  std::optional<Sum> multiply(const Sum& a, const Sum& b);
  bool same(const Sum& a, const Sum& b);

  // What is left of the factors without those of `divisor`, each as often as it occurs; nullopt where one is missing.
  std::optional<std::vector<PrimExpr>> cancel(const std::vector<PrimExpr>& factors,
                                              const std::vector<PrimExpr>& divisor);
  // Sorted union of both, each as often as it occurs.
  std::vector<PrimExpr> combine(const std::vector<PrimExpr>& a, const std::vector<PrimExpr>& b);
  int compare_factors(const std::vector<PrimExpr>& a, const std::vector<PrimExpr>& b);

  // The expression in canonical spelling. Throws Unsupported where it would be nested too deeply.
  static PrimExpr render(const Sum& sum);

  // Brings terms in any order, with products occurring more than once, into the normal form.
  std::optional<Sum> collect(int64_t constant, std::vector<Term> terms);

 private:
  size_t rank(const SymVar& var);

  std::unordered_map<const SymVarNode*, size_t> ranks_;
};

// The greatest common divisor of all coefficients, without the constant; 0 where there are none.
uint64_t content(const Sum& sum);

}  // namespace ingot
