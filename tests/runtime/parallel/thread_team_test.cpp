#include "runtime/parallel/thread_team.h"

#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <omp.h>

#include <gtest/gtest.h>

namespace ingot {
namespace {

struct Cover {
  std::mutex mutex;
  std::vector<int> times;
  size_t ranges = 0;

  static void body(void* context, int64_t begin, int64_t end) {
    auto& self = *static_cast<Cover*>(context);
    const std::lock_guard lock(self.mutex);
    ++self.ranges;
    for (int64_t i = begin; i < end; ++i) ++self.times[static_cast<size_t>(i)];
  }
};

TEST(ThreadTeam, CoversEachIndexOnce) {
  for (const int threads : {1, 2, 3, 8})
    for (const int64_t count : {0, 1, 2, 7, 8, 100}) {
      Cover cover;
      cover.times.resize(static_cast<size_t>(count));
      ThreadTeam(threads).parallel_for(count, Cover::body, &cover);
      EXPECT_EQ(cover.times, std::vector<int>(static_cast<size_t>(count), 1));
      EXPECT_EQ(cover.ranges, static_cast<size_t>(std::min<int64_t>(count, threads)));
    }
}

TEST(ThreadTeam, HasAtLeastOneThread) {
  EXPECT_EQ(ThreadTeam(0).size(), 1);
  EXPECT_EQ(ThreadTeam(-3).size(), 1);
  EXPECT_EQ(ThreadTeam(4).size(), 4);
}

TEST(ThreadLimit, HoldsForThisThreadWhileItLives) {
  const int before = omp_get_max_threads();
  {
    const ThreadLimit limit(before + 2);
    EXPECT_EQ(omp_get_max_threads(), before + 2);
    int elsewhere = 0;
    std::thread([&] { elsewhere = omp_get_max_threads(); }).join();
    EXPECT_EQ(elsewhere, before);
    const ThreadLimit inner(0);
    EXPECT_EQ(omp_get_max_threads(), 1);
  }
  EXPECT_EQ(omp_get_max_threads(), before);
}

}  // namespace
}  // namespace ingot
