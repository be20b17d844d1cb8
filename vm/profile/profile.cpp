#include "vm/profile/profile.h"

#include <algorithm>

namespace ingot::vm {

std::vector<KernelTime> Profile::kernels() const {
  std::vector<KernelTime> times;
  for (const auto& [place, time] : kernels_) times.push_back(time);
  std::stable_sort(times.begin(), times.end(),
                   [](const KernelTime& a, const KernelTime& b) { return a.nanoseconds > b.nanoseconds; });
  return times;
}

uint64_t Profile::nanoseconds() const {
  uint64_t total = 0;
  for (const auto& [place, time] : kernels_) total += time.nanoseconds;
  return total;
}

}  // namespace ingot::vm
