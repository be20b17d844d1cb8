#pragma once
#include <cstdint>

namespace ingot {

// How many threads a run may use: the one place that says so to oneDNN (through OpenMP) and to our own kernels.
class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);
  int size() const { return threads_; }
  // Calls body(context, begin, end) over [0, count) cut into at most size() ranges; returns when all are done. The body
  // never throws.
  void parallel_for(int64_t count, void (*body)(void* context, int64_t begin, int64_t end),
                    void* context) const noexcept;

 private:
  int threads_;
};

// While it lives, library calls of this thread use at most `threads` threads.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int previous_;
};

}  // namespace ingot
