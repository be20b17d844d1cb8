#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "runtime/kernels/kernel.h"

namespace ingot {

// What the kernels of one call have in common whatever the dimensions that vary are: their code.
class Family {
 public:
  Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  virtual ~Family() = default;
};

// The families of an executable, one for each kernel call and everything that does not vary about its operands: so
// there are as many as the program has places that call kernels. Thread safe.
class FamilyCache {
 public:
  // Two threads may make the same one at once: the first one stays.
  std::shared_ptr<const Family> get(const Problem& problem, const std::function<std::shared_ptr<const Family>()>& make);
  // What kernels of all calls have in common, by name.
  std::shared_ptr<const Family> get(std::string_view name, const std::function<std::shared_ptr<const Family>()>& make);

 private:
  using Key = std::vector<int64_t>;
  std::shared_ptr<const Family> get(Key key, const std::function<std::shared_ptr<const Family>()>& make);

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Family>> families_;
};

// Does any dimension vary?
bool varies(const Problem& problem);

}  // namespace ingot
