#include "runtime/kernels/kernel_call.h"

#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

TEST(KernelCall, AttributesAreSortedAndReplaced) {
  KernelCall call{.contract = Contract::matmul};
  call.set("b", int64_t{1});
  call.set("a", 0.5);
  call.set("b", int64_t{2});
  ASSERT_EQ(call.attributes.size(), 2u);
  EXPECT_EQ(call.attributes[0].name, "a");
  EXPECT_EQ(call.integer("b", 7), 2);
  EXPECT_EQ(call.number("a", 7), 0.5);
  EXPECT_EQ(call.integer("c", 7), 7);
  EXPECT_EQ(call.integers("c", {1, 2}), (std::vector<int64_t>{1, 2}));
}

TEST(KernelCall, AnAttributeOfAnotherTypeIsACorruptFile) {
  KernelCall call{.contract = Contract::matmul};
  call.set("a", 0.5);
  try {
    call.integer("a", 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::CorruptFile);
    EXPECT_STREQ(error.what(), "matmul: attribute 'a' is not an integer");
  }
  EXPECT_THROW(call.integers("a", {}), Error);
}

TEST(KernelCall, NamesOfUnknownNumbers) {
  EXPECT_EQ(contract_name(Contract::conv2d), "conv2d");
  EXPECT_EQ(contract_name(static_cast<Contract>(60000)), "unknown contract");
  EXPECT_EQ(post_op_name(PostOpKind::Gelu), "gelu");
  EXPECT_EQ(post_op_name(static_cast<PostOpKind>(200)), "unknown post-op");
}

}  // namespace
}  // namespace ingot
