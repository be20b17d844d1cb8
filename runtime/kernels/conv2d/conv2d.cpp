#include "runtime/kernels/conv2d/conv2d.h"

#include "runtime/base/error.h"
#include "runtime/kernels/check.h"

namespace ingot {

Conv2dAttributes conv2d_attributes(const KernelCall& call) {
  return {.strides = integers_in_range<2>(call, "strides", 1, 1, kMaxExtent),
          .dilation = integers_in_range<2>(call, "dilation", 1, 1, kMaxExtent),
          .padding = integers_in_range<4>(call, "padding", 0, 0, kMaxExtent),
          .groups = integer_in_range(call, "groups", 1, 1, kMaxExtent),
          .has_bias = integer_in_range(call, "has_bias", 0, 0, 1) == 1};
}

bool conv2d_channels_last(const KernelCall& call, size_t operand) {
  const size_t first_post_op = call.integer("has_bias", 0) == 1 ? 3 : 2;
  return operand == 0 || operand >= first_post_op;
}

void check_conv2d(const Problem& problem) {
  const KernelCall& call = *problem.call;
  check_attributes(call, {"strides", "padding", "dilation", "groups", "has_bias"});
  const Conv2dAttributes attributes = conv2d_attributes(call);
  if (attributes.has_bias)
    check_operands(problem, {"data", "weight", "bias"});
  else
    check_operands(problem, {"data", "weight"});
  check_dtypes(problem, false);

  const OperandSpec& data = problem.inputs[0];
  const OperandSpec& weight = problem.inputs[1];
  const OperandSpec& output = problem.outputs[0];
  check_spatial(problem, data, "data");
  check_spatial(problem, weight, "weight");
  check_spatial(problem, output, "the result");

  const int64_t groups = attributes.groups;
  const int64_t channels = data.dims[1];
  const int64_t outputs = weight.dims[0];
  if (channels % groups != 0 || weight.dims[1] != channels / groups)
    fail(ErrorCode::ShapeMismatch, "conv2d: weight has {} input channels per group, data has {} in {} group{}",
         weight.dims[1], channels, groups, groups == 1 ? "" : "s");
  if (outputs % groups != 0)
    fail(ErrorCode::ShapeMismatch, "conv2d: weight has {} output channels, which {} groups do not divide", outputs,
         groups);
  if (attributes.has_bias && problem.inputs[2].dims != std::vector<int64_t>{outputs})
    fail(ErrorCode::ShapeMismatch, "conv2d: bias has shape {}, weight has {} output channels",
         shape_text(problem.inputs[2].dims), outputs);

  std::vector<int64_t> expected = {data.dims[0], outputs, 0, 0};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t kernel = weight.dims[2 + d];
    if (kernel < 1) fail(ErrorCode::ShapeMismatch, "conv2d: weight has an empty kernel {}", shape_text(weight.dims));
    const int64_t padded = data.dims[2 + d] + attributes.padding[d] + attributes.padding[2 + d];
    const int64_t reach = attributes.dilation[d] * (kernel - 1) + 1;
    if (reach > padded)
      fail(ErrorCode::ShapeMismatch,
           "conv2d: the dilated kernel spans {} elements of dimension {}, the padded data has {}", reach, 2 + d,
           padded);
    expected[2 + d] = (padded - reach) / attributes.strides[d] + 1;
  }
  if (output.dims != expected)
    fail(ErrorCode::ShapeMismatch, "conv2d: the result has shape {}, the operands give {}", shape_text(output.dims),
         shape_text(expected));
  check_post_op_inputs(problem, attributes.has_bias ? 3 : 2);
}

}  // namespace ingot
