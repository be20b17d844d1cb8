// Our side of suite kernels: limits of this machine's memory, and how long the kernel generator takes. Answers the
// protocol of bench/runner.py on stdin and stdout, with the commands that bench/suites/kernels.py tells.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bench/answer_commands.h"
#include "runtime/base/cpu.h"
#include "runtime/base/error.h"
#include "runtime/jit/compiled_func.h"
#include "runtime/object/pool.h"
#include "runtime/parallel/thread_team.h"
#include "vm/executable/reader.h"

namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

template <typename Work>
std::string times(size_t count, Work work) {
  std::ostringstream result;
  result << std::fixed;
  result.precision(3);
  for (size_t i = 0; i < count; ++i) {
    const auto start = Clock::now();
    work();
    result << (i == 0 ? "" : " ") << microseconds(start);
  }
  return result.str();
}

// As fast as one core adds what lies in memory, as far as we know: registers as wide as it has, four sums (eight wait
// for more lines than they gain), and what comes 1 KB further on asked for in the second cache. Both ends are multiples
// of 256 bytes.
[[gnu::target_clones("avx512f", "avx2", "default")]] void sum(const std::byte* begin, const std::byte* end) {
  using Lanes [[gnu::vector_size(64)]] = float;
  constexpr int kSecondCache = 2;
  constexpr size_t kDistance = 1024;
  Lanes sums[4] = {};
  for (const std::byte* at = begin; at < end; at += sizeof sums)
    for (size_t i = 0; i < 4; ++i) {
      __builtin_prefetch(at + i * sizeof(Lanes) + kDistance, 0, kSecondCache);
      sums[i] += *reinterpret_cast<const Lanes*>(at + i * sizeof(Lanes));
    }
  for (const Lanes& part : sums) asm volatile("" : : "m"(part));
}

// From where tensors of that size come as well: the same pages.
class Memory {
 public:
  std::byte* get(size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      memory_.reset(static_cast<std::byte*>(ingot::allocate_system(bytes)));
      std::memset(memory_.get(), 1, bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { ingot::deallocate_system(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  size_t bytes_ = 0;
};

class Runner {
 public:
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    size_t bytes = 0, count = 0;
    words >> command;
    if (command == "version") return "memory 1";
    if (command == "memcpy") {
      words >> bytes >> count;
      const std::byte* from = from_.get(bytes);
      std::byte* to = to_.get(bytes);
      return times(count, [&] {
        std::memcpy(to, from, bytes);
        asm volatile("" : : "r"(to) : "memory");
      });
    }
    if (command == "read") {
      int threads = 1;
      words >> bytes >> threads >> count;
      return read(bytes, threads, count);
    }
    if (command == "compile") {
      std::string path;
      words >> count >> std::ws;
      std::getline(words, path);
      return compile(path, count);
    }
    throw std::runtime_error("unknown command '" + command + "'");
  }

 private:
  std::string read(size_t bytes, int threads, size_t count) {
    constexpr size_t kBlock = 4096;
    const std::byte* from = from_.get(bytes);
    const ingot::ThreadTeam team(threads);
    const auto part = [](void* context, int64_t begin, int64_t end) {
      const auto* memory = static_cast<const std::byte*>(context);
      sum(memory + static_cast<size_t>(begin) * kBlock, memory + static_cast<size_t>(end) * kBlock);
    };
    return times(count,
                 [&] { team.parallel_for(static_cast<int64_t>(bytes / kBlock), part, const_cast<std::byte*>(from)); });
  }

  // Every PrimFunc of the executable whose dimensions are numbers, `count` times.
  static std::string compile(const std::string& path, size_t count) {
    const ingot::vm::Program program = ingot::vm::load_program(path);
    const ingot::Cpu cpu = ingot::detect_cpu();
    std::string result;
    for (const auto& call : program.kernels) {
      if (!call.prim_func) continue;
      std::vector<std::vector<int64_t>> dims;
      for (size_t i = 0; i < call.prim_func->params; ++i) {
        dims.emplace_back();
        for (const auto& dim : call.prim_func->buffers[i].dims) dims.back().push_back(dim.as_const().value_or(1));
      }
      result += (result.empty() ? "" : " ") +
                times(count, [&] { (void)ingot::jit::CompiledFunc::compile(*call.prim_func, dims, {}, cpu, 1); });
    }
    return result;
  }

  Memory from_, to_;
};

}  // namespace

int main() {
  Runner runner;
  ingot::bench::answer_commands([&](const std::string& line) { return runner.answer(line); });
}
