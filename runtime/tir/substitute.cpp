#include "runtime/tir/substitute.h"

#include "runtime/tir/walk.h"

namespace ingot::tir {
namespace {

Rewrite indices_by(const Substitution& substitution) {
  Rewrite how;
  how.index = [&substitution](const PrimExpr& index) { return ingot::substitute(index, substitution); };
  return how;
}

}  // namespace

Expr substitute(const Expr& expr, const Substitution& substitution) { return rewrite(expr, indices_by(substitution)); }

std::vector<Stmt> substitute(const std::vector<Stmt>& body, const Substitution& substitution) {
  return rewrite(body, indices_by(substitution));
}

PrimFunc substitute(const PrimFunc& func, const Substitution& substitution) {
  PrimFunc result = func;
  for (Buffer& buffer : result.buffers)
    for (PrimExpr& dim : buffer.dims) dim = ingot::substitute(dim, substitution);
  result.body = substitute(func.body, substitution);
  return result;
}

}  // namespace ingot::tir
