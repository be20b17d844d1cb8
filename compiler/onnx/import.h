#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/module.h"

namespace ingot::onnx_import {

struct ImportOptions {
  // Shapes of graph inputs that replace what the model says, by name.
  std::map<std::string, std::vector<int64_t>, std::less<>> shapes;
};

// Turns an ONNX model into a module of form Parsed whose @main is the graph: its parameters are the graph's inputs that
// are not initializers, its result is the graph's output or the tuple of its outputs. Named dimensions become shape
// variables of that name; dimensions without value or name get fresh ones.
//
// Throws Io, CorruptFile (not a model, or one that ends early), TypeError or ShapeMismatch (a node whose operands do
// not fit: its name, operator and number are in the message), Unsupported (everything that has no conversion, all of it
// in one report).
ir::Module import_model(const std::filesystem::path& path, const ImportOptions& options, ir::Diagnostics& diagnostics);
ir::Module import_model(std::span<const std::byte> bytes, const std::string& name, const ImportOptions& options,
                        ir::Diagnostics& diagnostics);

}  // namespace ingot::onnx_import
