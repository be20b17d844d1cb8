#pragma once
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/symbolic/prim_expr.h"

namespace ingot::analysis {

// A map that a walk fills and cuts back where scopes end: what was set behind a mark is undone by `leave`. Costs are
// those of what is set, however much is in scope.
template <typename Key, typename T>
class ScopeLog {
 public:
  using Mark = size_t;
  using Entry = std::pair<Key, T>;

  Mark mark() const { return log_.size(); }
  void leave(Mark mark) {
    while (log_.size() > mark) {
      auto& [key, before] = log_.back();
      if (before)
        map_.insert_or_assign(key, std::move(*before));
      else
        map_.erase(key);
      log_.pop_back();
    }
  }
  void set(const Key& key, T value) {
    const auto found = map_.find(key);
    log_.emplace_back(key, found == map_.end() ? std::nullopt : std::optional<T>(found->second));
    map_.insert_or_assign(key, std::move(value));
  }
  // Leaves for the mark, and gives what was set behind it, for `restore`.
  std::vector<Entry> cut(Mark mark) {
    std::vector<Entry> behind;
    for (size_t i = mark; i < log_.size(); ++i) behind.emplace_back(log_[i].first, *find(log_[i].first));
    leave(mark);
    return behind;
  }
  void restore(const std::vector<Entry>& entries) {
    for (const auto& [key, value] : entries) set(key, value);
  }
  const T* find(const Key& key) const {
    const auto found = map_.find(key);
    return found == map_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<Key, T> map_;
  std::vector<std::pair<Key, std::optional<T>>> log_;
};

// The symbolic variables in scope. A mark stands for those that were in scope when it was taken, as long as its scope
// lasts.
class SymScope {
 public:
  using Mark = size_t;

  Mark mark() const { return order_.size(); }
  void leave(Mark mark) {
    for (; order_.size() > mark; order_.pop_back()) places_.erase(order_.back());
  }
  void insert(const SymVarNode* var) {
    if (places_.emplace(var, order_.size()).second) order_.push_back(var);
  }
  bool contains(const SymVarNode* var) const { return places_.contains(var); }
  bool contains(const SymVarNode* var, Mark mark) const {
    const auto found = places_.find(var);
    return found != places_.end() && found->second < mark;
  }
  // Leaves for the mark, and gives what was in scope behind it, for `restore`.
  std::vector<const SymVarNode*> cut(Mark mark) {
    const auto begin = order_.begin() + static_cast<ptrdiff_t>(std::min(mark, order_.size()));
    std::vector<const SymVarNode*> behind(begin, order_.end());
    leave(mark);
    return behind;
  }
  void restore(const std::vector<const SymVarNode*>& vars) {
    for (const SymVarNode* var : vars) insert(var);
  }

 private:
  std::unordered_map<const SymVarNode*, size_t> places_;
  std::vector<const SymVarNode*> order_;
};

}  // namespace ingot::analysis
