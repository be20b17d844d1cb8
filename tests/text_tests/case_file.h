#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ingot::text_tests {

enum class SectionKind {
  Expect,         // `// ---- expect`: what stdout must be
  ExpectError,    // `// ---- expect error`: what stderr must begin with; the run must fail
  ExpectWarning,  // `// ---- expect warning`: what stderr must begin with; the run must succeed
};

// One expectation. Lines `first` to `last`, exclusive, of the file hold its text.
struct Section {
  SectionKind kind;
  size_t first = 0;
  size_t last = 0;
};

// One case of a test file: `// RUN:` lines, the text, expectations. Line numbers count from 0.
struct TestCase {
  size_t line = 0;                              // of its first header line
  std::vector<std::string> runs;                // without `// RUN:`
  std::optional<std::string> expected_failure;  // the reason of `// XFAIL: reason`
  size_t text_first = 0;
  size_t text_last = 0;
  std::vector<Section> sections;

  const Section* find(SectionKind kind) const;
};

// A test file as lines, and the cases in it. Lines before the first header belong to no case.
struct TestFile {
  std::filesystem::path path;
  std::vector<std::string> lines;
  std::vector<TestCase> cases;

  std::string text(size_t first, size_t last) const;
};

// Reads a test file. Throws std::runtime_error with `file:line: ...` where it is malformed.
TestFile read_test_file(const std::filesystem::path& path);

// Splits at line ends; a last line without one counts as well.
std::vector<std::string> split_lines(const std::string& text);

// The text without white space at line ends and without empty lines at its end: what comparisons see.
std::vector<std::string> significant_lines(const std::string& text);

// New contents of a section, for blessing.
struct NewExpectation {
  size_t case_index = 0;
  SectionKind kind;
  std::string text;
};

// Replaces expectations in place, adding sections that are not there yet, and writes the file.
void write_expectations(const TestFile& file, const std::vector<NewExpectation>& expectations);

}  // namespace ingot::text_tests
