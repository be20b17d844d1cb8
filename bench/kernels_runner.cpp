// Our side of suite kernels: limits of this machine's memory, and how long the kernel generator takes. Answers the
// protocol of bench/runner.py on stdin and stdout, with the commands that bench/suites/kernels.py tells.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/base/cpu.h"
#include "runtime/base/error.h"
#include "runtime/jit/compiled_func.h"
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

class Runner {
 public:
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    size_t bytes = 0, count = 0;
    words >> command;
    if (command == "version") return "memory 1";
    if (command == "memcpy" || command == "read") {
      words >> bytes >> count;
      from_.resize(bytes, 1);
      to_.resize(bytes, 2);
      if (command == "read") return times(count, [&] { sum(); });
      return times(count, [&] {
        std::memcpy(to_.data(), from_.data(), bytes);
        asm volatile("" : : "r"(to_.data()) : "memory");
      });
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
  // As fast as one core adds what lies in memory.
  void sum() {
    using Lanes [[gnu::vector_size(64)]] = float;
    Lanes sums[8] = {};
    for (size_t at = 0; at + sizeof sums <= from_.size(); at += sizeof sums)
      for (size_t i = 0; i < 8; ++i) {
        Lanes part;
        std::memcpy(&part, from_.data() + at + i * sizeof part, sizeof part);
        sums[i] += part;
      }
    for (const Lanes& part : sums) asm volatile("" : : "m"(part));
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

  std::vector<char> from_, to_;
};

}  // namespace

int main() {
  Runner runner;
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    try {
      std::cout << "ok " << runner.answer(line) << std::endl;
    } catch (const std::exception& error) {
      std::cout << "error " << error.what() << std::endl;
    }
  }
}
