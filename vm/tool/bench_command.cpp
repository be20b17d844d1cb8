#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "vm/tool/arguments.h"
#include "vm/tool/commands.h"
#include "vm/tool/forms.h"

namespace ingot::tool {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  RunArguments run;
  MachineOptions machine;
  double seconds = 2;
  size_t runs = 0;
  bool json = false;
};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Report {
  double load_ms = 0;
  double first_ms = 0;
  std::vector<double> runs_ms;  // sorted
  ingot_memory memory{};

  double percentile(double p) const {
    return runs_ms[static_cast<size_t>(std::lround(p * static_cast<double>(runs_ms.size() - 1)))];
  }
  double mean() const {
    return std::accumulate(runs_ms.begin(), runs_ms.end(), 0.0) / static_cast<double>(runs_ms.size());
  }
};

// A line that is written over, on terminals only, for runs of more than two seconds.
class Progress {
 public:
  Progress() : shown_(::isatty(STDERR_FILENO) != 0), start_(Clock::now()) {}
  ~Progress() {
    if (written_) std::fputs("\r\033[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(size_t runs) {
    if (!shown_ || ms_since(start_) < 2000 || (written_ && ms_since(last_) < 200)) return;
    last_ = Clock::now();
    written_ = true;
    const std::string text = fmt::format("\r{} runs", runs);
    std::fputs(text.c_str(), stderr);
  }

 private:
  bool shown_;
  bool written_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
};

// A wrong count is an error before minutes are spent on it.
Report measure(const Options& options, const Sources& sources) {
  Report report;
  const auto start = Clock::now();
  const api::Executable executable = sources.load(options.run.file, options.machine.load_options());
  report.load_ms = ms_since(start);
  api::Session session = make_session(executable, options.machine);
  const std::string& function = options.run.function;
  const std::vector<Value> inputs = parse_inputs(options.run.inputs, executable.params(function), function,
                                                 [&](const api::Param& param, size_t index) {
                                                   auto value = random_value(param.info, index);
                                                   return value ? *value : refuse_missing(param, function);
                                                 });
  for (size_t i = 0; i < inputs.size(); ++i) session.set(i, to_api(inputs[i]), function);
  const api::RunOptions run_options = options.machine.run_options();
  const auto run_once = [&] {
    const auto begin = Clock::now();
    session.run(function, run_options);
    return ms_since(begin);
  };
  report.first_ms = run_once();
  Progress progress;
  const auto begin = Clock::now();
  do {
    report.runs_ms.push_back(run_once());
    progress.update(report.runs_ms.size());
  } while (options.runs != 0 ? report.runs_ms.size() < options.runs : ms_since(begin) < options.seconds * 1000);
  std::sort(report.runs_ms.begin(), report.runs_ms.end());
  report.memory = session.memory();
  return report;
}

void print(const Report& report, const Options& options) {
  const double throughput = 1000 / report.mean();
  if (options.json) {
    const nlohmann::json document = {
        {"file", options.run.file},
        {"function", options.run.function},
        {"threads", options.machine.load.threads},
        {"load_ms", report.load_ms},
        {"first_run_ms", report.first_ms},
        {"runs", report.runs_ms.size()},
        {"min_ms", report.runs_ms.front()},
        {"median_ms", report.percentile(0.5)},
        {"mean_ms", report.mean()},
        {"p90_ms", report.percentile(0.9)},
        {"p99_ms", report.percentile(0.99)},
        {"throughput_per_s", throughput},
        {"peak_bytes", report.memory.peak},
    };
    print_line(document.dump());
    return;
  }
  const auto line = [](std::string_view name, double ms) { print_line(fmt::format("{:<12}{:>12.4f} ms", name, ms)); };
  line("load", report.load_ms);
  line("first run", report.first_ms);
  print_line(fmt::format("{:<12}{:>12}", "runs", report.runs_ms.size()));
  line("min", report.runs_ms.front());
  line("median", report.percentile(0.5));
  line("mean", report.mean());
  line("p90", report.percentile(0.9));
  line("p99", report.percentile(0.99));
  print_line(fmt::format("{:<12}{:>12.1f} runs/s", "throughput", throughput));
  print_line(fmt::format("{:<12}{:>12} bytes", "peak memory", report.memory.peak));
}

}  // namespace

Tool::Command configure_bench(CLI::App& command, const Sources& sources) {
  const auto options = std::make_shared<Options>();
  add_run_arguments(command, options->run);
  add_machine_options(command, options->machine);
  command.add_option("--seconds", options->seconds, "how long to measure")->capture_default_str();
  command.add_option("--runs", options->runs, "how many runs to measure, instead");
  command.add_flag("--json", options->json, "print JSON");
  command.footer("Inputs that are not given are random where their dimensions are known.");
  return [options, &sources] {
    print(measure(*options, sources), *options);
    return 0;
  };
}

}  // namespace ingot::tool
