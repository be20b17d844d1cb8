#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/tir/accesses.h"
#include "runtime/tir/checker.h"

namespace ingot::tir {
namespace {

// [begin, begin + extent) of a dimension.
struct Side {
  PrimExpr begin, extent;
};
// An access to every element within one side per dimension.
using Box = std::vector<Side>;

// What is larger stays unproved, which bounds the time that hostile functions take.
constexpr size_t kMaxLoops = 16;
constexpr size_t kMaxWaiting = 64;

// Which elements of one buffer are certainly written.
class Coverage {
 public:
  Coverage(const PrimFunc& func, BufferId buffer, std::span<const SymVar> positive)
      : func_(func),
        buffer_(func.buffers[buffer]),
        facts_(func, positive),
        covered_(buffer_.dims.size(), 0),
        waiting_(buffer_.dims.size()) {}

  bool add(const Access& access) {
    if (access.conditional() || access.loops.size() > kMaxLoops || buffer_.dims.size() > kMaxLoops) return false;
    if (!has_fixed_extents(access)) return false;
    if (digits_cover(access)) return true;
    const auto box = box_of(access);
    return box && add_box(*box);
  }

 private:
  bool equal(const PrimExpr& a, const PrimExpr& b) const { return prove_equal(a, b, facts_.at_entry()) == Proof::Yes; }

  // Loops that do not move the access must run at least once.
  bool all_run(const std::vector<const For*>& loops) const {
    return std::ranges::all_of(
        loops, [&](const For* loop) { return prove_less(0, loop->extent, facts_.at_entry()) == Proof::Yes; });
  }

  static bool is_fixed(const PrimExpr& expr, const Access& access) {
    bool fixed = true;
    for_each_var(expr, [&](const SymVar& var) {
      fixed &= std::ranges::none_of(access.loops, [&](const For* loop) { return loop->var == var; });
    });
    return fixed;
  }

  static bool has_fixed_extents(const Access& access) {
    return std::ranges::all_of(access.loops, [&](const For* loop) { return is_fixed(loop->extent, access); });
  }

  // The index in each dimension is a loop index of its own plus something that no loop moves.
  std::optional<Box> box_of(const Access& access) const {
    Box box;
    std::vector<const For*> left = access.loops;
    const Assumptions facts = facts_.inside(access.loops);
    for (const PrimExpr& index : access.indices) {
      std::optional<LinearForm> form;
      const auto loop = std::ranges::find_if(left, [&](const For* candidate) {
        form = linear_in(index, candidate->var, facts);
        return form && form->coefficient.is_const(1) && is_fixed(form->rest, access);
      });
      if (loop != left.end()) {
        box.push_back({form->rest, (*loop)->extent});
        left.erase(loop);
      } else if (is_fixed(index, access)) {
        box.push_back({index, 1});
      } else {
        return std::nullopt;
      }
    }
    return all_run(left) ? std::optional(box) : std::nullopt;
  }

  // Boxes that are whole in all dimensions but one are put together along that one, from 0 on.
  bool add_box(const Box& box) {
    std::vector<size_t> partial;
    for (size_t d = 0; d < box.size(); ++d)
      if (!equal(box[d].begin, 0) || !equal(box[d].extent, buffer_.dims[d])) partial.push_back(d);
    if (partial.empty()) return true;
    if (partial.size() > 1) return false;
    const size_t d = partial[0];
    std::vector<Side>& waiting = waiting_[d];
    if (waiting.size() == kMaxWaiting) return false;
    waiting.push_back(box[d]);
    while (!equal(covered_[d], buffer_.dims[d])) {
      const auto next = std::ranges::find_if(waiting, [&](const Side& side) { return equal(side.begin, covered_[d]); });
      if (next == waiting.end()) return false;
      covered_[d] = simplify(covered_[d] + next->extent, facts_.at_entry());
      waiting.erase(next);
    }
    return true;
  }

  // The position in the buffer counts through all elements as a number with the loop indices as digits.
  bool digits_cover(const Access& access) const {
    const Assumptions facts = facts_.inside(access.loops);
    PrimExpr size = 1;
    for (const PrimExpr& dim : buffer_.dims) size = size * dim;
    PrimExpr rest = simplify(flat_index(access.indices, buffer_), facts);
    PrimExpr step = 1;
    std::vector<const For*> left = access.loops;
    while (!left.empty()) {
      std::optional<LinearForm> form;
      const auto digit = std::ranges::find_if(left, [&](const For* loop) {
        form = linear_in(rest, loop->var, facts);
        return form && equal(form->coefficient, step);
      });
      if (digit == left.end()) break;
      rest = form->rest;
      step = simplify(step * (*digit)->extent, facts_.at_entry());
      left.erase(digit);
    }
    return rest.is_const(0) && equal(step, size) && all_run(left);
  }

  const PrimFunc& func_;
  const Buffer& buffer_;
  FuncFacts facts_;
  // Of each dimension: the end of what is covered from 0 on, and what begins elsewhere.
  std::vector<PrimExpr> covered_;
  std::vector<std::vector<Side>> waiting_;
};

// Follows the function in order, and asks of every load whether its element has been written by then: by a statement
// that covers the buffer, or by a store to the same indices, which comes before it in the same iteration of all loops
// around both.
class WholeWrite {
 public:
  WholeWrite(const PrimFunc& func, BufferId buffer, std::span<const SymVar> positive)
      : func_(func), buffer_(buffer), positive_(positive) {}

  bool holds() {
    accesses_ = collect_accesses(func_);
    return statements(func_.body) && !reads_early_;
  }

 private:
  // Is the buffer whole behind these statements, in each iteration of the loops around?
  bool statements(const std::vector<Stmt>& list) {
    const bool outside = whole_;
    std::optional<Coverage> coverage;
    for (const Stmt& stmt : list) {
      const size_t first = seen_;
      statement(stmt);
      for (size_t i = first; i < seen_ && !whole_; ++i) {
        if (!accesses_[i].is_store || accesses_[i].buffer != buffer_) continue;
        if (!coverage) coverage.emplace(func_, buffer_, positive_);
        Access inside = accesses_[i];
        inside.loops.erase(inside.loops.begin(), inside.loops.begin() + static_cast<std::ptrdiff_t>(depth_));
        whole_ = coverage->add(inside);
      }
    }
    return std::exchange(whole_, outside);
  }

  void load(const std::vector<PrimExpr>& indices) {
    const bool written = whole_ || std::ranges::any_of(written_, [&](const std::vector<PrimExpr>* earlier) {
                           return std::ranges::equal(*earlier, indices, same_expr);
                         });
    reads_early_ |= !written;
  }

  void expression(const ExprNode& node) {
    if (node.op == ExprOp::Load) {
      ++seen_;
      if (node.buffer == buffer_) load(node.indices);
    }
    for (const Expr& operand : node.operands) expression(*operand);
  }

  void body(const std::vector<Stmt>& list) {
    const size_t outside = written_.size();
    for (const Stmt& stmt : list) statement(stmt);
    written_.resize(outside);
  }

  void statement(const Stmt& stmt) {
    if (const auto* loop = std::get_if<For>(&stmt->node)) {
      const size_t outside = written_.size();
      ++depth_;
      statements(loop->body);
      --depth_;
      written_.resize(outside);
    } else if (const auto* let = std::get_if<Let>(&stmt->node)) {
      expression(*let->value);
    } else if (const auto* branch = std::get_if<If>(&stmt->node)) {
      expression(*branch->condition);
      body(branch->then_body);
      body(branch->else_body);
    } else if (const auto* store = std::get_if<Store>(&stmt->node)) {
      ++seen_;
      expression(*store->value);
      if (store->buffer == buffer_) written_.push_back(&store->indices);
    }
  }

  const PrimFunc& func_;
  BufferId buffer_;
  std::span<const SymVar> positive_;
  std::vector<Access> accesses_;
  size_t seen_ = 0;   // accesses passed so far
  size_t depth_ = 0;  // loops around
  std::vector<const std::vector<PrimExpr>*> written_;
  bool whole_ = false;
  bool reads_early_ = false;
};

}  // namespace

std::vector<BoundsProof> prove_bounds(const PrimFunc& func) {
  std::vector<BoundsProof> proofs;
  const FuncFacts func_facts(func);
  std::vector<const For*> loops;
  Assumptions in_loops = func_facts.inside(loops);
  for (const Access& access : collect_accesses(func)) {
    if (access.loops != loops) {
      loops = access.loops;
      in_loops = func_facts.inside(loops);
    }
    const std::vector<PrimExpr>& dims = func.buffers[access.buffer].dims;
    const auto inside = [&](const Assumptions& facts) {
      bool proved = true;
      for (size_t d = 0; d < access.indices.size() && proved; ++d)
        proved = prove_less_equal(0, access.indices[d], facts) == Proof::Yes &&
                 prove_less(access.indices[d], dims[d], facts) == Proof::Yes;
      return proved;
    };
    BoundsProof proof = BoundsProof::None;
    if (inside(in_loops)) {
      proof = BoundsProof::Always;
    } else if (access.conditional() && inside(func_facts.at(access))) {
      proof = BoundsProof::UnderConditions;
    }
    proofs.push_back(proof);
  }
  return proofs;
}

bool writes_whole(const PrimFunc& func, BufferId buffer, std::span<const SymVar> positive) {
  return WholeWrite(func, buffer, positive).holds();
}

}  // namespace ingot::tir
