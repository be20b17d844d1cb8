#pragma once

#include <string>
#include <vector>

namespace ingot::text_tests {

// A line difference: `-` lines are only in `expected`, `+` lines only in `actual`, the others in both; long stretches
// of equal lines are cut. Every line is indented by four spaces.
std::string diff_lines(const std::vector<std::string>& expected, const std::vector<std::string>& actual);

}  // namespace ingot::text_tests
