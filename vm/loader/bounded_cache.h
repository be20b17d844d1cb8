#pragma once
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace ingot::vm {

// The things that were asked for last, by key; the one that was asked for longest ago leaves when a new one would pass
// the capacity. Thread safe; making happens outside of the lock, so two threads may make the same thing at once: the
// first one stays.
template <typename Key, typename T, typename Hash = std::hash<Key>>
class BoundedCache {
 public:
  explicit BoundedCache(size_t capacity) : capacity_(capacity) {}

  template <typename Make>
  std::shared_ptr<const T> get(const Key& key, const Make& make) {
    if (auto found = find(key)) return found;
    std::shared_ptr<const T> made = make();
    const std::scoped_lock lock(mutex_);
    const auto known = index_.find(key);
    if (known != index_.end()) return known->second->second;
    entries_.emplace_front(key, made);
    index_.emplace(key, entries_.begin());
    if (entries_.size() > capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return made;
  }

  // What was asked for last; null where there is nothing yet.
  std::shared_ptr<const T> latest() {
    const std::scoped_lock lock(mutex_);
    return entries_.empty() ? nullptr : entries_.front().second;
  }

 private:
  std::shared_ptr<const T> find(const Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto known = index_.find(key);
    if (known == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, known->second);
    return known->second->second;
  }

  using Entry = std::pair<Key, std::shared_ptr<const T>>;
  size_t capacity_;
  std::mutex mutex_;
  std::list<Entry> entries_;
  std::unordered_map<Key, typename std::list<Entry>::iterator, Hash> index_;
};

// Keys made of numbers.
struct NumbersHash {
  template <typename Numbers>
  size_t operator()(const Numbers& numbers) const {
    size_t hash = 0x9e3779b97f4a7c15u;
    for (const auto number : numbers) hash = (hash ^ static_cast<size_t>(number)) * 0x100000001b3u + (hash >> 29);
    return hash;
  }
};

}  // namespace ingot::vm
