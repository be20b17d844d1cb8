#include "vm/profile/profile.h"

#include <gmock/gmock.h>

namespace ingot::vm {
namespace {

TEST(Profile, AddsUpCallsOfOnePlaceAndSortsByTotal) {
  Profile profile;
  profile.add_kernel(0, 10, 5);
  profile.add_kernel(1, 10, 30);
  profile.add_kernel(0, 10, 7);
  const auto kernels = profile.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].function, 1u);
  EXPECT_EQ(kernels[1].calls, 2u);
  EXPECT_EQ(kernels[1].nanoseconds, 12u);
  EXPECT_EQ(profile.nanoseconds(), 42u);
}

}  // namespace
}  // namespace ingot::vm
