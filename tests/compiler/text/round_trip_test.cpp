// parse(print(m)) equals m for the well-formed programs of all text tests and of the language's reference.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "compiler/analysis/well_formed.h"
#include "compiler/ir/structural_equal.h"
#include "compiler/text/parser.h"
#include "compiler/text/printer.h"

namespace ingot::text {
namespace {

namespace fs = std::filesystem;

struct Program {
  std::string where;
  std::string text;
};

// The texts between `// RUN:` lines and `// ----`.
std::vector<Program> programs_of(const fs::path& path) {
  std::vector<Program> programs;
  std::ifstream in(path);
  bool in_header = false, in_text = false;
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const bool header = line.starts_with("// RUN:") || line.starts_with("// XFAIL:");
    if (header && !in_header) programs.push_back({path.string() + ":" + std::to_string(number), {}});
    if (header) in_text = true;
    if (line.starts_with("// ----") || line.starts_with("```")) in_text = false;
    if (in_text && !header) programs.back().text += line + '\n';
    in_header = header;
  }
  return programs;
}

std::vector<Program> all_programs() {
  std::vector<Program> programs;
  const auto add = [&](const fs::path& path) {
    for (Program& program : programs_of(path)) programs.push_back(std::move(program));
  };
  for (const auto& entry : fs::recursive_directory_iterator("tests/text"))
    if (entry.path().extension() == ".relax") add(entry.path());
  add("docs/language.md");
  return programs;
}

ir::Module parse(const std::string& text, ir::Diagnostics& diagnostics) {
  return parse_module(std::make_shared<const ir::Source>(ir::Source{"round.relax", text}), diagnostics);
}

TEST(RoundTripTest, PrintedProgramsParseToTheSame) {
  size_t checked = 0;
  for (const Program& program : all_programs()) {
    SCOPED_TRACE(program.where);
    ir::Diagnostics diagnostics;
    const ir::Module module = parse(program.text, diagnostics);
    if (!diagnostics.has_errors()) analysis::check_well_formed(module, diagnostics);
    if (diagnostics.has_errors()) continue;
    ++checked;
    const std::string printed = print(module);
    ir::Diagnostics again;
    const ir::Module back = parse(printed, again);
    EXPECT_FALSE(again.has_errors()) << render(again.all()) << printed;
    std::string difference;
    EXPECT_TRUE(ir::structurally_equal(module, back, &difference)) << difference << '\n' << printed;
    EXPECT_EQ(print(back), printed);
  }
  EXPECT_GT(checked, 100) << "the programs were not found";
}

}  // namespace
}  // namespace ingot::text
