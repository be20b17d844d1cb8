#pragma once
#include <string>

#include "compiler/ir/module.h"

namespace ingot::ir {

// Equal up to the names of variables and symbolic variables that are bound inside (alpha-equivalence), spans, what was
// inferred, and how bindings are grouped where that has no meaning (neighbouring blocks that are not dataflow blocks,
// sequences without bindings). Names of functions, exports and attributes count. Constants by bits. Where the two
// differ, `difference` (may be null) gets one line that says where.
bool structurally_equal(const Expr& a, const Expr& b, std::string* difference = nullptr);
bool structurally_equal(const Module& a, const Module& b, std::string* difference = nullptr);

}  // namespace ingot::ir
