#pragma once
#include <string>

#include "compiler/analysis/infer.h"
#include "compiler/analysis/normalize.h"
#include "compiler/analysis/well_formed.h"
#include "compiler/text/parser.h"
#include "compiler/text/printer.h"

namespace ingot {

// A text brought to `form`; throws ir::CompileError.
inline ir::Module front_end(const std::string& text, ir::Form form, ir::Diagnostics& diagnostics) {
  const auto source = std::make_shared<const ir::Source>(ir::Source{"test.relax", text});
  ir::Module module = text::parse_module(source, diagnostics);
  diagnostics.throw_if_errors();
  analysis::check_well_formed(module, diagnostics);
  diagnostics.throw_if_errors();
  if (form >= ir::Form::Normal) module = analysis::normalize(module);
  if (form >= ir::Form::Typed) module = analysis::infer(std::move(module), diagnostics);
  diagnostics.throw_if_errors();
  return module;
}

// The canonical text, or what went wrong as users see it.
inline std::string printed(const std::string& text, ir::Form form) {
  ir::Diagnostics diagnostics;
  try {
    const ir::Module module = front_end(text, form, diagnostics);
    return text::print(module, {0, form == ir::Form::Typed});
  } catch (const ir::CompileError& error) {
    return render(error.errors());
  }
}
inline std::string typed(const std::string& text) { return printed(text, ir::Form::Typed); }

}  // namespace ingot
