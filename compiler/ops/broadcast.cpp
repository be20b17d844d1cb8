#include "compiler/ops/broadcast.h"

#include <algorithm>

#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

namespace {

PrimExpr is(const PrimExpr& a, const PrimExpr& b) { return PrimExpr::make(PrimOp::Equal, {a, b}); }
PrimExpr either(const PrimExpr& a, const PrimExpr& b) { return PrimExpr::make(PrimOp::Or, {a, b}); }
PrimExpr choose(const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b) {
  return PrimExpr::make(PrimOp::Select, {condition, a, b});
}

struct Joined {
  PrimExpr dim, checked;
  bool proved;
};

Joined join(const CallSite& call, int64_t from_end, const std::string& x_name, const Joined& x, const Operand& y,
            const PrimExpr& of_y) {
  if (prove_equal(x.dim, of_y) == Proof::Yes || of_y.is_const(1)) return x;
  if (x.dim.is_const(1)) return {of_y, x.proved ? of_y : choose(is(x.checked, 1), of_y, -1), x.proved};
  const bool both_known = x.dim.as_const() && of_y.as_const();
  if (both_known || (prove_equal(x.dim, of_y) == Proof::No && prove_equal(x.dim, 1) == Proof::No &&
                     prove_equal(of_y, 1) == Proof::No))
    call.fail(ErrorCode::ShapeMismatch,
              "dimension {} does not fit: {} has {}, {} has {}; dimensions must be equal or 1", from_end, x_name,
              to_text(x.dim), y.name, to_text(of_y));
  // One constant that is not 1: the other is that, or 1.
  if (x.dim.as_const()) return {x.dim, choose(either(is(of_y, x.dim), is(of_y, 1)), x.checked, -1), false};
  if (of_y.as_const()) return {of_y, choose(either(is(x.checked, of_y), is(x.checked, 1)), of_y, -1), false};
  // The longer of the two occurs once, so that the dimensions of a chain of operators do not double at each.
  return {x.dim.nodes() > of_y.nodes() ? choose(is(of_y, 1), x.dim, of_y) : choose(is(x.dim, 1), of_y, x.dim),
          choose(is(x.checked, 1), of_y, choose(either(is(of_y, 1), is(of_y, x.checked)), x.checked, -1)), false};
}

}  // namespace

Broadcast broadcast(const CallSite& call, std::span<const Operand> operands) {
  size_t rank = 0;
  for (const auto& operand : operands) rank = std::max(rank, operand.rank());
  Broadcast result;
  for (size_t i = 0; i < rank; ++i) {
    const size_t from_end = rank - i;
    Joined joined = {1, 1, true};
    std::string name;
    for (const auto& operand : operands) {
      if (operand.rank() < from_end) continue;
      const PrimExpr& dim = operand.dims()[operand.rank() - from_end];
      if (name.empty()) {
        joined = {dim, dim, true};
        name = operand.name;
        continue;
      }
      const bool was_one = joined.dim.is_const(1);
      joined = join(call, -static_cast<int64_t>(from_end), name, joined, operand, dim);
      if (was_one) name = operand.name;
    }
    result.dims.push_back(joined.dim);
    result.checked.push_back(joined.checked);
    result.proved = result.proved && joined.proved;
  }
  return result;
}

std::vector<PrimExpr> broadcast_index(std::span<const PrimExpr> dims, std::span<const PrimExpr> index,
                                      std::span<const PrimExpr> result) {
  std::vector<PrimExpr> at;
  const size_t skipped = index.size() - dims.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    const PrimExpr& dim = dims[i];
    if (dim.is_const(1)) {
      at.emplace_back(0);
    } else if (dim.as_const() || same_expr(dim, result[skipped + i])) {
      at.push_back(index[skipped + i]);
    } else {
      at.push_back(choose(is(dim, 1), 0, index[skipped + i]));
    }
  }
  return at;
}

}  // namespace ingot::ops
