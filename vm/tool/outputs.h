#pragma once
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "runtime/object/value.h"
#include "runtime/tensor/tensor.h"
#include <ingot/ingot.hpp>

namespace ingot::tool {

// One output of a program: its text, and its elements where it is a tensor.
struct Output {
  std::string text;
  Ref<TensorObject> tensor;
};
Output output_of(const api::Value& value);
Output output_of(const Value& value);

// What becomes of outputs.
struct OutputOptions {
  std::vector<std::string> files;     // --output, by position
  std::vector<std::string> expected;  // --expected, by position
  double rtol = 1e-3;
  double atol = 1e-5;
  bool json = false;
};
void add_output_options(CLI::App& command, OutputOptions& options);

// Writes files, compares with what is expected, or prints, a line for each output. Gives the exit code: 1 where an
// output is wrong.
int deliver(std::span<const Output> outputs, const OutputOptions& options);

}  // namespace ingot::tool
