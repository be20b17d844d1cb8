#include <algorithm>

#include <fmt/format.h>

#include "compiler/analysis/inference.h"
#include "compiler/ops/ops.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::analysis {

using namespace ir;

namespace {

// Can the shapes be broadcast to one another, as far as they are known?
bool may_broadcast(const StructInfo& a, const StructInfo& b) {
  if (!a->dims || !b->dims) return true;
  const size_t shared = std::min(a->dims->size(), b->dims->size());
  for (size_t i = 1; i <= shared; ++i) {
    const auto x = (*a->dims)[a->dims->size() - i].as_const();
    const auto y = (*b->dims)[b->dims->size() - i].as_const();
    if (x && y && *x != *y && *x != 1 && *y != 1) return false;
  }
  return true;
}

// Does the relation hold whatever the shape variables are?
bool is_proved(const std::string& relation, const StructInfo& a, const StructInfo& b) {
  if (relation == "Identity")
    return is_compatible(a, b) == Compatibility::Compatible && is_compatible(b, a) == Compatibility::Compatible;
  if (!a->dims || !b->dims) return false;
  for (size_t i = 1; i <= std::min(a->dims->size(), b->dims->size()); ++i) {
    const PrimExpr &x = (*a->dims)[a->dims->size() - i], &y = (*b->dims)[b->dims->size() - i];
    if (!x.is_const(1) && !y.is_const(1) && prove_equal(x, y) != Proof::Yes) return false;
  }
  return true;
}

}  // namespace

// Relations of a `where` clause between tensors; false, after an error, where one certainly does not hold.
bool Inference::check_relation(const std::string& relation, const StructInfo& a, const StructInfo& b,
                               const Span& span) {
  if (!is_known(a) || !is_known(b)) return true;
  for (const StructInfo& info : {a, b})
    if (info->kind != InfoKind::Tensor) {
      diagnostics_->error(ErrorCode::TypeError, span,
                          fmt::format("{}: an argument is {}, expected a tensor", relation, to_text(info)));
      return false;
    }
  if (relation == "Broadcast" ? may_broadcast(a, b) : is_compatible(a, b) != Compatibility::Incompatible) return true;
  const bool dtypes_differ = a->dtype != DType::None && b->dtype != DType::None && a->dtype != b->dtype;
  diagnostics_->error(dtypes_differ && relation == "Identity" ? ErrorCode::TypeError : ErrorCode::ShapeMismatch, span,
                      fmt::format("{} does not hold between {} and {}", relation, to_text(a), to_text(b)));
  return false;
}

bool Inference::is_relation(const std::string& relation, const Span& span) {
  if (relation == "Broadcast" || relation == "Identity") return true;
  diagnostics_->error(ErrorCode::TypeError, span, fmt::format("there is no type relation {}", relation),
                      "relations are Broadcast and Identity");
  return false;
}

// The same of the arguments of one call.
bool Inference::check_relations(const Call& e, const Function& f, const std::vector<Expr>& args) {
  for (const std::string& relation : f.where) {
    if (!is_relation(relation, place(e.span))) return false;
    for (size_t i = 0; i < args.size(); ++i)
      for (size_t k = i + 1; k < args.size(); ++k)
        if (!check_relation(relation, args[i]->info, args[k]->info, place(e.span))) return false;
  }
  return true;
}

// The body behind checks of what the `where` clause says of the parameters, as far as only the run tells.
Expr Inference::with_relations(const Function& f, Expr body) {
  std::vector<Binding> checks;
  const Context outer = context_;
  context_.into = &checks;
  context_.dataflow = false;
  for (const std::string& relation : f.where) {
    if (uncalled_ || !is_relation(relation, place(f.span))) break;
    for (size_t i = 0; i < f.params.size(); ++i)
      for (size_t k = i + 1; k < f.params.size(); ++k) {
        const VarRef &a = f.params[i], &b = f.params[k];
        if (!check_relation(relation, a->info, b->info, place(f.span))) continue;
        if (!is_known(a->info) || !is_known(b->info) || is_proved(relation, a->info, b->info)) continue;
        std::vector<Expr> args = {typed(std::make_shared<String>(relation, place(f.span)), object_info()), a, b};
        const auto op = std::make_shared<OpExpr>(ops::find("call_builtin"), place(f.span));
        bind_value(typed(std::make_shared<Call>(op, std::move(args), Attrs{{"name", std::string("require_relation")}},
                                                std::vector<StructInfo>{}, place(f.span)),
                         object_info()));
      }
  }
  context_ = outer;
  if (checks.empty()) return body;
  const Seq& seq = *as<Seq>(body);
  std::vector<BindingBlock> blocks = seq.blocks;
  if (blocks.empty() || blocks.front().dataflow) blocks.insert(blocks.begin(), BindingBlock{false, {}});
  auto& bindings = blocks.front().bindings;
  bindings.insert(bindings.begin(), checks.begin(), checks.end());
  return typed(std::make_shared<Seq>(std::move(blocks), seq.body, seq.span), body->info);
}

}  // namespace ingot::analysis
