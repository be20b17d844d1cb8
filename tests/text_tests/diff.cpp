#include "tests/text_tests/diff.h"

#include <algorithm>
#include <cstdint>

namespace ingot::text_tests {
namespace {

constexpr size_t kContext = 3;
constexpr size_t kMaxTable = 4'000'000;

struct Line {
  char mark;
  const std::string* text;
};

// Longest common subsequence; beyond kMaxTable cells everything between common head and tail counts as changed.
std::vector<Line> align(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const size_t rows = a.size() - head - tail;
  const size_t columns = b.size() - head - tail;

  std::vector<Line> lines;
  for (size_t i = 0; i < head; ++i) lines.push_back({' ', &a[i]});
  if ((rows + 1) * (columns + 1) > kMaxTable) {
    for (size_t i = 0; i < rows; ++i) lines.push_back({'-', &a[head + i]});
    for (size_t j = 0; j < columns; ++j) lines.push_back({'+', &b[head + j]});
  } else {
    std::vector<uint32_t> common((rows + 1) * (columns + 1), 0);
    auto at = [&](size_t i, size_t j) -> uint32_t& { return common[i * (columns + 1) + j]; };
    for (size_t i = rows; i-- > 0;)
      for (size_t j = columns; j-- > 0;)
        at(i, j) = a[head + i] == b[head + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    size_t i = 0;
    size_t j = 0;
    while (i < rows || j < columns) {
      if (i < rows && j < columns && a[head + i] == b[head + j]) {
        lines.push_back({' ', &a[head + i]});
        ++i;
        ++j;
      } else if (i < rows && (j == columns || at(i + 1, j) >= at(i, j + 1))) {
        lines.push_back({'-', &a[head + i++]});
      } else {
        lines.push_back({'+', &b[head + j++]});
      }
    }
  }
  for (size_t i = a.size() - tail; i < a.size(); ++i) lines.push_back({' ', &a[i]});
  return lines;
}

}  // namespace

std::string diff_lines(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  const std::vector<Line> lines = align(expected, actual);
  std::vector<bool> shown(lines.size(), false);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].mark == ' ') continue;
    const size_t first = i < kContext ? 0 : i - kContext;
    for (size_t k = first; k < std::min(lines.size(), i + kContext + 1); ++k) shown[k] = true;
  }
  std::string result;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (shown[i])
      result += std::string("    ") + lines[i].mark + *lines[i].text + '\n';
    else if (i == 0 || shown[i - 1])
      result += "     ...\n";
  }
  return result;
}

}  // namespace ingot::text_tests
