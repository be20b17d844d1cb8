#include "compiler/ops/call.h"

#include "compiler/ops/ops.h"
#include "runtime/base/convert.h"

namespace ingot::ops {

using namespace ir;

Expr make_call(std::string_view op, std::vector<Expr> args, Attrs attrs) {
  return std::make_shared<Call>(std::make_shared<OpExpr>(find(op), Span{}), std::move(args), std::move(attrs),
                                std::vector<StructInfo>{}, Span{});
}

Expr make_tuple(std::vector<Expr> fields) { return std::make_shared<Tuple>(std::move(fields), Span{}); }

Expr field(Expr tuple, size_t index) {
  return std::make_shared<TupleGetItem>(std::move(tuple), static_cast<uint32_t>(index), Span{});
}

std::vector<Expr> field_exprs(const CallSite& call, size_t i) {
  if (call.info(i) == nullptr || call.info(i)->kind != InfoKind::Tuple) return {call.arg(i)};
  if (const auto* tuple = as<Tuple>(call.arg(i))) return tuple->fields;
  std::vector<Expr> result;
  for (size_t k = 0; k < call.info(i)->fields.size(); ++k) result.push_back(field(call.arg(i), k));
  return result;
}

}  // namespace ingot::ops
