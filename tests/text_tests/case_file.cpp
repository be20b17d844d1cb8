#include "tests/text_tests/case_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace ingot::text_tests {
namespace {

constexpr std::string_view kRun = "// RUN:";
constexpr std::string_view kXfail = "// XFAIL:";
constexpr std::string_view kSection = "// ----";

std::string trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

bool is_header(const std::string& line) { return line.starts_with(kRun) || line.starts_with(kXfail); }

std::string title(SectionKind kind) {
  switch (kind) {
    case SectionKind::Expect:
      return "// ---- expect";
    case SectionKind::ExpectError:
      return "// ---- expect error";
    case SectionKind::ExpectWarning:
      return "// ---- expect warning";
  }
  return {};
}

[[noreturn]] void fail(const TestFile& file, size_t line, const std::string& message) {
  throw std::runtime_error(file.path.string() + ":" + std::to_string(line + 1) + ": " + message);
}

SectionKind section_kind(const TestFile& file, size_t line) {
  const std::string found = trim(file.lines[line]);
  for (auto kind : {SectionKind::Expect, SectionKind::ExpectError, SectionKind::ExpectWarning})
    if (found == title(kind)) return kind;
  fail(file, line, "'" + found + "' is none of '// ---- expect', '// ---- expect error' and '// ---- expect warning'");
}

}  // namespace

const Section* TestCase::find(SectionKind kind) const {
  auto it = std::find_if(sections.begin(), sections.end(), [&](const Section& s) { return s.kind == kind; });
  return it == sections.end() ? nullptr : &*it;
}

std::string TestFile::text(size_t first, size_t last) const {
  std::string result;
  for (size_t i = first; i < last; ++i) result += lines[i] + '\n';
  return result;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> significant_lines(const std::string& text) {
  std::vector<std::string> lines = split_lines(text);
  for (std::string& line : lines) line.erase(line.find_last_not_of(" \t\r") + 1);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

TestFile read_test_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream contents;
  contents << in.rdbuf();
  if (!in) throw std::runtime_error(path.string() + ": cannot be read");
  TestFile file{path, split_lines(contents.str()), {}};

  const size_t end = file.lines.size();
  const bool page = path.extension() == ".md";
  const auto is_fence = [&](size_t i) { return page && file.lines[i].starts_with("```"); };
  auto ends_part = [&](size_t i) {
    return i == end || is_header(file.lines[i]) || file.lines[i].starts_with(kSection) || is_fence(i);
  };
  size_t i = 0;
  while (i < end && !is_header(file.lines[i])) ++i;
  while (i < end) {
    TestCase test;
    test.line = i;
    for (; i < end && is_header(file.lines[i]); ++i) {
      const std::string& line = file.lines[i];
      if (line.starts_with(kRun))
        test.runs.push_back(trim(std::string_view(line).substr(kRun.size())));
      else
        test.expected_failure = trim(std::string_view(line).substr(kXfail.size()));
    }
    if (test.runs.empty()) fail(file, test.line, "the case has no '// RUN:' line");
    test.text_first = i;
    while (!ends_part(i)) ++i;
    test.text_last = i;
    while (i < end && !is_header(file.lines[i])) {
      if (is_fence(i)) {
        while (i < end && !is_header(file.lines[i])) ++i;
        break;
      }
      const SectionKind kind = section_kind(file, i);
      if (test.find(kind) != nullptr) fail(file, i, "the case has this section already");
      const size_t first = ++i;
      while (!ends_part(i)) ++i;
      test.sections.push_back({kind, first, i});
    }
    if (test.find(SectionKind::ExpectError) != nullptr && test.find(SectionKind::ExpectWarning) != nullptr)
      fail(file, test.line, "a case cannot expect both an error and a warning: one fails, the other does not");
    file.cases.push_back(std::move(test));
  }
  return file;
}

void write_expectations(const TestFile& file, const std::vector<NewExpectation>& expectations) {
  std::vector<std::string> lines = file.lines;
  auto replace = [&](size_t first, size_t last, const std::vector<std::string>& with) {
    auto at = lines.erase(lines.begin() + static_cast<ptrdiff_t>(first), lines.begin() + static_cast<ptrdiff_t>(last));
    lines.insert(at, with.begin(), with.end());
  };
  // From the bottom up, so that the lines above keep their numbers.
  for (size_t index = file.cases.size(); index-- > 0;) {
    const TestCase& test = file.cases[index];
    std::vector<std::string> added;
    std::vector<std::pair<Section, std::vector<std::string>>> changed;
    for (const NewExpectation& expectation : expectations) {
      if (expectation.case_index != index) continue;
      std::vector<std::string> text = significant_lines(expectation.text);
      if (const Section* section = test.find(expectation.kind)) {
        // Empty lines at the end of an expectation separate cases, and stay.
        for (size_t i = section->last; i > section->first && trim(file.lines[i - 1]).empty(); --i) text.emplace_back();
        changed.emplace_back(*section, std::move(text));
      } else {
        added.push_back(title(expectation.kind));
        added.insert(added.end(), text.begin(), text.end());
      }
    }
    const size_t bottom = test.sections.empty() ? test.text_last : test.sections.back().last;
    replace(bottom, bottom, added);
    std::sort(changed.begin(), changed.end(), [](auto& a, auto& b) { return a.first.first > b.first.first; });
    for (const auto& [section, text] : changed) replace(section.first, section.last, text);
  }

  std::ofstream out(file.path, std::ios::binary);
  for (const std::string& line : lines) out << line << '\n';
  out.close();
  if (!out) throw std::runtime_error(file.path.string() + ": cannot be written");
}

}  // namespace ingot::text_tests
