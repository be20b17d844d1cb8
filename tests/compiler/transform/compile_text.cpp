#include "tests/compiler/transform/compile_text.h"

#include "compiler/text/parser.h"
#include "compiler/text/printer.h"
#include "compiler/transform/transforms.h"

namespace ingot::transform {

ir::Module typed_module(std::string_view text) {
  PassContext context;
  const auto source = std::make_shared<ir::Source>(ir::Source{"test", std::string(text)});
  auto module = text::parse_module(source, context.diagnostics);
  context.diagnostics.throw_if_errors();
  module = infer_struct_info(normalize(std::move(module), context), context);
  context.diagnostics.throw_if_errors();
  return module;
}

std::string after(std::string_view text, std::initializer_list<Pass> passes) {
  PassContext context;
  auto module = typed_module(text);
  for (const Pass pass : passes) module = pass(std::move(module), context);
  context.diagnostics.throw_if_errors();
  return text::print(module, {.most_elements = 8});
}

}  // namespace ingot::transform
