#include "compiler/transform/fuse_loops.h"

#include <gtest/gtest.h>

#include "runtime/tir/text.h"

namespace ingot::transform {
namespace {

std::string fused(std::string_view text) {
  size_t offset = 0;
  return tir::print(fuse_loops(tir::parse(text, offset)));
}

TEST(FuseLoops, SharesLoopsAndShrinksWhatIsBetween) {
  EXPECT_EQ(fused(R"(prim_func @f(A: Buffer[(n, m), float32], B: Buffer[(n, m), float32]) {
  alloc T: Buffer[(n, m), float32];
  for i in n parallel {
    for j in m {
      T[i, j] = exp(A[i, j]);
    }
  }
  for i in n parallel {
    for j in m {
      B[i, j] = T[i, j] * T[i, m - 1 - j];
    }
  }
})"),
            R"(prim_func @f(A: Buffer[(n, m), float32], B: Buffer[(n, m), float32]) {
  for i in n parallel {
    alloc T: Buffer[(m,), float32];
    for j in m {
      T[j] = exp(A[i, j]);
    }
    for j in m {
      B[i, j] = T[j] * T[m - 1 - j];
    }
  }
}
)");
}

// Each of these reads what another iteration wrote, or has another extent or kind.
TEST(FuseLoops, LeavesLoopsThatDependOnOtherIterations) {
  for (const std::string second :
       {"for i in n parallel { B[i] = T[n - 1 - i]; }", "for i in n { B[i] = T[i]; }",
        "for i in 4 parallel { B[i] = T[i]; }", "for i in n parallel { for k in n reduce { B[i] = B[i] + T[k]; } }"}) {
    const std::string text = "prim_func @f(A: Buffer[(n,), float32], B: Buffer[(n,), float32]) {\n" +
                             std::string("  alloc T: Buffer[(n,), float32];\n") +
                             "  for i in n parallel { T[i] = A[i]; }\n  " + second + "\n}";
    size_t offset = 0;
    const auto func = tir::parse(text, offset);
    EXPECT_EQ(tir::print(fuse_loops(func)), tir::print(func));
  }
}

TEST(FuseLoops, KeepsWhatOneIterationLeavesToTheNext) {
  const std::string text = R"(prim_func @f(A: Buffer[(n, m), float32], B: Buffer[(n, m), float32]) {
  alloc T: Buffer[(m,), float32];
  for j in m {
    T[j] = 0f32;
  }
  for i in n {
    for j in m {
      T[j] = T[j] + A[i, j];
      B[i, j] = T[j];
    }
  }
}
)";
  EXPECT_EQ(fused(text), text);
}

}  // namespace
}  // namespace ingot::transform
