// Runs ingot-text-tests on small files with a shell script in the place of the tool.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

// cat prints its file; words prints its arguments, one a line; fail prints its file to stderr and fails; warn prints
// its file to stderr; put writes a file, crash and sleep do what they say.
constexpr const char* kTool = R"(#!/bin/sh
command=$1
shift
case $command in
  cat) cat "$@" ;;
  words) for word; do echo "$word"; done ;;
  fail) cat "$@" >&2; exit 1 ;;
  warn) cat "$@" >&2 ;;
  put) cat "$1" > "$3" ;;
  crash) kill -SEGV $$ ;;
  sleep) sleep 30 ;;
esac
)";

class Runner : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "runner-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("tool.sh", kTool);
    fs::permissions(folder_ / "tool.sh", fs::perms::owner_all);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  std::string read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

  // Runs the runner in the folder; its exit code and all that it printed.
  std::pair<int, std::string> run(const std::string& arguments, const std::string& environment = "") {
    const char* bin = std::getenv("INGOT_BIN");
    if (bin == nullptr) return {-1, "INGOT_BIN is not set"};
    const std::string command = "cd '" + folder_.string() + "' && " + environment + " '" + bin +
                                "/ingot-text-tests' --tool ./tool.sh " + arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string out;
    std::array<char, 4096> buffer{};
    while (const size_t size = fread(buffer.data(), 1, buffer.size(), pipe)) out.append(buffer.data(), size);
    return {WEXITSTATUS(pclose(pipe)), out};
  }

  void expect_passes(const std::string& text) {
    write("a.relax", text);
    const auto [code, out] = run("a.relax");
    EXPECT_EQ(code, 0) << out;
    EXPECT_THAT(out, EndsWith("1 passed, 0 failed\n"));
  }

  std::string expect_fails(const std::string& text, const std::string& arguments = "a.relax") {
    write("a.relax", text);
    const auto [code, out] = run(arguments);
    EXPECT_EQ(code, 1) << out;
    EXPECT_THAT(out, EndsWith("0 passed, 1 failed\n"));
    return out;
  }

  fs::path folder_;
};

TEST_F(Runner, ComparesUpToTrailingWhiteSpace) {
  expect_passes(
      "// RUN: ingot cat\n// a comment is text\none  \n\n two\n// ---- expect\n// a comment is text\none\n\n "
      "two\n\n\n");
}

TEST_F(Runner, ShowsADiff) {
  const std::string out = expect_fails("\n// RUN: ingot cat\none\ntwo\n// ---- expect\none\nthree\n");
  EXPECT_THAT(out, HasSubstr("FAIL a.relax:2: ingot cat\n"));
  EXPECT_THAT(out, HasSubstr("     one\n    -three\n    +two\n"));
}

TEST_F(Runner, GivesTheTextUnderItsOwnName) {
  expect_passes("// RUN: ingot words --x 1\ntext\n// ---- expect\na.relax\n--x\n1\n");
}

TEST_F(Runner, TextIsNotGivenTwice) {
  expect_passes("// RUN: ingot words --x %s\ntext\n// ---- expect\n--x\na.relax\n");
  expect_passes("// RUN: ingot words other --x\ntext\n// ---- expect\nother\n--x\n");
  expect_passes("// RUN: ingot words --x\n// ---- expect\n--x\n");
}

TEST_F(Runner, SplitsWordsAsAShellDoes) {
  expect_passes(
      "// RUN: ingot words --input \"x=3xf32=1 2\" 'a \"b\"' c\\ d ''\n// ---- expect\n--input\nx=3xf32=1 2\na "
      "\"b\"\nc d\n\n");
}

TEST_F(Runner, SubstitutesWholeNamesOnly) {
  expect_passes("// RUN: ingot words -- %sum %directory %t/x\n// ---- expect\n--\n%sum\n%directory\nt/x\n");
}

TEST_F(Runner, FolderOfTheTest) {
  write("beside.txt", "beside\n");
  expect_passes("// RUN: ingot cat %dir/beside.txt\n// ---- expect\nbeside\n");
  expect_passes("// RUN: ingot words %dir/beside.txt\n// ---- expect\n%dir/beside.txt\n");
}

TEST_F(Runner, RunLinesShareAFolder) {
  expect_passes(
      "// RUN: ingot put -o %t/x\n// RUN: ingot cat %t/x\n// RUN: ingot cat\ntext\n// ---- expect\ntext\ntext\n");
}

TEST_F(Runner, ErrorBeginsAsExpected) {
  expect_passes("// RUN: ingot fail\nerror: one\n  more\n// ---- expect error\nerror: one\n");
  const std::string out = expect_fails("// RUN: ingot fail\nerror: one\n// ---- expect error\nerror: two\n");
  EXPECT_THAT(out, HasSubstr("    -error: two\n    +error: one\n"));
}

TEST_F(Runner, FailureMustBeExpected) {
  EXPECT_THAT(expect_fails("// RUN: ingot fail\nwrong\n// ---- expect\n"),
              HasSubstr("expected to succeed; stderr:\n    wrong"));
  EXPECT_THAT(expect_fails("// RUN: ingot cat\nright\n// ---- expect error\nright\n"), HasSubstr("expected to fail"));
  EXPECT_THAT(expect_fails("// RUN: ingot fail\nx\n// ---- expect error\n"), HasSubstr("+x"));
}

TEST_F(Runner, CrashIsNoError) {
  EXPECT_THAT(expect_fails("// RUN: ingot crash\nx\n// ---- expect error\n"), HasSubstr("killed by signal 11"));
}

TEST_F(Runner, Timeout) {
  EXPECT_THAT(expect_fails("// RUN: ingot sleep\n// ---- expect\n", "--timeout 1 a.relax"),
              HasSubstr("no end after 1 s"));
}

TEST_F(Runner, Warning) {
  expect_passes("// RUN: ingot warn\nwarning: x\n// ---- expect\n// ---- expect warning\nwarning: x\n");
}

TEST_F(Runner, SeveralCases) {
  write("b/c.asm", "preamble\n// RUN: ingot cat\n1\n// ---- expect\n1\n\n// RUN: ingot cat\n2\n// ---- expect\n3\n");
  write("b/d.test", "// RUN: ingot cat\n1\n// ---- expect\n1\n");
  write("b/input.relax", "text\n");
  write("b/other.txt", "// RUN: ingot cat\n");
  const auto [code, out] = run("b");
  EXPECT_EQ(code, 1);
  EXPECT_THAT(out, HasSubstr("note: b/input.relax has no '// RUN:' line"));
  EXPECT_THAT(out, HasSubstr("FAIL b/c.asm:7: ingot cat\n"));
  EXPECT_THAT(out, EndsWith("2 passed, 1 failed\n"));
}

TEST_F(Runner, ExpectedFailure) {
  write("a.relax", "// RUN: ingot cat\n// XFAIL: known\n1\n// ---- expect\n2\n");
  auto [code, out] = run("a.relax");
  EXPECT_EQ(code, 0);
  EXPECT_THAT(out, EndsWith("1 expected failures\n0 passed, 0 failed\n"));
  const std::string passing = expect_fails("// XFAIL: known\n// RUN: ingot cat\n1\n// ---- expect\n1\n");
  EXPECT_THAT(passing, HasSubstr("passes, but is marked XFAIL: known"));
}

TEST_F(Runner, Malformed) {
  EXPECT_THAT(expect_fails("// RUN: ingot cat\n// ---- expects\n"),
              HasSubstr("a.relax:2: '// ---- expects' is none of"));
  EXPECT_THAT(expect_fails("// XFAIL: x\n// ---- expect\n"), HasSubstr("a.relax:1: the case has no '// RUN:' line"));
  EXPECT_THAT(expect_fails("text\n"), HasSubstr("a.relax: no '// RUN:' line"));
  EXPECT_THAT(expect_fails("// RUN: rm -r x\n// ---- expect\n"), HasSubstr("a RUN line begins with ingot or ingot-rt"));
  EXPECT_THAT(expect_fails("", "missing.relax"), HasSubstr("missing.relax: cannot be read"));
}

TEST_F(Runner, Bless) {
  write("a.relax",
        "// about\n\n// RUN: ingot cat\n1\n// ---- expect\nx\ny\n\n// RUN: ingot fail\n2\n// ---- expect error\nz\n\n"
        "// RUN: ingot cat\n3\n// RUN: ingot fail\n4\n// XFAIL: known\n// RUN: ingot cat\n5\n// ---- expect\n6\n");
  const auto [code, out] = run("a.relax", "INGOT_BLESS=1");
  EXPECT_EQ(code, 0) << out;
  EXPECT_THAT(out, HasSubstr("blessed a.relax\n"));
  EXPECT_THAT(out, EndsWith("4 passed, 0 failed\n"));
  EXPECT_EQ(read("a.relax"),
            "// about\n\n// RUN: ingot cat\n1\n// ---- expect\n1\n\n// RUN: ingot fail\n2\n// ---- expect error\n2\n\n"
            "// RUN: ingot cat\n3\n// ---- expect\n3\n// RUN: ingot fail\n4\n// ---- expect error\n4\n"
            "// XFAIL: known\n// RUN: ingot cat\n5\n// ---- expect\n6\n");
  EXPECT_EQ(run("a.relax").first, 0);
}

TEST_F(Runner, BlessNeverTurnsSuccessIntoFailure) {
  const std::string text = "// RUN: ingot fail\nx\n// ---- expect\nx\n";
  write("a.relax", text);
  EXPECT_EQ(run("a.relax", "INGOT_BLESS=1").first, 1);
  EXPECT_EQ(read("a.relax"), text);
}

TEST_F(Runner, UsageErrors) {
  EXPECT_EQ(run("").first, 2);
  EXPECT_EQ(run("--nope a.relax").first, 2);
  fs::create_directory(folder_ / "empty");
  EXPECT_EQ(run("empty").first, 2);
}

}  // namespace
