#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/text_tests/case_file.h"

namespace ingot::text_tests {

struct RunOptions {
  std::map<std::string, std::filesystem::path> tools;  // name in a RUN line -> program
  std::chrono::seconds timeout{120};
};

struct CaseResult {
  bool passed = false;
  std::string message;                       // what was expected and what came, for a case that did not pass
  std::vector<NewExpectation> expectations;  // that would make it pass, if there are any
};

// Runs one case in a temporary folder of its own.
CaseResult run_case(const TestFile& file, size_t index, const RunOptions& options);

// Splits a RUN line into words, with '...' and "..." and backslash as in a shell.
std::vector<std::string> split_words(const std::string& line);

}  // namespace ingot::text_tests
