#pragma once
#include <memory>
#include <unordered_set>
#include <vector>

#include "runtime/base/cpu.h"
#include "runtime/jit/code_memory.h"
#include "runtime/tir/nest.h"

namespace ingot::jit {

// The code of one statement of a nest's body: a function that runs a range of its outermost loop.
struct StageCode {
  size_t entry = 0;
  size_t aligned_entry = 0;             // where large outputs are aligned to 64 bytes: stores bypass the caches
  PrimExpr extent = 1;                  // of its loop; an expression over the nest's `vars`
  int64_t grain = 1;                    // begin must be a multiple
  bool independent = false;             // iterations may run in any order, several at a time
  const tir::NestStmt* stmt = nullptr;  // whose work it does; null: that of the whole body
  uint64_t work = 0;                    // where it is not that: of a border or a part
  // Where set, in place of code: what runs one after the other in each iteration of the loop, so that long iterations
  // can be interrupted.
  std::vector<StageCode> parts = {};
};

// Generated code is not left within an iteration of its outermost loop; of this many innermost ones at most, where its
// statements can be parts.
constexpr uint64_t kMostUnpolledWork = uint64_t{1} << 26;

struct Code {
  std::shared_ptr<const CodeMemory> memory;  // null where there are no stages
  std::vector<StageCode> stages;             // point into the nest
  size_t bytes = 0;                          // of the memory's pages
  bool checks_indices = false;               // may end with Fault::IndexOutOfRange
};

// How many 4-byte elements a register of generated code has.
uint8_t lanes_of(Cpu cpu);

// Code for the nest, whose stores to `large` buffers may bypass the caches. nullopt where the generator does not take
// it, or the system gives no executable memory.
std::optional<Code> generate(const tir::Nest& nest, Cpu cpu, const std::unordered_set<tir::BufferId>& large);

// Iterations of innermost bodies, at most UINT64_MAX; `value` evaluates extents.
using ExtentValue = std::function<int64_t(const PrimExpr&)>;
uint64_t work_of(const tir::NestStmt& stmt, const ExtentValue& value);
uint64_t work_of(const std::vector<tir::NestStmt>& body, const ExtentValue& value);

}  // namespace ingot::jit
