#pragma once
#include <string_view>

#include "compiler/ir/module.h"

namespace ingot::analysis {

// Does the module have the form that it claims (ir::Form)? Throws Internal naming the pass that left it otherwise, the
// function and the offending expression.
void check_form(const ir::Module& module, std::string_view after_pass);

}  // namespace ingot::analysis
