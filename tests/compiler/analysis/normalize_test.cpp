#include "compiler/analysis/normalize.h"

#include <gtest/gtest.h>

#include "tests/compiler/analysis/frontend.h"

namespace ingot::analysis {
namespace {

std::string normal(const std::string& text) { return printed(text, ir::Form::Normal); }

TEST(Normalize, BindsNestedCallsDepthFirstFromLeftToRight) {
  EXPECT_EQ(normal("def @f(%x) { add(exp(%x), (log(%x), %x).0) }"),
            "def @f(%x) {\n"
            "  let %t = exp(%x);\n"
            "  let %t_1 = log(%x);\n"
            "  let %t_2 = (%t_1, %x).0;\n"
            "  let %t_3 = add(%t, %t_2);\n"
            "  %t_3\n"
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
      "    let %t = log(%y);\n"
      "    let %a = exp(%t);\n"
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
            "  let %t = if (%c) {\n"
            "    let %a = exp(%x);\n"
            "    let %b = log(%a);\n"
            "    let %t_1 = add(%b, %s);\n"
            "    %t_1\n"
            "  } else {\n"
            "    %s\n"
            "  };\n"
            "  %t\n"
            "}\n");
}

TEST(Normalize, GraphBindingsStayOutsideOfClosuresThatTheyPrecede) {
  EXPECT_EQ(normal("def @f(%x) {\n  %1 = log(%x)\n  %2 = fn(%y) {\n    add(%y, %1)\n  }\n  %2\n}"),
            "def @f(%x) {\n"
            "  let %1 = log(%x);\n"
            "  let %2 = fn(%y) {\n"
            "    let %t = add(%y, %1);\n"
            "    %t\n"
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
