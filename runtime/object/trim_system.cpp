#include "runtime/object/trim_system.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace ingot {

void trim_system() noexcept {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace ingot
