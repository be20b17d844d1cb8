#include "runtime/base/error.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(Error, ContextsStandOutermostFirst) {
  try {
    try {
      fail(ErrorCode::ShapeMismatch, "%x has {}, %w has {}", 784, 512);
    } catch (Error& error) {
      error.add_context("matmul");
      error.add_context("model.ingot");
      throw;
    }
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "model.ingot: matmul: %x has 784, %w has 512");
  }
}

TEST(Error, LabelsAndExitCodes) {
  EXPECT_EQ(Error(ErrorCode::TypeError, "x").label(), "TypeError");
  EXPECT_EQ(Error(ErrorCode::WellFormedness, "x", 7).label(), "WellFormedness.7");
  EXPECT_EQ(error_exit_code(ErrorCode::CorruptFile), 3);
  EXPECT_EQ(error_exit_code(ErrorCode::Io), 4);
  EXPECT_EQ(error_exit_code(ErrorCode::OutOfMemory), 4);
  EXPECT_EQ(error_exit_code(ErrorCode::Internal), 70);
  EXPECT_EQ(error_exit_code(ErrorCode::ParseError), 1);
  EXPECT_EQ(error_blame(ErrorCode::Internal), Blame::Ours);
}

}  // namespace
}  // namespace ingot
