#include "runtime/base/stack.h"

#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

// Each level keeps a kilobyte, which the compiler may not merge away.
size_t descend(size_t levels) {
  volatile char block[1024];
  block[levels % sizeof block] = 1;
  return levels == 0 ? 0 : descend(levels - 1) + static_cast<size_t>(block[levels % sizeof block]);
}

TEST(Stack, HoldsWhatWasAskedFor) {
  size_t depth = 0;
  run_with_stack(size_t{256} << 20, [&] { depth = descend(100'000); });
  EXPECT_EQ(depth, 100'000u);
}

TEST(Stack, PassesOnWhatIsThrown) {
  EXPECT_THROW(run_with_stack(1 << 20, [] { fail(ErrorCode::TypeError, "from inside"); }), Error);
}

}  // namespace
}  // namespace ingot
