#pragma once
#include <optional>
#include <vector>

#include "runtime/checks/match.h"
#include "vm/executable/program.h"

namespace ingot::vm {

// What closures of a program are at run time: the signature of their function with the dimensions that they have
// captured. Refers to the program. Immutable and thread safe.
class ClosureInfos {
 public:
  explicit ClosureInfos(const Program& program);

  // How many variables the signature mentions that its closures have captured.
  size_t captured_count(uint32_t function) const { return captured_[function].size(); }
  // The value of the i-th of them; none where the closure has captured something else. Takes no memory.
  std::optional<int64_t> captured(const Slot& closure, size_t i) const;
  StructInfo of(const Slot& closure) const;

 private:
  // Where the captures hold a variable's value.
  struct Captured {
    SymVar var;
    std::vector<uint32_t> path;   // the capture, then fields of tuples
    std::optional<uint32_t> dim;  // none: the value of a prim
  };
  static std::vector<Captured> captured_by(const Function& function);

  const Program* program_;
  std::vector<std::vector<Captured>> captured_;  // for each function
};

}  // namespace ingot::vm
