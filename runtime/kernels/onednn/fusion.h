#pragma once
#include <functional>
#include <vector>

#include "runtime/kernels/onednn/program.h"

namespace ingot::onednn {

// The descriptor of a rank-4 operand; channels-last where both layouts are the same bytes, so that fewer reorders are
// needed.
Desc spatial_desc(const OperandSpec& operand);
// The same for operands of any rank.
Desc dense_desc(const OperandSpec& operand);

// The post-ops of a call, whose inputs start at `first_input`, for a result described by `result`. The first Add of the
// result's shape becomes a Sum: it is cheaper than a Binary even where the operand has to be copied first. Other
// operands of the result's shape are wanted in its layout: oneDNN 2.6 reads them so even where they have another.
// Without `takes_sum` there are no Sums.
std::vector<FusedOp> fuse_post_ops(const Problem& problem, size_t first_input, const Desc& result,
                                   const std::function<Desc(const OperandSpec&)>& describe, bool takes_sum = true);

// A primitive that does the first `count` of some operations itself.
struct Fused {
  Primitive primitive;
  size_t count = 0;
};
// The primitive that `make` gives for as many operations as oneDNN does right, or for none where it is then less slow.
std::optional<Fused> make_fused(std::span<const FusedOp> ops,
                                const std::function<std::optional<Primitive>(std::span<const FusedOp>)>& make);

// Appends the primitive, with its operations in it or behind it, and a reorder of its result to the output where that
// is described otherwise; sets the implementation's name and the input that may share memory with the output.
void append_fused(Program& program, const Fused& fused, std::span<const FusedOp> ops,
                  std::vector<Program::Argument> arguments, const View& output,
                  const std::function<View(size_t input)>& describe);

// An elementwise kernel: input 0 with an operand of the same shape or broadcast, then `more` operations and the
// post-ops, whose inputs start at `first_input`. Null where oneDNN has none, or one that is slow.
struct Elementwise {
  dnnl::algorithm algorithm;
  size_t operand;  // an input
  Desc operand_desc;
  std::vector<FusedOp> more;
  size_t first_input;
};
std::unique_ptr<Kernel> make_elementwise(const Problem& problem, const Elementwise& what);

}  // namespace ingot::onednn
