#pragma once
#include <filesystem>
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

// Reads a program: a model where the file is ONNX (by its name's ending), otherwise text. The module is of form Parsed
// or further. Throws Io, or the collected errors of parser or importer.
ir::Module read_module(const std::filesystem::path& path, const CompileOptions& options, ir::Diagnostics& diagnostics);

// The whole way from a file to a program for the VM. Warnings are added to `diagnostics`; errors are thrown.
vm::Program compile(const std::filesystem::path& path, const CompileOptions& options, ir::Diagnostics& diagnostics);

}  // namespace ingot::driver
