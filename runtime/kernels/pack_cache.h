#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace ingot {

// Memory for packed weights: `bytes` bytes (at least one), aligned to 64, not initialised. Throws OutOfMemory.
std::shared_ptr<std::byte> allocate_packed(size_t bytes);

// Weights in the form that a kernel wants, made once per executable and shared by all kernels and sessions that ask
// with the same key. Thread safe. What was handed out stays alive with its last owner, even after the cache.
class PackCache {
 public:
  struct Packed {
    std::shared_ptr<const std::byte> data;
    size_t bytes = 0;
  };

  // `signature` tells apart everything that shapes the packed bytes. `make` runs at most once per key, other keys are
  // not held up by it; if it throws, the error passes on and the next caller of that key tries again.
  Packed get(const std::byte* constant, std::string_view signature, const std::function<Packed()>& make);
  // Of all packed weights.
  size_t bytes() const;

 private:
  struct Entry {
    std::mutex making;
    Packed packed;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<const std::byte*, std::string>, std::shared_ptr<Entry>> entries_;
  size_t bytes_ = 0;
};

}  // namespace ingot
