#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ingot::text {

// Names in nested scopes; an inner binding hides an outer one of its name. Everything in constant time.
template <typename T>
class Scopes {
 public:
  using Mark = size_t;

  // What is bound after the mark is forgotten by `leave`.
  Mark enter() const { return log_.size(); }
  void leave(Mark mark) {
    while (log_.size() > mark) {
      std::vector<T>& stack = names_.find(log_.back())->second;
      stack.pop_back();
      log_.pop_back();
    }
  }
  void bind(const std::string& name, T value) {
    names_[name].push_back(std::move(value));
    log_.push_back(name);
  }
  const T* find(const std::string& name) const {
    const auto found = names_.find(name);
    return found == names_.end() || found->second.empty() ? nullptr : &found->second.back();
  }
  // What was bound after the mark, oldest first.
  std::vector<std::pair<std::string, T>> since(Mark mark) const {
    std::vector<std::pair<std::string, T>> result;
    std::unordered_map<std::string, size_t> seen;
    for (size_t i = log_.size(); i > mark; --i) {
      const auto& stack = names_.find(log_[i - 1])->second;
      result.emplace_back(log_[i - 1], stack[stack.size() - 1 - seen[log_[i - 1]]++]);
    }
    return {result.rbegin(), result.rend()};
  }

 private:
  std::unordered_map<std::string, std::vector<T>> names_;
  std::vector<std::string> log_;
};

}  // namespace ingot::text
