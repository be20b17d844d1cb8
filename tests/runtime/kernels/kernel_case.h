#pragma once
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/kernel.h"

namespace ingot::test {

// One operand of a kernel call with its elements: logical, row-major, as doubles.
struct Operand {
  std::vector<int64_t> dims;
  Layout layout = Layout::RowMajor;
  DType dtype = DType::Float32;
  std::vector<double> values = {};  // empty for outputs
  bool constant = false;
};

// A small kernel call with its operands; call.inputs may stay 0 for "as many as there are".
struct KernelCase {
  KernelCall call;
  std::vector<Operand> inputs;
  Operand output;
  Cpu cpu = Cpu::Any;
  int threads = 1;
  bool varying = false;  // prepared as one of a family in which all dimensions vary

  std::string text() const;  // for failure messages
};

struct KernelResult {
  std::vector<double> values;  // logical, row-major
  std::string implementation;
  std::vector<size_t> in_place;  // inputs on which the output may lie
};

// Prepares the case for the variant (the best one if it is empty) and runs it, and again with output 0 on the memory of
// each input where that may be. Expects all results to be equal, inputs to be unchanged, and
// nothing to be written outside of output and scratch. nullopt where the variant does not accept the case.
std::optional<KernelResult> run_case(const KernelCase& problem, std::string_view variant = {},
                                     PackCache* packs = nullptr);

// Runs every variant of the case's contract but the reference, also with dimensions that vary, and expects its values
// within the tolerances. Returns the variants that accepted it.
std::set<std::string_view> expect_variants_agree(const KernelCase& problem, double rtol = 1e-4, double atol = 1e-5);

// Prepares and throws the kernel away: for errors.
void prepare_case(const KernelCase& problem, std::string_view variant = {});
// The message of the Error that prepare_case throws, with its code: "ShapeMismatch: conv2d: ...".
std::string prepare_error(const KernelCase& problem, std::string_view variant = {});

// Numbers in [-1, 1), the same in every run.
class Numbers {
 public:
  explicit Numbers(unsigned seed) : engine_(seed) {}
  Operand operand(std::vector<int64_t> dims, Layout layout = Layout::RowMajor, DType dtype = DType::Float32,
                  bool constant = false);
  int64_t pick(std::initializer_list<int64_t> choices);
  int64_t between(int64_t low, int64_t high);
  bool chance(int percent) { return between(0, 99) < percent; }
  Layout layout() { return chance(50) ? Layout::ChannelsLast : Layout::RowMajor; }
  // Up to two post-ops that any kernel takes, with their inputs appended to `inputs`.
  std::vector<PostOp> post_ops(std::vector<Operand>& inputs, const std::vector<int64_t>& dims, bool any_layout);

 private:
  std::mt19937 engine_;
};

}  // namespace ingot::test
