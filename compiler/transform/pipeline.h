#pragma once
#include <span>
#include <string>

#include "compiler/transform/pass.h"

namespace ingot::transform {

// The whole order of passes, from a parsed module to one ready for code generation. Throws the collected errors. Checks
// the form after each pass in debug builds and where `check_forms` asks for it (tests).
ir::Module lower(ir::Module module, PassContext& context, bool check_forms = false);

// `ingot opt`: the mandatory passes up to the form that the first named pass needs, then the named ones in order.
// InvalidArgument for an unknown name, listing all.
ir::Module run_passes(ir::Module module, std::span<const std::string> names, PassContext& context);

}  // namespace ingot::transform
