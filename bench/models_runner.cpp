// Our side of suite models: answers the protocol of bench/runner.py on stdin and stdout.

#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/answer_commands.h"
#include <ingot/ingot.hpp>

namespace {

using ingot::api::Executable;
using ingot::api::LoadOptions;
using ingot::api::Session;
using ingot::api::Value;

class Stopwatch {
 public:
  double microseconds() const { return std::chrono::duration<double, std::micro>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// float32 arange(n) / n in the shape of a text like 1x3x224x224.
Value arange_input(const std::string& shape) {
  std::vector<int64_t> dims;
  size_t count = 1;
  std::istringstream words(shape);
  for (std::string word; std::getline(words, word, 'x');) {
    dims.push_back(std::stoll(word));
    count *= static_cast<size_t>(dims.back());
  }
  std::vector<float> elements(count);
  for (size_t i = 0; i < count; ++i)
    elements[i] = static_cast<float>(static_cast<double>(i) / static_cast<double>(count));
  return Value::tensor<float>(elements, dims);
}

class Runner {
 public:
  // The words of the answer behind "ok".
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::ostringstream result;
    result << std::fixed;
    result.precision(3);
    std::string command;
    words >> command;
    if (command == "version") {
      result << "ingot " << INGOT_VERSION;
    } else if (command == "load") {
      LoadOptions options;
      std::string path;
      words >> options.threads >> std::ws;
      std::getline(words, path);
      const Stopwatch watch;
      session_.emplace(Executable::load(path, options));
      result << watch.microseconds();
    } else if (command == "input") {
      size_t position = 0;
      std::string shape;
      words >> position >> shape;
      session().set(position, arange_input(shape));
    } else if (command == "scalar") {
      size_t position = 0;
      int64_t number = 0;
      words >> position >> number;
      session().set(position, Value::scalar<int64_t>(number));
    } else if (command == "run") {
      size_t count = 0;
      words >> count;
      for (size_t i = 0; i < count; ++i) {
        const Stopwatch watch;
        session().run();
        result << (i == 0 ? "" : " ") << watch.microseconds();
      }
    } else if (command == "output") {
      std::string path;
      words >> path;
      session().run();
      const Value output = session().output(0);
      const auto bytes = std::as_bytes(output.elements<float>());
      std::ofstream file(path, std::ios::binary);
      file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      if (!file.flush()) throw std::runtime_error("cannot write " + path);
    } else if (command == "unload") {
      session_.reset();
    } else {
      throw std::runtime_error("unknown command " + command);
    }
    return result.str();
  }

 private:
  Session& session() {
    if (!session_) throw std::runtime_error("no model is loaded");
    return *session_;
  }

  std::optional<Session> session_;
};

}  // namespace

int main() {
  Runner runner;
  ingot::bench::answer_commands([&](const std::string& line) { return runner.answer(line); });
}
