// The planner's side of suite memory: answers the protocol of bench/suites/memory.py on stdin and stdout.

#include <ctime>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/answer_commands.h"
#include "runtime/memory/planner.h"
#include "vm/loader/executable.h"
#include "vm/loader/function_plan.h"

namespace {

// Processor time of this process: neighbours on the machine do not count.
double now_us() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

// Tensors of up to 100 kB that begin anywhere in as many instants and live for up to `longest` of them; a third begins
// in place of another one.
std::vector<ingot::Interval> random_intervals(uint32_t count, uint32_t longest) {
  std::mt19937 random(3);
  std::vector<ingot::Interval> intervals;
  for (uint32_t i = 0; i < count; ++i) {
    auto first = static_cast<uint32_t>(random() % count);
    int32_t from = -1;
    if (i > 0 && random() % 3 == 0) {
      from = static_cast<int32_t>(random() % i);
      first = intervals[static_cast<size_t>(from)].last;
    }
    intervals.push_back({random() % 100'000, first, first + static_cast<uint32_t>(random() % longest), from});
  }
  return intervals;
}

double plan_time(uint32_t count, uint32_t longest) {
  const auto intervals = random_intervals(count, longest);
  const double start = now_us();
  const ingot::MemoryPlan plan = ingot::plan_memory(intervals, 64);
  const double time = now_us() - start;
  if (plan.offsets.size() != count) throw std::runtime_error("the plan is not complete");
  return time;
}

// Plans of function 0 for the lengths 1 to `count`, each for the first time.
std::string shape_times(const std::string& path, int64_t count) {
  const auto executable = ingot::vm::Executable::load(std::filesystem::path(path));
  std::string times;
  for (int64_t n = 1; n <= count; ++n) {
    const std::vector<int64_t> dims = {n};
    const double start = now_us();
    executable->plan(0, dims);
    times += (times.empty() ? "" : " ") + std::to_string(now_us() - start);
  }
  return times;
}

std::string answer(const std::string& line) {
  std::istringstream words(line);
  std::string command;
  words >> command;
  if (command == "plan") {
    uint32_t count = 0;
    uint32_t longest = 0;
    words >> count >> longest;
    return std::to_string(plan_time(count, longest));
  }
  if (command == "shapes") {
    int64_t count = 0;
    std::string path;
    words >> count >> std::ws;
    std::getline(words, path);
    return shape_times(path, count);
  }
  throw std::runtime_error("unknown command " + command);
}

}  // namespace

int main() { ingot::bench::answer_commands(answer); }
