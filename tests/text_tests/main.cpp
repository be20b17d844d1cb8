// ingot-text-tests: runs text tests, files that hold a program, the commands to run on it, and what they must print.
// docs/testing.md describes the format.

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/text_tests/case_file.h"
#include "tests/text_tests/run_case.h"

namespace ingot::text_tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsage =
    "usage: ingot-text-tests [--tool PROGRAM] [--threads N] [--timeout SECONDS] PATH...\n"
    "\n"
    "Runs the cases of test files, and of all .relax, .test and .asm files below folders. INGOT_BLESS=1 rewrites the\n"
    "expectations that differ. `ingot` and `ingot-rt` are the programs beside this one, or both PROGRAM.\n";

struct Options {
  RunOptions run;
  size_t threads = 2;
  std::vector<fs::path> paths;
};

struct Job {
  size_t file;
  size_t index;
  CaseResult result;
};

size_t parse_number(const std::string& text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0)
    throw std::runtime_error("'" + text + "' is not a positive number");
  return number;
}

Options parse_arguments(int argc, char** argv) {
  Options options;
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path();
  options.run.tools = {{"ingot", beside / "ingot"}, {"ingot-rt", beside / "ingot-rt"}};
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i < words.size(); ++i) {
    auto value = [&]() -> const std::string& {
      if (i + 1 == words.size()) throw std::runtime_error(words[i] + " needs a value");
      return words[++i];
    };
    if (words[i] == "--tool") {
      const fs::path tool = fs::absolute(value());
      options.run.tools = {{"ingot", tool}, {"ingot-rt", tool}};
    } else if (words[i] == "--threads") {
      options.threads = parse_number(value());
    } else if (words[i] == "--timeout") {
      options.run.timeout = std::chrono::seconds(parse_number(value()));
    } else if (words[i].starts_with("-")) {
      throw std::runtime_error("unknown option " + words[i]);
    } else {
      options.paths.emplace_back(words[i]);
    }
  }
  if (options.paths.empty()) throw std::runtime_error("no PATH is given");
  return options;
}

struct Files {
  std::vector<TestFile> tests;
  std::vector<std::string> malformed;  // what is wrong with those that are no tests
};

// Files as given, folders searched in sorted order. A file without cases is wrong when it was named itself; in a folder
// it is input of another test.
Files read_files(const std::vector<fs::path>& paths) {
  Files files;
  auto read = [&](const fs::path& path, bool named) {
    try {
      TestFile file = read_test_file(path);
      if (!file.cases.empty())
        files.tests.push_back(std::move(file));
      else if (named)
        files.malformed.push_back(path.string() + ": no '// RUN:' line");
      else
        std::cout << "note: " << path.string() << " has no '// RUN:' line and is no test\n";
    } catch (const std::runtime_error& error) {
      files.malformed.emplace_back(error.what());
    }
  };
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      read(path, true);
      continue;
    }
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      const fs::path suffix = entry.path().extension();
      if (entry.is_regular_file() && (suffix == ".relax" || suffix == ".test" || suffix == ".asm"))
        found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    for (const fs::path& name : found) read(name, false);
  }
  return files;
}

void run_jobs(const std::vector<TestFile>& files, std::vector<Job>& jobs, const Options& options) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++)
      jobs[i].result = run_case(files[jobs[i].file], jobs[i].index, options.run);
  };
  std::vector<std::jthread> team;
  for (size_t i = 1; i < std::min(options.threads, jobs.size()); ++i) team.emplace_back(work);
  work();
}

// Rewrites expectations; the cases that they make pass count as passed.
void bless(const std::vector<TestFile>& files, std::vector<Job>& jobs) {
  for (size_t f = 0; f < files.size(); ++f) {
    std::vector<NewExpectation> changes;
    for (Job& job : jobs) {
      if (job.file != f || job.result.expectations.empty()) continue;
      if (files[f].cases[job.index].expected_failure) continue;
      changes.insert(changes.end(), job.result.expectations.begin(), job.result.expectations.end());
      job.result.passed = true;
    }
    if (changes.empty()) continue;
    write_expectations(files[f], changes);
    std::cout << "blessed " << files[f].path.string() << '\n';
  }
}

int report(const Files& files, const std::vector<Job>& jobs) {
  size_t passed = 0;
  size_t failed = files.malformed.size();
  for (const std::string& message : files.malformed) std::cout << "FAIL " << message << "\n\n";
  size_t expected_failures = 0;
  for (const Job& job : jobs) {
    const TestFile& file = files.tests[job.file];
    const TestCase& test = file.cases[job.index];
    if (!job.result.passed && test.expected_failure) {
      ++expected_failures;
    } else if (job.result.passed && !test.expected_failure) {
      ++passed;
    } else {
      ++failed;
      std::cout << "FAIL " << file.path.string() << ':' << test.line + 1 << ": " << test.runs[0] << '\n';
      if (job.result.passed)
        std::cout << "  passes, but is marked XFAIL: " << *test.expected_failure << "\n  remove the mark\n";
      std::cout << job.result.message << '\n';
    }
  }
  if (expected_failures > 0) std::cout << expected_failures << " expected failures\n";
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  const Options options = parse_arguments(argc, argv);
  const Files files = read_files(options.paths);
  std::vector<Job> jobs;
  for (size_t f = 0; f < files.tests.size(); ++f)
    for (size_t i = 0; i < files.tests[f].cases.size(); ++i) jobs.push_back({f, i, {}});
  if (jobs.empty() && files.malformed.empty()) throw std::runtime_error("no cases found");
  run_jobs(files.tests, jobs, options);
  const char* blessing = std::getenv("INGOT_BLESS");
  if (blessing != nullptr && std::string(blessing) == "1") bless(files.tests, jobs);
  return report(files, jobs);
}

}  // namespace
}  // namespace ingot::text_tests

int main(int argc, char** argv) {
  if (argc == 2 && (std::string(argv[1]) == "--help" || std::string(argv[1]) == "-h")) {
    std::cout << ingot::text_tests::kUsage;
    return 0;
  }
  try {
    return ingot::text_tests::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "ingot-text-tests: " << error.what() << '\n' << ingot::text_tests::kUsage;
    return 2;
  }
}
