#include "compiler/transform/fuse_loops.h"

#include <algorithm>
#include <map>

#include "runtime/tir/accesses.h"
#include "runtime/tir/builder.h"
#include "runtime/tir/substitute.h"
#include "runtime/tir/walk.h"

namespace ingot::transform {
namespace {

using namespace tir;

bool is_var(const PrimExpr& expr, const SymVar& var) { return expr.op() == PrimOp::Var && expr.var() == var; }

// How a loop uses one buffer.
struct Use {
  bool written = false;
  std::vector<bool> by_iteration;  // dimensions whose index is the loop's in every access
};

std::map<BufferId, Use> uses_of(const For& loop) {
  std::map<BufferId, Use> uses;
  for_each_access(loop.body, [&](BufferId buffer, const std::vector<PrimExpr>& indices, bool is_store) {
    Use& use = uses.try_emplace(buffer, Use{false, std::vector<bool>(indices.size(), true)}).first->second;
    use.written = use.written || is_store;
    for (size_t d = 0; d < indices.size(); ++d)
      use.by_iteration[d] = use.by_iteration[d] && is_var(indices[d], loop.var);
  });
  return uses;
}

bool can_fuse(const For& a, const For& b) {
  if (a.kind != b.kind || a.kind == LoopKind::Reduce || prove_equal(a.extent, b.extent) != Proof::Yes) return false;
  const auto of_a = uses_of(a), of_b = uses_of(b);
  return std::ranges::all_of(of_a, [&](const auto& entry) {
    const auto other = of_b.find(entry.first);
    if (other == of_b.end() || (!entry.second.written && !other->second.written)) return true;
    for (size_t d = 0; d < entry.second.by_iteration.size(); ++d)
      if (entry.second.by_iteration[d] && other->second.by_iteration[d]) return true;
    return false;
  });
}

std::vector<Stmt> fuse(std::vector<Stmt> list) {
  std::stable_partition(list.begin(), list.end(),
                        [](const Stmt& stmt) { return std::holds_alternative<Allocate>(stmt->node); });
  std::vector<Stmt> result;
  for (Stmt& stmt : list) {
    const auto* next = std::get_if<For>(&stmt->node);
    const auto* last = result.empty() ? nullptr : std::get_if<For>(&result.back()->node);
    if (next == nullptr || last == nullptr || !can_fuse(*last, *next)) {
      result.push_back(std::move(stmt));
      continue;
    }
    auto body = last->body;
    const auto moved = tir::substitute(next->body, [&](const SymVar& var) -> std::optional<PrimExpr> {
      if (var != next->var) return std::nullopt;
      return PrimExpr(last->var);
    });
    body.insert(body.end(), moved.begin(), moved.end());
    result.back() = loop(last->var, last->extent, last->kind, std::move(body));
  }
  for (Stmt& stmt : result)
    if (const auto* node = std::get_if<For>(&stmt->node); node != nullptr && node->kind != LoopKind::Reduce)
      stmt = loop(node->var, node->extent, node->kind, fuse(node->body));
  return result;
}

// The loops around every access of a temporary that select one index of a dimension each.
struct Shrinkage {
  std::vector<size_t> dims;
  const For* innermost = nullptr;
};

Shrinkage shrinkage(const PrimFunc& func, BufferId buffer) {
  std::vector<Access> accesses;
  for (Access& access : collect_accesses(func))
    if (access.buffer == buffer) accesses.push_back(std::move(access));
  Shrinkage found;
  for (size_t depth = 0; !accesses.empty(); ++depth) {
    const auto at = [&](const Access& access) { return depth < access.loops.size() ? access.loops[depth] : nullptr; };
    const For* loop = at(accesses[0]);
    if (loop == nullptr || loop->kind == LoopKind::Reduce ||
        !std::ranges::all_of(accesses, [&](const Access& access) { return at(access) == loop; }))
      break;
    std::optional<size_t> dim;
    for (size_t d = 0; d < accesses[0].indices.size() && !dim; ++d)
      if (std::ranges::all_of(accesses, [&](const Access& access) { return is_var(access.indices[d], loop->var); }) &&
          std::ranges::find(found.dims, d) == found.dims.end())
        dim = d;
    if (!dim) break;
    found.dims.push_back(*dim);
    found.innermost = loop;
  }
  return found;
}

std::vector<PrimExpr> without(const std::vector<PrimExpr>& list, const std::vector<size_t>& dims) {
  std::vector<PrimExpr> result;
  for (size_t d = 0; d < list.size(); ++d)
    if (std::ranges::find(dims, d) == dims.end()) result.push_back(list[d]);
  return result;
}

// The statements with fewer indices of `buffer`, which is allocated in `innermost`.
std::vector<Stmt> shrink(const std::vector<Stmt>& body, BufferId buffer, const Shrinkage& by) {
  Rewrite reads;
  reads.expr = [&](const ExprNode& node) -> Expr {
    if (node.op != ExprOp::Load || node.buffer != buffer) return nullptr;
    ExprNode made = node;
    made.indices = without(node.indices, by.dims);
    return std::make_shared<const ExprNode>(std::move(made));
  };
  std::vector<Stmt> result;
  for (const Stmt& stmt : body) {
    if (const auto* allocated = std::get_if<Allocate>(&stmt->node); allocated != nullptr && allocated->buffer == buffer)
      continue;
    if (const auto* node = std::get_if<For>(&stmt->node)) {
      auto inner = shrink(node->body, buffer, by);
      if (node == by.innermost) inner.insert(inner.begin(), allocate(buffer));
      result.push_back(loop(node->var, node->extent, node->kind, std::move(inner)));
    } else if (const auto* choice = std::get_if<If>(&stmt->node)) {
      result.push_back(branch(rewrite(choice->condition, reads), shrink(choice->then_body, buffer, by),
                              shrink(choice->else_body, buffer, by)));
    } else if (const auto* stored = std::get_if<Store>(&stmt->node)) {
      result.push_back(store(stored->buffer,
                             stored->buffer == buffer ? without(stored->indices, by.dims) : stored->indices,
                             rewrite(stored->value, reads)));
    } else {
      const auto made = rewrite(std::span(&stmt, 1), reads);
      result.insert(result.end(), made.begin(), made.end());
    }
  }
  return result;
}

}  // namespace

PrimFunc fuse_loops(PrimFunc func) {
  func.body = fuse(std::move(func.body));
  for (BufferId buffer = func.params; buffer < func.buffers.size(); ++buffer) {
    const Shrinkage by = shrinkage(func, buffer);
    if (by.innermost == nullptr) continue;
    func.body = shrink(func.body, buffer, by);
    func.buffers[buffer].dims = without(func.buffers[buffer].dims, by.dims);
  }
  return func;
}

}  // namespace ingot::transform
