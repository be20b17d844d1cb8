// Rewrites the parts of documentation pages that are made from ops.def: see vm/tool/doc_pages.h.
//
// usage: ingot-operator-docs [--check] FOLDER
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ops/ops.h"
#include "vm/tool/doc_pages.h"

namespace ingot::driver {
namespace {

std::string operators_table() {
  std::string text = "| operator | also | arguments | attributes | meaning |\n|---|---|---|---|---|\n";
  for (const ir::Op& op : ops::all())
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", op.name, fmt::join(op.aliases, ", "),
                        vm::doc_cell(fmt::format("{}", fmt::join(op.params, ", "))),
                        vm::doc_cell(fmt::format("{}", fmt::join(op.attributes, ", "))),
                        vm::doc_cell(std::string(op.summary)));
  return text;
}

std::string absent_table() {
  std::string text = "| not there | why, and what stands in its place |\n|---|---|\n";
  for (const ops::Absent& line : ops::absent())
    text += fmt::format("| {} | {} |\n", vm::doc_cell(std::string(line.names)), vm::doc_cell(std::string(line.reason)));
  return text;
}

}  // namespace
}  // namespace ingot::driver

int main(int argc, char** argv) {
  return ingot::vm::update_doc_pages(
      argc, argv, {{"operators", ingot::driver::operators_table}, {"absent", ingot::driver::absent_table}});
}
