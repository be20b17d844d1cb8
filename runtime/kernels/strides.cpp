#include "runtime/kernels/strides.h"

#include <algorithm>

namespace ingot {

std::vector<int64_t> strides_of(std::span<const int64_t> dims, Layout layout) {
  std::vector<int64_t> strides(dims.size());
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return strides;
  int64_t next = 1;
  const auto place = [&](size_t d) {
    strides[d] = next;
    next *= dims[d];
  };
  if (layout == Layout::ChannelsLast && dims.size() == 4) {
    for (const size_t d : {1, 3, 2, 0}) place(d);
  } else {
    for (size_t d = dims.size(); d-- > 0;) place(d);
  }
  return strides;
}

std::vector<int64_t> broadcast_strides(const OperandSpec& operand, std::span<const int64_t> to) {
  const std::vector<int64_t> own = strides_of(operand);
  const size_t missing = to.size() - own.size();
  std::vector<int64_t> strides(to.size(), 0);
  for (size_t d = 0; d < own.size(); ++d)
    if (operand.dims[d] != 1) strides[missing + d] = own[d];
  return strides;
}

}  // namespace ingot
