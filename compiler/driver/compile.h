#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/module.h"
#include "vm/executable/program.h"

namespace ingot::driver {

struct CompileOptions {
  std::set<std::string, std::less<>> without;                       // optional passes that are not run; "all"
  std::map<std::string, std::vector<int64_t>, std::less<>> shapes;  // of inputs of ONNX models, by name
};

// Both read a file: a model where its name ends in .onnx, otherwise text. Warnings are added to `diagnostics`; all
// errors of a compilation are thrown as one Error whose text is that of ir::render without the first label. Call them
// from `on_large_stack`.

// The module after the named passes and the mandatory ones before them (transform::run_passes).
ir::Module run_passes(const std::filesystem::path& path, const std::vector<std::string>& passes,
                      const CompileOptions& options, ir::Diagnostics& diagnostics);
// The whole way to a program for the VM.
vm::Program compile(const std::filesystem::path& path, const CompileOptions& options, ir::Diagnostics& diagnostics);

// Runs `body` where programs of the greatest nesting that the parser accepts can be walked; passes on what it throws.
void on_large_stack(const std::function<void()>& body);

}  // namespace ingot::driver
