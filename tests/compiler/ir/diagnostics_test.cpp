#include "compiler/ir/diagnostics.h"

#include <gtest/gtest.h>

namespace ingot::ir {
namespace {

Span at(const std::shared_ptr<const Source>& source, uint32_t line, uint32_t column, uint32_t length) {
  return {source, line, column, length, nullptr};
}

TEST(Diagnostics, ShowPlaceLineAndCaret) {
  const auto source = std::make_shared<const Source>(Source{"mlp.relax", "def @f() {\n  let %z = %y + %x;\n}\n"});
  Diagnostics diagnostics;
  diagnostics.error(ErrorCode::TypeError, at(source, 2, 12, 2), "%y is not defined", "did you mean %x?");
  EXPECT_EQ(render(diagnostics.all()),
            "error[TypeError]: %y is not defined\n"
            "  --> mlp.relax:2:12\n"
            "      |\n"
            "    2 |   let %z = %y + %x;\n"
            "      |            ^~\n"
            "  hint: did you mean %x?\n");
}

TEST(Diagnostics, ColumnsCountCodePointsAndTabsStay) {
  const auto source = std::make_shared<const Source>(Source{"a", "\t\"\xC3\xA9\" x"});
  Diagnostics diagnostics;
  diagnostics.error(ErrorCode::ParseError, at(source, 1, 6, 1), "unexpected x");
  EXPECT_EQ(render(diagnostics.all()),
            "error[ParseError]: unexpected x\n"
            "  --> a:1:6\n"
            "      |\n"
            "    1 | \t\"\xC3\xA9\" x\n"
            "      | \t    ^\n");
}

TEST(Diagnostics, ErrorsComeBeforeWarningsInTheOrderOfTheProgram) {
  const auto source = std::make_shared<const Source>(Source{"a", "one\ntwo\nthree\n"});
  Diagnostics diagnostics;
  diagnostics.warning(ErrorCode::TypeError, at(source, 1, 1, 3), "careful");
  diagnostics.error(ErrorCode::WellFormedness, at(source, 3, 1, 5), "later", {}, 7);
  diagnostics.error(ErrorCode::TypeError, at(source, 2, 1, 3), "earlier");
  const std::string text = render(diagnostics.all());
  EXPECT_LT(text.find("error[TypeError]: earlier"), text.find("error[WellFormedness.7]: later"));
  EXPECT_LT(text.find("error[WellFormedness.7]: later"), text.find("warning[TypeError]: careful"));
  EXPECT_TRUE(diagnostics.has_errors());
  try {
    diagnostics.throw_if_errors();
    FAIL() << "nothing was thrown";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.label(), "TypeError");
    EXPECT_EQ(error.errors().size(), 2u);
  }
}

TEST(Diagnostics, NodesOfModelsAreNamed) {
  Diagnostics diagnostics;
  const Span span{nullptr, 0, 0, 0, std::make_shared<const std::string>("node 'conv1' (Conv, #3)")};
  diagnostics.error(ErrorCode::Unsupported, span, "no such operator");
  EXPECT_EQ(render(diagnostics.all()), "error[Unsupported]: no such operator\n  --> node 'conv1' (Conv, #3)\n");
}

}  // namespace
}  // namespace ingot::ir
