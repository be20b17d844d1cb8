#pragma once
#include <span>

#include "runtime/symbolic/simplify.h"
#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// Everything that a PrimFunc must satisfy before anything else reads it; run on every PrimFunc of a file and of a
// program.
//
// Structure: ids and arities in range, dtypes fit, every variable is bound before its use, inputs are only read,
// indices have the rank of their buffer, temporaries have dimensions known at entry, nesting at most 64, `parallel`
// loops write disjoint elements (each store in it is indexed by the loop variable alone in one dimension, or by an
// injective affine form), a `reduce` loop is not nested around a parallel one. Throws TypeError or WellFormedness with
// the statement's text.
void check(const PrimFunc& func);

// What is proved of an access: that it is in bounds wherever the loops around it run, or only where the conditions on
// the way to it hold (it must not be moved out of them), or nothing: then it is checked as it runs.
enum class BoundsProof : uint8_t { None, UnderConditions, Always };

// For all dimensions. One for each Load and Store in the order of collect_accesses (accesses.h).
std::vector<BoundsProof> prove_bounds(const PrimFunc& func);

// Is each element of the buffer written, and before it is read, whatever the inputs are? (Otherwise it is zero-filled
// before the run.) The dimensions `positive` are at least 1.
bool writes_whole(const PrimFunc& func, BufferId buffer, std::span<const SymVar> positive = {});

}  // namespace ingot::tir
