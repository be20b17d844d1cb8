#pragma once
#include <string>

#include "compiler/ir/module.h"

namespace ingot::text {

struct PrintOptions {
  // Constants with more elements are printed as `Constant(..., shape, dtype)`, which does not parse; 0: never.
  size_t most_elements = 0;
  // Bindings, parameters and results without annotation show what was inferred, as far as the text has words for it.
  bool types = false;
};

// The one canonical form of a program: parse(print(m)) equals m structurally. Calls of operators by name, one binding a
// line, names made unique within a definition (%x, %x_1; variables without a name are %t).
std::string print(const ir::Module& module, const PrintOptions& options = {});
// For messages and tests; free variables keep their names.
std::string print(const ir::Expr& expr, const PrintOptions& options = {});

}  // namespace ingot::text
