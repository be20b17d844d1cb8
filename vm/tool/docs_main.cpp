// Rewrites the parts of documentation pages that are made from the tables of the virtual machine: see doc_pages.h.
//
// usage: ingot-docs [--check] FOLDER
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "runtime/base/error.h"
#include "vm/isa/builtins.h"
#include "vm/isa/isa.h"
#include "vm/tool/doc_pages.h"

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
    text += fmt::format("| {} | `{}` | {} | {} | {} |\n", number, name, roles_text(info), size_text(info),
                        doc_cell(std::string(info.meaning)));
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

// What compiler/onnx/onnx_dtypes.txt says of each operator, by "domain.name".
std::map<std::string, std::string> onnx_dtypes(const std::filesystem::path& root) {
  std::ifstream file(root / "compiler/onnx/onnx_dtypes.txt");
  if (!file) fail(ErrorCode::Io, "{}: there is no compiler/onnx/onnx_dtypes.txt", root.string());
  std::map<std::string, std::string> dtypes;
  for (std::string line; std::getline(file, line);)
    if (const size_t colon = line.find(':'); !line.starts_with('#') && colon != std::string::npos)
      dtypes[line.substr(0, colon)] = line.substr(std::min(colon + 2, line.size()));
  return dtypes;
}

// One row for each line of compiler/onnx/onnx_ops.def, which is read as text: this tool is built without a compiler.
std::string onnx_operators_table(const std::filesystem::path& root) {
  std::ifstream file(root / "compiler/onnx/onnx_ops.def");
  if (!file) fail(ErrorCode::Io, "{}: there is no compiler/onnx/onnx_ops.def", root.string());
  const auto dtypes = onnx_dtypes(root);
  std::string text = "| operator | domain | opsets from | dtypes | notes |\n|---|---|---|---|---|\n";
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
    const auto known = dtypes.find(domain + "." + name);
    text += fmt::format("| {} | {} | {} | {} | {} |\n", name, domain, remark.substr(0, semicolon),
                        known == dtypes.end() ? "" : known->second,
                        semicolon == std::string::npos ? "" : remark.substr(semicolon + 2));
  }
  return text;
}

}  // namespace
}  // namespace ingot::vm

int main(int argc, char** argv) {
  using namespace ingot::vm;
  const std::filesystem::path folder = argv[argc - 1];
  return update_doc_pages(argc, argv,
                          {{"opcodes", opcodes_table},
                           {"builtins", builtins_table},
                           {"errors", errors_table},
                           {"onnx_operators", [&] { return onnx_operators_table(folder / ".."); }}});
}
