#include "runtime/tir/disjoint.h"

#include <algorithm>
#include <map>

#include "runtime/tir/accesses.h"

namespace ingot::tir {
namespace {

class LoopAccesses {
 public:
  LoopAccesses(const PrimFunc& func, const FuncFacts& facts, std::span<const For* const> loops)
      : func_(func), loop_(*loops.back()), facts_(facts), outside_(facts.inside(loops)) {
    PrimFunc part;
    part.buffers = func.buffers;
    part.params = func.params;
    part.outputs = func.outputs;
    part.scalars = func.scalars;
    part.body = loop_.body;
    for (Access& access : collect_accesses(part)) {
      Group& group = groups_[access.buffer];
      group.written |= access.is_store;
      std::vector<const For*> around(loops.begin(), loops.end());
      around.insert(around.end(), access.loops.begin(), access.loops.end());
      access.loops = std::move(around);
      group.accesses.push_back(std::move(access));
    }
    owned_.resize(func.buffers.size());
    mark_owned(loop_.body);
  }

  std::optional<BufferId> shared() const {
    if (const auto extent = loop_.extent.as_const(); extent && *extent <= 1) return std::nullopt;
    for (const auto& [buffer, group] : groups_)
      if (group.written && !owned_[buffer] && !disjoint(group)) return buffer;
    return std::nullopt;
  }

 private:
  struct Group {
    std::vector<Access> accesses;
    bool written = false;
  };

  void mark_owned(const std::vector<Stmt>& list) {
    for (const Stmt& stmt : list) {
      if (const auto* loop = std::get_if<For>(&stmt->node)) mark_owned(loop->body);
      if (const auto* allocate = std::get_if<Allocate>(&stmt->node)) owned_[allocate->buffer] = true;
      if (const auto* branch = std::get_if<If>(&stmt->node)) {
        mark_owned(branch->then_body);
        mark_owned(branch->else_body);
      }
    }
  }

  bool disjoint(const Group& group) const {
    const size_t rank = group.accesses[0].indices.size();
    const Buffer& buffer = func_.buffers[group.accesses[0].buffer];
    for (size_t d = 0; d < rank; ++d)
      if (apart(group, [&](const Access& access) { return access.indices[d]; })) return true;
    return rank > 1 && apart(group, [&](const Access& access) { return flat_index(access.indices, buffer); });
  }

  template <typename IndexOf>
  bool apart(const Group& group, IndexOf index_of) const {
    std::optional<LinearForm> first;
    bool same_rest = true;
    bool within_step = true;
    for (const Access& access : group.accesses) {
      const Assumptions facts = facts_.inside(access.loops);
      const auto form = linear_in(index_of(access), loop_.var, facts);
      if (!form) return false;
      if (!first) first = form;
      if (!outside_of_loop(form->coefficient)) return false;
      if (prove_equal(form->coefficient, first->coefficient, facts) != Proof::Yes) return false;
      same_rest = same_rest && outside_of_loop(form->rest) && prove_equal(form->rest, first->rest, facts) == Proof::Yes;
      within_step = within_step && prove_less_equal(0, form->rest, facts) == Proof::Yes &&
                    prove_less(form->rest, form->coefficient, facts) == Proof::Yes;
    }
    const bool moves = prove_equal(first->coefficient, 0, outside_) == Proof::No;
    return within_step || (same_rest && moves);
  }

  // Has one value during the whole loop.
  bool outside_of_loop(const PrimExpr& expr) const {
    bool outside = true;
    for_each_var(expr, [&](const SymVar& var) { outside &= !bound_inside(loop_.body, var); });
    return outside;
  }

  static bool bound_inside(const std::vector<Stmt>& list, const SymVar& var) {
    return std::ranges::any_of(list, [&](const Stmt& stmt) {
      if (const auto* loop = std::get_if<For>(&stmt->node)) return loop->var == var || bound_inside(loop->body, var);
      if (const auto* let = std::get_if<Let>(&stmt->node)) return let->var->index == var;
      if (const auto* branch = std::get_if<If>(&stmt->node))
        return bound_inside(branch->then_body, var) || bound_inside(branch->else_body, var);
      return false;
    });
  }

  const PrimFunc& func_;
  const For& loop_;
  const FuncFacts& facts_;
  Assumptions outside_;
  std::map<BufferId, Group> groups_;
  std::vector<bool> owned_;
};

}  // namespace

std::optional<BufferId> shared_between_iterations(const PrimFunc& func, const FuncFacts& facts,
                                                  std::span<const For* const> loops) {
  return LoopAccesses(func, facts, loops).shared();
}

}  // namespace ingot::tir
