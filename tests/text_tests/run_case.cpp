#include "tests/text_tests/run_case.h"

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "tests/text_tests/diff.h"
#include "tests/text_tests/process.h"

namespace ingot::text_tests {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "ingot-text-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": cannot be created");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Replaces `what` where no letter, digit or underscore follows; true if it was there.
bool substitute(std::string& word, std::string_view what, const std::string& with) {
  bool found = false;
  for (size_t at = word.find(what); at != std::string::npos; at = word.find(what, at)) {
    const size_t after = at + what.size();
    if (after < word.size() && (std::isalnum(static_cast<unsigned char>(word[after])) != 0 || word[after] == '_')) {
      at = after;
      continue;
    }
    word.replace(at, what.size(), with);
    at += with.size();
    found = true;
  }
  return found;
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// The words to run: tool, subcommand, the text's file unless the line names its input itself, the rest.
std::vector<std::string> command_words(const std::string& run, const fs::path& input, bool has_text,
                                       const fs::path& dir, const RunOptions& options) {
  std::vector<std::string> words = split_words(run);
  auto tool = words.empty() ? options.tools.end() : options.tools.find(words[0]);
  if (tool == options.tools.end()) throw std::runtime_error("a RUN line begins with ingot or ingot-rt, not: " + run);
  words[0] = tool->second.string();
  const bool names_operand = words.size() > 2 && !words[2].starts_with('-');
  bool names_text = false;
  for (std::string& word : words) {
    names_text |= substitute(word, "%s", input.string());
    substitute(word, "%dir", dir.string());
    substitute(word, "%t", "t");
  }
  const bool has_subcommand = words.size() > 1 && !words[1].starts_with('-');
  if (has_text && has_subcommand && !names_operand && !names_text) words.insert(words.begin() + 2, input.string());
  return words;
}

std::string indent(const std::string& text) {
  std::string result;
  for (const std::string& line : significant_lines(text)) result += "    " + line + '\n';
  return result;
}

// What all RUN lines of a case did, up to the first that failed.
struct Outcome {
  std::string out;
  std::string err;       // of all of them
  std::string last_err;  // of the last one
  bool failed = false;
  std::string trouble;  // crash or timeout, which no expectation covers
};

Outcome run_commands(const TestFile& file, const TestCase& test, const RunOptions& options) {
  TemporaryFolder folder;
  const fs::path dir = fs::absolute(file.path).parent_path();
  const fs::path input = file.path.filename();
  const std::string text = file.text(test.text_first, test.text_last);
  std::ofstream(folder.path() / input, std::ios::binary) << text;
  fs::create_directory(folder.path() / "t");

  Outcome outcome;
  for (const std::string& run : test.runs) {
    const auto words = command_words(run, input, text.find_first_not_of(" \t\r\n") != std::string::npos, dir, options);
    ProcessResult result = run_process(words, folder.path(), options.timeout);
    // Expectations must not depend on where the project lies.
    replace_all(result.out, dir.string(), "%dir");
    replace_all(result.err, dir.string(), "%dir");
    outcome.out += result.out;
    outcome.err += result.err;
    outcome.last_err = result.err;
    if (result.timed_out)
      outcome.trouble = "no end after " + std::to_string(options.timeout.count()) + " s: " + run;
    else if (result.signal != 0)
      outcome.trouble = "killed by signal " + std::to_string(result.signal) + ": " + run;
    outcome.failed = result.exit_code != 0 || !outcome.trouble.empty();
    if (outcome.failed) break;
  }
  return outcome;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string result;
  for (const std::string& line : lines) result += (result.empty() ? "" : "\n") + line;
  return result;
}

bool begins_with(const std::string& actual, const std::string& expected) {
  return joined(significant_lines(actual)).starts_with(joined(significant_lines(expected)));
}

}  // namespace

std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      inside = true;
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      inside = true;
    } else if (c == ' ' || c == '\t') {
      if (inside) words.push_back(std::move(word));
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (quote != 0) throw std::runtime_error("a quote is not closed: " + line);
  if (inside) words.push_back(std::move(word));
  return words;
}

CaseResult run_case(const TestFile& file, size_t index, const RunOptions& options) {
  const TestCase& test = file.cases[index];
  CaseResult result;
  Outcome outcome;
  try {
    outcome = run_commands(file, test, options);
  } catch (const std::exception& error) {
    result.message = std::string("  ") + error.what() + '\n';
    return result;
  }

  const Section* out = test.find(SectionKind::Expect);
  const Section* error = test.find(SectionKind::ExpectError);
  const Section* warning = test.find(SectionKind::ExpectWarning);
  if (!outcome.trouble.empty()) {
    result.message = "  " + outcome.trouble + "\n" + indent(outcome.last_err);
    return result;
  }
  if (test.sections.empty()) {
    result.message = "  no expectation; INGOT_BLESS=1 writes what the tool says now:\n" +
                     indent(outcome.failed ? outcome.last_err : outcome.out);
    result.expectations.push_back(outcome.failed ? NewExpectation{index, SectionKind::ExpectError, outcome.last_err}
                                                 : NewExpectation{index, SectionKind::Expect, outcome.out});
    return result;
  }
  if (outcome.failed != (error != nullptr)) {
    result.message = outcome.failed ? "  failed, but was expected to succeed; stderr:\n" + indent(outcome.last_err)
                                    : "  succeeded, but was expected to fail; stdout:\n" + indent(outcome.out);
    return result;
  }

  auto differs = [&](const Section& section, const char* title, const std::string& expected,
                     const std::string& actual) {
    result.message += std::string("  ") + title + " (- expected, + actual):\n" +
                      diff_lines(significant_lines(expected), significant_lines(actual));
    result.expectations.push_back({index, section.kind, actual});
  };
  if (out != nullptr) {
    const std::string expected = file.text(out->first, out->last);
    if (significant_lines(expected) != significant_lines(outcome.out))
      differs(*out, "stdout differs", expected, outcome.out);
  }
  if (const Section* section = error != nullptr ? error : warning) {
    const std::string expected = file.text(section->first, section->last);
    const std::string& actual = error != nullptr ? outcome.last_err : outcome.err;
    const bool empty = significant_lines(expected).empty();
    if (empty || !begins_with(actual, expected))
      differs(*section, "stderr does not begin as expected", expected, actual);
  }
  if (out != nullptr && !result.message.empty() && !outcome.failed && warning == nullptr && !outcome.err.empty())
    result.message += "  stderr:\n" + indent(outcome.err);
  result.passed = result.message.empty();
  return result;
}

}  // namespace ingot::text_tests
