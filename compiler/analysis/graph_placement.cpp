#include "compiler/analysis/graph_placement.h"

#include <algorithm>
#include <limits>

#include "compiler/ir/visitor.h"

namespace ingot::analysis {
namespace {

using namespace ir;

constexpr size_t kNone = std::numeric_limits<size_t>::max();

// A place in the tree of scopes: directly in a scope, or in the value of a graph binding there, which may move.
struct Place {
  size_t scope;
  size_t owner = kNone;  // the graph binding
};

struct ScopeNode {
  const ExprNode* key;
  Place parent;
  bool is_function;
};

struct GraphNode {
  const Binding* binding;
  size_t scope;
  std::vector<Place> uses;
  size_t home;
};

class Placer {
 public:
  explicit Placer(const Function& f) {
    scopes_.push_back({&f, {kNone, kNone}, true});
    expr(f.body, {0, kNone});
    for (size_t g = graph_.size(); g-- > 0;) graph_[g].home = home_of(graph_[g]);
  }

  GraphPlacement take() const {
    GraphPlacement result;
    for (const GraphNode& node : graph_) {
      if (node.home == node.scope) continue;
      const ExprNode* key = scopes_[node.home].key;
      result.moved_to[key].push_back(node.binding);
      result.moved.emplace(node.binding, key);
    }
    return result;
  }

 private:
  void scope(const Expr& e, const ExprNode* key, Place parent, bool is_function) {
    const size_t id = scopes_.size();
    scopes_.push_back({key, parent, is_function});
    expr(e, {id, kNone});
  }

  void expr(const Expr& e, Place at) {
    switch (e->kind) {
      case ExprKind::Var:
        if (const auto found = numbers_.find(as<Var>(e)); found != numbers_.end())
          graph_[found->second].uses.push_back(at);
        return;
      case ExprKind::Function:
        return scope(as<Function>(e)->body, e.get(), at, true);
      case ExprKind::If: {
        const auto& branch = *as<If>(e);
        expr(branch.condition, at);
        scope(branch.then_branch, branch.then_branch.get(), at, false);
        scope(branch.else_branch, branch.else_branch.get(), at, false);
        return;
      }
      case ExprKind::Seq: {
        const auto& seq = *as<Seq>(e);
        for (const auto& block : seq.blocks)
          for (const auto& binding : block.bindings) {
            if (!binding.graph) {
              expr(binding.value, at);
              continue;
            }
            const size_t number = graph_.size();
            graph_.push_back({&binding, at.scope, {}, at.scope});
            expr(binding.value, {at.scope, number});
            numbers_.emplace(binding.var.get(), number);
          }
        return expr(seq.body, at);
      }
      default:
        for_each_child(e, [&](const Expr& child) { expr(child, at); });
    }
  }

  size_t scope_of(Place place) const { return place.owner == kNone ? place.scope : graph_[place.owner].home; }

  // The scopes from just below `top` down to the place, as far as no function literal begins.
  std::vector<size_t> path(size_t top, Place place) const {
    std::vector<size_t> up;
    for (size_t s = scope_of(place); s != top && s != kNone; s = scope_of(scopes_[s].parent)) {
      if (scopes_[s].is_function)
        up.clear();
      else
        up.push_back(s);
      if (scopes_[s].parent.scope == kNone) break;
    }
    return {up.rbegin(), up.rend()};
  }

  size_t home_of(const GraphNode& node) const {
    if (node.uses.empty()) return node.scope;
    std::vector<size_t> common = path(node.scope, node.uses.front());
    for (const Place& use : node.uses) {
      if (common.empty()) break;
      const auto other = path(node.scope, use);
      const auto end = std::mismatch(common.begin(), common.end(), other.begin(), other.end()).first;
      common.erase(end, common.end());
    }
    return common.empty() ? node.scope : common.back();
  }

  std::vector<ScopeNode> scopes_;
  std::vector<GraphNode> graph_;
  std::unordered_map<const Var*, size_t> numbers_;
};

bool has_graph_bindings(const Expr& e) {
  if (const auto* seq = as<Seq>(e))
    for (const auto& block : seq->blocks)
      for (const auto& binding : block.bindings)
        if (binding.graph) return true;
  bool found = false;
  for_each_child(e, [&](const Expr& child) { found = found || has_graph_bindings(child); });
  return found;
}

}  // namespace

GraphPlacement place_graph_bindings(const Function& function) {
  if (!has_graph_bindings(function.body)) return {};
  return Placer(function).take();
}

}  // namespace ingot::analysis
