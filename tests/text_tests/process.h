#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace ingot::text_tests {

struct ProcessResult {
  int exit_code = 0;
  int signal = 0;  // that ended the process, else 0
  bool timed_out = false;
  std::string out;
  std::string err;
};

// Runs a program in a folder with an empty standard input and waits for its end, or kills it when the time is over.
// words[0] is the path of the program. Throws std::runtime_error when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& words, const std::filesystem::path& folder,
                          std::chrono::seconds timeout);

}  // namespace ingot::text_tests
