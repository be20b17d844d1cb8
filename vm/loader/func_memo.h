#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <span>

namespace ingot::vm {

// What was found of the closures that one function type was held against last: comparing types takes memory, and a run
// of known shapes must not ask for any. A key is the closure's function, then every number that the answer depends on.
// Thread safe.
class FuncMemo {
 public:
  // Longer keys are not kept.
  static constexpr size_t kMaxNumbers = 16;

  std::optional<bool> find(std::span<const int64_t> key) const;
  void keep(std::span<const int64_t> key, bool matches);

 private:
  struct Entry {
    std::array<int64_t, kMaxNumbers> numbers;
    size_t count = 0;
    bool matches = false;
  };

  // The last key of one number, times two, plus the answer; without a lock, since few closures depend on more.
  std::atomic<uint64_t> last_{UINT64_MAX};
  mutable std::shared_mutex mutex_;
  std::array<Entry, 8> entries_;
  size_t next_ = 0;
};

}  // namespace ingot::vm
