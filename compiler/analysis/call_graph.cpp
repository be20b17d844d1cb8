#include "compiler/analysis/call_graph.h"

#include <algorithm>
#include <limits>
#include <string>

#include "compiler/ir/visitor.h"

namespace ingot::analysis {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

// Tarjan's algorithm without recursion.
class Components {
 public:
  explicit Components(CallGraph& graph) : graph_(graph), order_(graph.callees.size(), kNone), low_(order_) {
    graph_.component.assign(graph_.callees.size(), kNone);
    for (size_t f = 0; f < graph_.callees.size(); ++f)
      if (order_[f] == kNone) visit(f);
  }

 private:
  struct Frame {
    size_t function;
    size_t next = 0;
  };

  void visit(size_t root) {
    std::vector<Frame> frames;
    const auto enter = [&](size_t f) {
      order_[f] = low_[f] = count_++;
      stack_.push_back(f);
      frames.push_back({f});
    };
    enter(root);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const size_t f = frame.function;
      if (frame.next < graph_.callees[f].size()) {
        const size_t callee = graph_.callees[f][frame.next++];
        if (order_[callee] == kNone)
          enter(callee);
        else if (graph_.component[callee] == kNone)
          low_[f] = std::min(low_[f], order_[callee]);
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) low_[frames.back().function] = std::min(low_[frames.back().function], low_[f]);
      if (low_[f] != order_[f]) continue;
      for (size_t member = kNone; member != f;) {
        member = stack_.back();
        stack_.pop_back();
        graph_.component[member] = components_;
      }
      ++components_;
    }
  }

  CallGraph& graph_;
  std::vector<size_t> order_, low_, stack_;
  size_t count_ = 0, components_ = 0;
};

void collect(const ir::Expr& e, const std::unordered_map<std::string_view, size_t>& positions,
             std::vector<size_t>& callees) {
  if (const auto* global = ir::as<ir::GlobalVar>(e))
    if (const auto found = positions.find(global->name); found != positions.end()) callees.push_back(found->second);
  ir::for_each_child(e, [&](const ir::Expr& child) { collect(child, positions, callees); });
}

}  // namespace

CallGraph build_call_graph(const ir::Module& module) {
  std::unordered_map<std::string_view, size_t> positions;
  for (size_t i = 0; i < module.definitions().size(); ++i) positions.emplace(module.definitions()[i].name, i);
  CallGraph graph;
  for (const auto& definition : module.definitions()) {
    auto& callees = graph.callees.emplace_back();
    if (definition.function != nullptr) collect(definition.function->body, positions, callees);
    std::ranges::sort(callees);
    callees.erase(std::unique(callees.begin(), callees.end()), callees.end());
  }
  const Components components(graph);
  std::vector<size_t> members(graph.callees.size(), 0);
  for (const size_t component : graph.component) ++members[component];
  for (size_t f = 0; f < graph.callees.size(); ++f)
    graph.recursive.push_back(members[graph.component[f]] > 1 || std::ranges::binary_search(graph.callees[f], f));
  return graph;
}

}  // namespace ingot::analysis
