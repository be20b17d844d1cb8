#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ingot::vm {

// How often one call_kernel ran and how long it took, in nanoseconds of wall time.
struct KernelTime {
  uint32_t function = 0;  // of the program
  uint32_t unit = 0;      // of the function's code
  uint64_t calls = 0;
  uint64_t nanoseconds = 0;
};

// Where runs spend their time, collected while it is given to them as an option. One thread at a time.
class Profile {
 public:
  void add_kernel(uint32_t function, uint32_t unit, uint64_t nanoseconds) {
    KernelTime& time = kernels_.try_emplace({function, unit}, KernelTime{function, unit, 0, 0}).first->second;
    ++time.calls;
    time.nanoseconds += nanoseconds;
  }
  // The longest total first.
  std::vector<KernelTime> kernels() const;
  // Of all kernels.
  uint64_t nanoseconds() const;

 private:
  std::map<std::pair<uint32_t, uint32_t>, KernelTime> kernels_;
};

}  // namespace ingot::vm
