#pragma once
#include <vector>

#include "runtime/checks/match.h"
#include "vm/executable/program.h"

namespace ingot::vm {

// What closures of a program are at run time: the signature of their function with the dimensions that they have
// captured. Refers to the program. Immutable and thread safe.
class ClosureInfos {
 public:
  explicit ClosureInfos(const Program& program);

  // Does the signature mention variables that its closures have captured?
  bool depends_on_captures(uint32_t function) const { return !captures_[function].empty(); }
  StructInfo of(const Slot& closure) const;

 private:
  const Program* program_;
  // For each function whose signature depends on them, the StructInfo of all captures.
  std::vector<std::vector<StructInfo>> captures_;
};

}  // namespace ingot::vm
