#pragma once
#include <string>

#include "reference.h"
#include "runtime/base/cpu.h"
#include "runtime/parallel/thread_team.h"

// Generated code against the interpreter.
namespace ingot::tir {

struct Outcome {
  bool compiled = false;
  RunStatus status;
};

// Runs generated code on the parameters' bytes: copies of them at odd multiples of their elements' size, with a margin
// that must not change.
Outcome run_jit(const PrimFunc& func, const Dims& dims, std::vector<Bytes>& buffers, Cpu cpu, const ThreadTeam& team);

// The same with code that is made for all dimensions at once, or at least for all values of the first one of each
// parameter.
Outcome run_shaped(const PrimFunc& func, const Dims& dims, std::vector<Bytes>& buffers, Cpu cpu,
                   const ThreadTeam& team);

// Same bits, or both NaN, or within the tolerance times the greater of 1 and the second one's size.
bool close_elements(DType dtype, const Bytes& a, const Bytes& b, double tolerance);

// Where they differ first.
std::string difference(DType dtype, const Bytes& actual, const Bytes& expected);

}  // namespace ingot::tir
