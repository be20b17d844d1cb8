// The stored executables of tests/golden: they load, run to the stored results, and together use every instruction.
// INGOT_BLESS=1 writes them anew; while the format is version 0 a change of it may.
#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "runtime/tensor/value_text.h"
#include "tests/vm/golden/programs.h"
#include "tests/vm/hostile/run_bytes.h"
#include "vm/executable/reader.h"
#include "vm/executable/writer.h"
#include "vm/isa/decode.h"

namespace ingot::vm {
namespace {

constexpr std::string_view kRemedy =
    "INGOT_BLESS=1 build/release/tests/vm_golden_test writes the stored executables anew (format version 0 only)";

std::filesystem::path stored(const std::string& name, std::string_view extension) {
  return "tests/golden/" + name + std::string(extension);
}

std::string text_of(const FileBytes& file) {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

// Stored results must not depend on the CPU.
LoadOptions reference_kernels() {
  LoadOptions options;
  options.kernels = "reference";
  return options;
}

// A line for each exported function: what it gives for zeros, ones and the like, or the error's label.
std::string results_of(const std::shared_ptr<const Executable>& executable) {
  const auto session = Session::create(executable);
  std::string text;
  test::for_each_run(
      *session, {},
      [&](const Function& f, const Value& result) { text += "@" + f.name + " " + value_text(result, 40) + "\n"; },
      [&](const Function& f, const Error& error) {
        text += "@" + f.name + " error " + std::string(error.label()) + "\n";
      });
  return text;
}

void save(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  save_file(path, [&](const ByteSink& sink) { sink(bytes); });
}

void bless(const test::NamedProgram& golden) {
  const std::vector<std::byte> bytes = write_program(golden.program);
  save(stored(golden.name, ".ingot"), bytes);
  const std::string results = results_of(Executable::load(bytes, reference_kernels()));
  save(stored(golden.name, ".results"), std::as_bytes(std::span(results)));
}

class Golden : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    programs = test::golden_programs();
    if (std::getenv("INGOT_BLESS") != nullptr)
      for (const test::NamedProgram& golden : programs) bless(golden);
  }
  static inline std::vector<test::NamedProgram> programs;
};

TEST_F(Golden, StoredExecutablesRunAsTheyDid) {
  EXPECT_GE(programs.size(), 10u);
  for (const test::NamedProgram& golden : programs) {
    SCOPED_TRACE(golden.name);
    try {
      EXPECT_EQ(results_of(Executable::load(stored(golden.name, ".ingot"), reference_kernels())),
                text_of(read_file(stored(golden.name, ".results"))));
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << kRemedy;
    }
  }
}

TEST_F(Golden, StoredExecutablesAreWhatTheirTextsSay) {
  for (const test::NamedProgram& golden : programs) {
    SCOPED_TRACE(golden.name);
    const FileBytes file = read_file(stored(golden.name, ".ingot"));
    EXPECT_TRUE(std::ranges::equal(write_program(golden.program), file.bytes)) << kRemedy;
    try {
      EXPECT_TRUE(std::ranges::equal(write_program(assemble(disassemble(read_program(file)))), file.bytes));
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST_F(Golden, TogetherTheyUseEveryInstruction) {
  std::set<Opcode> used;
  for (const test::NamedProgram& golden : programs)
    for (const Function& function : golden.program.functions)
      for (const Instruction& i : Instructions<Checked>(function.code)) used.insert(i.opcode);
  for (size_t opcode = 0; opcode < kOpcodeCount; ++opcode)
    EXPECT_TRUE(used.contains(static_cast<Opcode>(opcode)))
        << kOpcodes[opcode].mnemonic << ": add it to a function of tests/golden/*.asm; then " << kRemedy;
}

}  // namespace
}  // namespace ingot::vm
