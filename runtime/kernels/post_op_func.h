#pragma once
#include <memory>
#include <span>

#include "runtime/jit/compiled_func.h"
#include "runtime/kernels/kernel.h"
#include "runtime/tir/prim_func.h"

namespace ingot {

// The last post-ops of a call as one elementwise function of its float32 result, for kernels that do not apply them
// themselves. It is made once for all values of the dimensions that vary.
class PostOpFunc {
 public:
  // From post-op `first` of the call on, whose operand, if any, is input `first_input`. Null where the generator does
  // not take it. The result's address is input and output at once.
  static std::unique_ptr<const PostOpFunc> make(const Problem& problem, size_t first, size_t first_input);

  // For the dimensions of this problem; null where they broadcast otherwise than those that it was made for.
  std::unique_ptr<const jit::CompiledFunc> at(const Problem& problem, int threads) const;

  // The inputs of the call that it reads, in order of its parameters after the result.
  std::span<const size_t> operands() const { return operands_; }

 private:
  // Along which dimensions each operand is broadcast.
  using Pattern = std::vector<std::vector<bool>>;
  static Pattern pattern_of(const Problem& problem, std::span<const size_t> operands);

  std::vector<size_t> operands_;
  Pattern pattern_;
  tir::PrimFunc func_;
  std::unique_ptr<const jit::ShapedFunc> shaped_;
};

}  // namespace ingot
