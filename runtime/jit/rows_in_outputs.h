#pragma once
#include <unordered_set>

#include "runtime/tir/nest.h"

namespace ingot::jit {

// A row of functions such as exp that later becomes a row of an output, element by element, is kept there from the
// start: the output's lines come to the first cache while the functions are computed. (Rows of plain sums are bound by
// memory as it is and only gain another stream.) Not in the outputs of `large`, which are stored past the caches. The
// meaning stays, also where the output lies on an input that tir::in_place_inputs allows.
// `past_from`: an output of so many bytes joins `large` instead, if such a row fills whole cache lines: computing hides
// how long memory takes to store it.
void keep_rows_in_outputs(tir::Nest& nest, std::unordered_set<tir::BufferId>& large, size_t past_from);

}  // namespace ingot::jit
