#include "compiler/ops/ops.h"

namespace ingot::ops {

namespace {

constexpr Absent kAbsent[] = {
#define ABSENT(names, reason) {names, reason},
#include "compiler/ops/absent_ops.def"
};

bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

std::span<const Absent> absent() { return kAbsent; }

std::string_view instead_of(std::string_view name) {
  constexpr std::string_view kPrefix = "relax.";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  for (const Absent& line : kAbsent) {
    std::string_view rest = line.names;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      if (matches(rest.substr(0, end), name)) return line.reason;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

}  // namespace ingot::ops
