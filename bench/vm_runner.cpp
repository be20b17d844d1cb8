// Our side of suite vm: answers the protocol of bench/suites/vm.py on stdin and stdout.

#include <charconv>
#include <ctime>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/answer_commands.h"
#include "runtime/tensor/tensor.h"
#include "vm/interpreter/session.h"
#include <ingot/ingot.hpp>

namespace {

using ingot::DType;
using ingot::Value;

// Processor time of this process: neighbours on the machine do not count.
double now_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

[[gnu::noinline]] void empty() { asm volatile(""); }
void (*volatile empty_function)() = empty;

Value tensor(std::initializer_list<int64_t> dims) {
  auto made = ingot::make_tensor(nullptr, DType::Float32, std::span(dims.begin(), dims.size()));
  std::fill_n(made->data, made->bytes, std::byte{});
  Value value(std::move(made));
  ingot::share(value);
  return value;
}

Value parse_argument(const std::string& text) {
  std::vector<int64_t> dims;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, 'x');) dims.push_back(std::stoll(word));
  if (!text.ends_with('x')) return Value::scalar(DType::Int64, dims.at(0));
  return dims.size() == 1 ? tensor({dims[0]}) : tensor({dims.at(0), dims.at(1)});
}

int64_t result_of(const Value& value) {
  if (value.kind() != ingot::Kind::Scalar) return 0;
  return value.slot().dtype == DType::Bool ? value.slot().as<bool>() : value.slot().as<int64_t>();
}

class Program {
 public:
  explicit Program(const std::string& path)
      : public_session_(ingot::api::Executable::load(path)),
        session_(ingot::vm::Session::create(ingot::vm::Executable::load(std::filesystem::path(path)))) {
    session_->register_function("bench.nothing", [](const ingot::PackedArgs&) { return Value(); });
    public_session_.add("bench.nothing", [](std::span<const ingot::api::Value>) { return ingot::api::Value::prim(0); });
  }

  bool has(const std::string& function) const { return session_->executable()->find(function).has_value(); }

  // The result, and nanoseconds of `runs` runs.
  std::pair<int64_t, double> run(const std::string& function, const std::vector<Value>& args, size_t runs) {
    const uint32_t index = *session_->executable()->find(function);
    int64_t result = 0;
    const double start = now_ns();
    for (size_t i = 0; i < runs; ++i) result = result_of(session_->run(index, args));
    return {result, now_ns() - start};
  }

  // The same through the public interface; without arguments.
  double run_publicly(const std::string& function, size_t runs) {
    const double start = now_ns();
    for (size_t i = 0; i < runs; ++i) public_session_.run(function);
    return now_ns() - start;
  }

 private:
  ingot::api::Session public_session_;
  std::shared_ptr<ingot::vm::Session> session_;
};

class Runner {
 public:
  // The words of the answer behind "ok".
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "version") return "ingot " INGOT_VERSION;
    if (command == "load") {
      std::string path;
      words >> std::ws;
      std::getline(words, path);
      programs_.push_back(std::make_unique<Program>(path));
      return "";
    }
    if (command == "call") {
      std::string function;
      words >> function;
      const auto [result, ns] = program_with(function).run(function, arguments(words), 1);
      return std::to_string(result) + " " + std::to_string(ns / 1e3);
    }
    if (command == "repeat") {
      std::string function;
      size_t runs = 0;
      words >> runs >> function;
      return std::to_string(program_with(function).run(function, arguments(words), runs).second);
    }
    if (command == "repeat_publicly") {
      std::string function;
      size_t runs = 0;
      words >> runs >> function;
      return std::to_string(program_with(function).run_publicly(function, runs));
    }
    if (command == "empty_calls") {
      size_t runs = 0;
      words >> runs;
      const double start = now_ns();
      for (size_t i = 0; i < runs; ++i) empty_function();
      return std::to_string(now_ns() - start);
    }
    throw std::runtime_error("unknown command " + command);
  }

 private:
  static std::vector<Value> arguments(std::istringstream& words) {
    std::vector<Value> values;
    for (std::string word; words >> word;) values.push_back(parse_argument(word));
    return values;
  }

  Program& program_with(const std::string& function) {
    for (const auto& program : programs_)
      if (program->has(function)) return *program;
    throw std::runtime_error("no loaded program has @" + function);
  }

  std::vector<std::unique_ptr<Program>> programs_;
};

}  // namespace

int main() {
  Runner runner;
  ingot::bench::answer_commands([&](const std::string& line) { return runner.answer(line); });
}
