#include "runtime/kernels/pool2d/pool2d.h"

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/kernels/check.h"

namespace ingot {

Pool2dAttributes pool2d_attributes(const KernelCall& call) {
  return {.average = integer_in_range(call, "mode", 0, 0, 1) == 1,
          .count_include_pad = integer_in_range(call, "count_include_pad", 0, 0, 1) == 1,
          .window = integers_in_range<2>(call, "window", 1, 1, kMaxExtent),
          .strides = integers_in_range<2>(call, "strides", 1, 1, kMaxExtent),
          .dilation = integers_in_range<2>(call, "dilation", 1, 1, kMaxExtent),
          .padding = integers_in_range<4>(call, "padding", 0, 0, kMaxExtent)};
}

void check_pool2d(const Problem& problem) {
  const KernelCall& call = *problem.call;
  check_attributes(call, {"mode", "window", "strides", "padding", "dilation", "count_include_pad"});
  const Pool2dAttributes attributes = pool2d_attributes(call);
  check_operands(problem, {"data"});
  check_dtypes(problem, attributes.average);

  const OperandSpec& data = problem.inputs[0];
  const OperandSpec& output = problem.outputs[0];
  check_spatial(problem, data, "data");
  check_spatial(problem, output, "the result");
  if (data.dims[0] != output.dims[0] || data.dims[1] != output.dims[1])
    fail(ErrorCode::ShapeMismatch, "pool2d: the result has shape {}, data has {}", shape_text(output.dims),
         shape_text(data.dims));
  for (size_t d = 0; d < 2; ++d) {
    const int64_t padded = data.dims[2 + d] + attributes.padding[d] + attributes.padding[2 + d];
    const int64_t reach = attributes.dilation[d] * (attributes.window[d] - 1) + 1;
    if (reach > padded)
      fail(ErrorCode::ShapeMismatch, "pool2d: the window spans {} elements of dimension {}, the padded data has {}",
           reach, 2 + d, padded);
    const int64_t rest = padded - reach;
    const int64_t stride = attributes.strides[d];
    const int64_t down = floor_div(rest, stride) + 1;
    const int64_t up = floor_div(rest + stride - 1, stride) + 1;
    const int64_t given = output.dims[2 + d];
    if (given < down || given > up)
      fail(ErrorCode::ShapeMismatch, "pool2d: dimension {} of the result is {}, the operands give {}{}", 2 + d, given,
           down, up == down ? "" : " or one more");
  }
}

}  // namespace ingot
