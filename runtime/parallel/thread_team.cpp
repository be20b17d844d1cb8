#include "runtime/parallel/thread_team.h"

#include <algorithm>

#include <omp.h>

namespace ingot {

ThreadTeam::ThreadTeam(int threads) : threads_(std::max(threads, 1)) {}

void ThreadTeam::parallel_for(int64_t count, void (*body)(void* context, int64_t begin, int64_t end),
                              void* context) const noexcept {
  if (count <= 0) return;
  const int64_t ranges = std::min<int64_t>(threads_, count);
  if (ranges == 1) {
    body(context, 0, count);
    return;
  }
  const int64_t share = count / ranges;
  const int64_t longer = count % ranges;
#pragma omp parallel for num_threads(static_cast <int>(ranges)) schedule(static, 1)
  for (int64_t range = 0; range < ranges; ++range) {
    const int64_t begin = range * share + std::min(range, longer);
    body(context, begin, begin + share + (range < longer ? 1 : 0));
  }
}

ThreadLimit::ThreadLimit(int threads) : previous_(omp_get_max_threads()) { omp_set_num_threads(std::max(threads, 1)); }

ThreadLimit::~ThreadLimit() { omp_set_num_threads(previous_); }

}  // namespace ingot
