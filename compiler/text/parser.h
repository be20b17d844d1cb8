#pragma once
#include <functional>
#include <memory>
#include <string_view>

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/module.h"

namespace ingot::text {

struct ParseOptions {
  // Gives the tensor that `Constant(file("w.npz:name"))` names. Without it that is Unsupported.
  std::function<Ref<TensorObject>(std::string_view name)> load_constant;
};

// Expressions nested deeper are a ParseError: each level of the text, a parenthesis for example, takes two. Parsing
// needs at most 4 KiB of stack for each.
inline constexpr uint32_t kMaxNesting = 4000;

// Reads one module, form Parsed. Errors are collected in `diagnostics`, several from one text: after one, parsing goes
// on behind the statement or definition that holds it. Where there are errors, the module lacks what was not
// understood.
//
// Names are resolved: each use of a variable is the Var of its binding. A name without a binding becomes a Var of its
// own, which analysis/well_formed reports.
ir::Module parse_module(std::shared_ptr<const ir::Source> source, ir::Diagnostics& diagnostics,
                        const ParseOptions& options = {});

}  // namespace ingot::text
