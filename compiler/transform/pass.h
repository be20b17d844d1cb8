#pragma once
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/module.h"

namespace ingot::transform {

// What passes share during one compilation.
struct PassContext {
  ir::Diagnostics diagnostics;
  // Names of optional passes that are not to be run (`--without`); "all" for every optional pass.
  std::set<std::string, std::less<>> without;

  bool runs(std::string_view optional_pass) const;
};

// A pass is a plain function. It needs the form that passes.def states and leaves the one it states; errors go to the
// context, and the module that it then returns must not be used.
using Pass = ir::Module (*)(ir::Module module, PassContext& context);

struct PassInfo {
  std::string_view name;
  ir::Form needs, leaves;
  bool optional;  // an optimisation: the program means the same without it
  Pass run;
  std::string_view summary;
};

// All passes, in the order of passes.def.
std::span<const PassInfo> passes();
// Null where there is none of that name.
const PassInfo* find_pass(std::string_view name);

}  // namespace ingot::transform
