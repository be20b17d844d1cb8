// Rewrites the parts of documentation pages that are made from the .def tables.
//
// usage: ingot-docs [--check] FOLDER
//
// A part stands between the lines `<!-- generated: NAME -->` and `<!-- end -->` of a .md file in FOLDER. With --check
// nothing is written: the exit code is 1 where a page is not current.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "vm/isa/builtins.h"
#include "vm/isa/isa.h"

namespace ingot::vm {
namespace {

std::string roles_text(const OpcodeInfo& info) {
  std::string text;
  for (size_t i = 0; i < info.operands; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", role_name(info.roles[i]));
  return text;
}

std::string size_text(const OpcodeInfo& info) {
  return fmt::format("{}{}", fixed_units(info), has_list(info) ? " + n" : "");
}

// One row for each line of opcodes.def; typed lines show their dtypes.
std::string opcodes_table() {
  std::string text = "| number | instruction | operands | units | meaning |\n|---|---|---|---|---|\n";
  for (size_t first = 0; first < kOpcodeCount;) {
    const OpcodeInfo& info = kOpcodes[first];
    size_t last = first;
    while (last + 1 < kOpcodeCount && kOpcodes[last + 1].line == info.line) ++last;
    std::string name(info.mnemonic);
    std::string number = fmt::format("{}", first);
    if (info.form != OpcodeForm::Plain) {
      name = fmt::format("{}.{}` to `.{}", name.substr(0, name.rfind('.')), dtype_info(info.dtype).brief,
                         dtype_info(kOpcodes[last].dtype).brief);
      number = fmt::format("{}-{}", first, last);
    }
    std::string meaning(info.meaning);
    for (size_t bar = meaning.find('|'); bar != std::string::npos; bar = meaning.find('|', bar + 2))
      meaning.insert(bar, "\\");
    text += fmt::format("| {} | `{}` | {} | {} | {} |\n", number, name, roles_text(info), size_text(info), meaning);
    first = last + 1;
  }
  return text;
}

std::string builtins_table() {
  std::string text = "| number | builtin | arguments | result |\n|---|---|---|---|\n";
  for (size_t i = 0; i < kBuiltinCount; ++i) {
    const BuiltinInfo& builtin = kBuiltins[i];
    std::string arguments = fmt::format("{}", builtin.min_args);
    if (builtin.max_args == kAnyArgs)
      arguments += " or more";
    else if (builtin.max_args != builtin.min_args)
      arguments += fmt::format(" to {}", builtin.max_args);
    text += fmt::format("| {} | `{}` | {} | {} |\n", i, builtin.name, arguments, builtin.meaning);
  }
  return text;
}

std::string errors_table() {
  static constexpr std::string_view kBlame[] = {"user", "environment", "ours"};
  std::string text = "| number | error | whose | exit code | meaning |\n|---|---|---|---|---|\n";
  int number = 0;
#define ERROR(name, blame, exit_code, summary)                                                                 \
  text += fmt::format("| {} | {} | {} | {} | {} |\n", number++, #name, kBlame[static_cast<int>(Blame::blame)], \
                      exit_code, summary);
#include "runtime/base/errors.def"
  return text;
}

// One row for each line of compiler/onnx/onnx_ops.def, which is read as text: this tool is built without a compiler.
std::string onnx_operators_table(const std::filesystem::path& root) {
  std::ifstream file(root / "compiler/onnx/onnx_ops.def");
  if (!file) fail(ErrorCode::Io, "{}: there is no compiler/onnx/onnx_ops.def", root.string());
  std::string text = "| operator | domain | opsets from | notes |\n|---|---|---|---|\n";
  for (std::string line; std::getline(file, line);) {
    const size_t open = line.find('('), comment = line.find("  // ");
    if (line.starts_with("//") || line.starts_with('#') || open == std::string::npos || comment == std::string::npos)
      continue;
    std::string name = line.substr(open + 1);
    std::string domain;
    if (line.starts_with("CONVERT_IN(")) {
      domain = name.substr(1, name.find('"', 1) - 1);
      name.erase(0, name.find(", ") + 2);
    }
    name.erase(name.find(','));
    const std::string remark = line.substr(comment + 5);
    const size_t semicolon = remark.find("; ");
    text += fmt::format("| {} | {} | {} | {} |\n", name, domain, remark.substr(0, semicolon),
                        semicolon == std::string::npos ? "" : remark.substr(semicolon + 2));
  }
  return text;
}

std::string generate(std::string_view name, const std::string& page) {
  if (name == "opcodes") return opcodes_table();
  if (name == "builtins") return builtins_table();
  if (name == "errors") return errors_table();
  if (name == "onnx_operators") return onnx_operators_table(std::filesystem::path(page).parent_path() / "..");
  fail(ErrorCode::InvalidArgument, "{}: there is no generated part '{}'", page, name);
}

std::string current_text(const std::string& text, const std::string& page) {
  constexpr std::string_view kBegin = "<!-- generated: ";
  constexpr std::string_view kEnd = "<!-- end -->";
  std::string made;
  size_t at = 0;
  for (size_t begin = text.find(kBegin); begin != std::string::npos; begin = text.find(kBegin, at)) {
    const size_t line_end = text.find('\n', begin);
    const size_t name_end = text.find(" -->", begin);
    const size_t end = text.find(kEnd, begin);
    if (name_end > line_end || end == std::string::npos)
      fail(ErrorCode::InvalidArgument, "{}: a generated part does not end with {}", page, kEnd);
    const size_t name = begin + kBegin.size();
    made += text.substr(at, line_end + 1 - at) + generate(std::string_view(text).substr(name, name_end - name), page);
    at = end;
  }
  return made + text.substr(at);
}

std::string read_text(const std::filesystem::path& path) {
  const FileBytes file = read_file(path);
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

// The number of pages that are not current.
int update(const std::filesystem::path& folder, bool check_only) {
  std::vector<std::filesystem::path> pages;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  std::ranges::sort(pages);
  int stale = 0;
  for (const std::filesystem::path& page : pages) {
    const std::string text = read_text(page);
    const std::string made = current_text(text, page.string());
    if (made == text) continue;
    ++stale;
    std::fprintf(stderr, check_only ? "%s is not current: run ./dev docs\n" : "%s is rewritten\n", page.c_str());
    if (!check_only) save_file(page, [&](const ByteSink& sink) { sink(std::as_bytes(std::span<const char>(made))); });
  }
  return stale;
}

}  // namespace
}  // namespace ingot::vm

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const bool check_only = !args.empty() && args[0] == "--check";
  if (args.size() != (check_only ? 2u : 1u)) {
    std::fputs("usage: ingot-docs [--check] FOLDER\n", stderr);
    return 2;
  }
  try {
    const int stale = ingot::vm::update(args.back(), check_only);
    return check_only && stale > 0 ? 1 : 0;
  } catch (const ingot::Error& error) {
    std::fprintf(stderr, "error[%s]: %s\n", error.label().c_str(), error.what());
    return ingot::error_exit_code(error.code());
  }
}
