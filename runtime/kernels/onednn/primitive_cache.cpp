#include "runtime/kernels/onednn/primitive_cache.h"

#include <climits>

#include <dnnl.hpp>

#include "runtime/base/error.h"

namespace ingot {

void set_primitive_cache_capacity(size_t primitives) {
  if (primitives > INT_MAX)
    fail(ErrorCode::InvalidArgument, "a cache of {} primitives is asked for; {} is the most", primitives, INT_MAX);
  dnnl::set_primitive_cache_capacity(static_cast<int>(primitives));
}

size_t primitive_cache_capacity() { return static_cast<size_t>(dnnl::get_primitive_cache_capacity()); }

}  // namespace ingot
