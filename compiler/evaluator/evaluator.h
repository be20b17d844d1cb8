#pragma once
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/module.h"
#include "runtime/registry/packed_func.h"

namespace ingot::evaluator {

struct Options {
  Registry registry;  // the host's PackedFuncs
  std::optional<std::set<std::string>>
      allow;  // names that the program may call besides ingot.*; none: all of `registry`
  std::function<void(std::string_view)> log;    // ingot.log
  std::function<void(std::string_view)> print;  // ingot.print
  size_t stack_bytes = 0;                       // of the C++ stack that calls may fill; 0: nobody knows
};

// Runs a function of a module of form Typed by walking its tree: slow and obvious, the oracle for the VM.
//
// It shares with the VM what operators mean (PrimFuncs and reference kernels), the functions ingot.* and the words of
// errors (runtime/checks), and nothing else: no plan, no bytecode, no pass after inference. The value, or the Error
// that it throws, is what the program prescribes. Uses the C++ stack for calls other than tail calls: run it on a thread
// with a large one, and say how large, so that recursion that does not fit is ResourceExhausted.
Value evaluate(const ir::Module& module, std::string_view function, std::span<const Value> args,
               const Options& options);

}  // namespace ingot::evaluator
