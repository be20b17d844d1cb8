#pragma once
#include <optional>
#include <span>

#include "runtime/tir/accesses.h"

namespace ingot::tir {

// Do the iterations of a loop touch elements of their own in every buffer that the loop writes? `loops` are the loop,
// last, and those around it, outermost first; everything in them is well formed. Gives a buffer for which that is not
// proved; nullopt where there is none. Buffers allocated inside of the loop belong to one iteration.
//
// Two accesses are kept apart by a dimension, or by the position in the whole buffer, whose index is `c * i + r` with
// the loop's index i and r within [0, c), or with the same r and c != 0 in all accesses.
std::optional<BufferId> shared_between_iterations(const PrimFunc& func, const FuncFacts& facts,
                                                  std::span<const For* const> loops);

}  // namespace ingot::tir
