#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/text/parser.h"
#include "compiler/transform/pipeline.h"
#include "vm/loader/executable.h"

// From text to what can be run, inside of one process. All of them throw what they find.
namespace ingot {

inline ir::Module parsed_text(const std::string& text) {
  ir::Diagnostics diagnostics;
  const auto source = std::make_shared<const ir::Source>(ir::Source{"test.relax", text});
  ir::Module module = text::parse_module(source, diagnostics);
  diagnostics.throw_if_errors();
  return module;
}

// As the evaluator takes it.
inline ir::Module typed_program(const ir::Module& module) {
  transform::PassContext context;
  return transform::run_passes(module, std::vector<std::string>{"infer_struct_info"}, context);
}

// `without`: an optional pass that is not run, or "all"; `kernels`: as in LoadOptions.
inline std::shared_ptr<const vm::Executable> loaded_program(const ir::Module& module, const std::string& without = {},
                                                            const std::string& kernels = {}) {
  transform::PassContext context;
  if (!without.empty()) context.without.insert(without);
  vm::LoadOptions options;
  options.kernels = kernels;
  return vm::Executable::from_program(codegen::generate(transform::lower(module, context, true)), options);
}

}  // namespace ingot
