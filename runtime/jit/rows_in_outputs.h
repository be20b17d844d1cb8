#pragma once
#include <unordered_set>

#include "runtime/tir/nest.h"

namespace ingot::jit {

// A row of functions such as exp that later becomes a row of an output, element by element, is kept there from the
// start: the output's lines come to the first cache while the functions are computed. (Rows of plain sums are bound by
// memory as it is and only gain another stream.) Not in the outputs of `except`. The meaning stays, also where the
// output lies on an input that tir::in_place_inputs allows.
void keep_rows_in_outputs(tir::Nest& nest, const std::unordered_set<tir::BufferId>& except);

}  // namespace ingot::jit
