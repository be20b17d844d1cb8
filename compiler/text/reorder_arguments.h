#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/module.h"

namespace ingot::text {

// By name of a PrimFunc whose text has outputs in front of inputs: buffer i is the order[i]-th of the text.
using Orders = std::map<std::string, std::vector<uint32_t>, std::less<>>;

// Brings the arguments of calls of these PrimFuncs, and what call_tir_inplace says of them, from the order of the text
// to that of the PrimFunc. They are evaluated in the order in which they stand. TypeError where such a PrimFunc is
// called by call_tir, whose outputs come last; Unsupported where it is a value.
ir::Module reorder_arguments(ir::Module module, const Orders& orders, ir::Diagnostics& diagnostics);

}  // namespace ingot::text
