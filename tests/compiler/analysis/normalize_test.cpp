#include "compiler/analysis/normalize.h"

#include <gtest/gtest.h>

#include "tests/compiler/analysis/frontend.h"

namespace ingot::analysis {
namespace {

std::string normal(const std::string& text) { return printed(text, ir::Form::Normal); }

TEST(Normalize, BindsNestedCallsDepthFirstFromLeftToRight) {
  EXPECT_EQ(normal("def @f(%x) { add(exp(%x), (log(%x), %x).0) }"),
            "def @f(%x) {\n"
            "  let %1 = exp(%x);\n"
            "  let %2 = log(%x);\n"
            "  let %3 = (%2, %x).0;\n"
            "  let %4 = add(%1, %3);\n"
            "  %4\n"
            "}\n");
}

TEST(Normalize, FlattensSequencesAndJoinsBlocks) {
  EXPECT_EQ(
      normal("def @f(%x) { let %y = { let %z = exp(%x); log(%z) }; dataflow { let %a = exp(log(%y)); output(%a); }"
             " dataflow { let %b = exp(%a); output(%b); } %b }"),
      "def @f(%x) {\n"
      "  let %z = exp(%x);\n"
      "  let %y = log(%z);\n"
      "  dataflow {\n"
      "    let %1 = log(%y);\n"
      "    let %a = exp(%1);\n"
      "    let %b = exp(%a);\n"
      "    output(%a, %b);\n"
      "  }\n"
      "  %b\n"
      "}\n");
}

TEST(Normalize, GraphBindingsMoveToTheInnermostSequenceWithAllUses) {
  EXPECT_EQ(normal("def @f(%c, %x) {\n"
                   "  %a = exp(%x)\n"
                   "  %b = log(%a)\n"
                   "  %s = sqrt(%x)\n"
                   "  if (%c) { %b + %s } else { %s } }"),
            "def @f(%c, %x) {\n"
            "  let %s = sqrt(%x);\n"
            "  let %1 = if (%c) {\n"
            "    let %a = exp(%x);\n"
            "    let %b = log(%a);\n"
            "    let %2 = add(%b, %s);\n"
            "    %2\n"
            "  } else {\n"
            "    %s\n"
            "  };\n"
            "  %1\n"
            "}\n");
}

TEST(Normalize, GraphBindingsStayOutsideOfClosuresThatTheyPrecede) {
  EXPECT_EQ(normal("def @f(%x) {\n  %1 = log(%x)\n  %2 = fn(%y) {\n    add(%y, %1)\n  }\n  %2\n}"),
            "def @f(%x) {\n"
            "  let %1 = log(%x);\n"
            "  let %2 = fn(%y) {\n"
            "    let %3 = add(%y, %1);\n"
            "    %3\n"
            "  };\n"
            "  %2\n"
            "}\n");
}

TEST(Normalize, UnusedGraphBindingsAreEvaluatedWhereTheyStand) {
  EXPECT_EQ(normal("def @f(%x) {\n  %1 = 1 / %x\n  %x\n}"),
            "def @f(%x) {\n"
            "  let %1 = divide(1, %x);\n"
            "  %x\n"
            "}\n");
}

}  // namespace
}  // namespace ingot::analysis
