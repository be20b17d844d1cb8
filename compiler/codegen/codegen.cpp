#include "compiler/codegen/codegen.h"

#include "compiler/codegen/function_emitter.h"
#include "compiler/codegen/tables.h"
#include "runtime/base/error.h"

namespace ingot::codegen {

vm::Program generate(const ir::Module& module) {
  if (module.form != ir::Form::Lowered) fail(ErrorCode::Internal, "code generation needs a lowered module");
  Tables tables(module);
  for (const auto& definition : module.definitions()) {
    if (definition.function == nullptr) continue;
    try {
      tables.program().functions.push_back(FunctionEmitter(tables, module, definition).emit());
    } catch (Error& error) {
      error.add_context(fmt::format("@{}", definition.name));
      throw;
    }
  }
  return std::move(tables.program());
}

}  // namespace ingot::codegen
