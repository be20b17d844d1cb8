#pragma once
#include <optional>

#include "runtime/tir/nest.h"

namespace ingot::jit {

// The loops of a row for three neighbouring rows at a time, so that none waits for the sums of another: in one loop,
// the middle one of the row itself and the last one of row `behind`. The first one of row `next` is part of it, too, or
// follows.
struct RolledRows {
  SymVar next, behind;
  std::vector<tir::NestStmt> start;    // in front of the first loop, for `next`
  std::vector<tir::NestStmt> before;   // in front of the middle loop
  std::vector<tir::NestStmt> between;  // behind it
  std::vector<tir::NestStmt> follow;   // `start` and the first loop of `next`, where it is not part of the others
  tir::NestLoop first;                 // of the first row, which has none behind it
  tir::NestLoop all;                   // of the others
  tir::NestLoop last;                  // the last loop of `behind` alone
  std::vector<size_t> sizes;           // how many statements of `all` belong to each of the former loops
};
// `ahead`: how many of the row's statements, the first loop their last one, may run one row ahead. `follows`: whether
// it stays apart. `shares`: whether the last loop may read a temporary row while the middle one writes the next over
// it, element by element. nullopt where there are more loops or shorter ones, where the middle one computes too little
// to hide the others, and where the last one needs what the next row changes.
std::optional<RolledRows> roll_rows(const tir::NestLoop& row, size_t ahead, bool follows, bool shares);

}  // namespace ingot::jit
