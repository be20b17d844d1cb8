#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <variant>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/error.h"
#include "runtime/jit/helpers.h"
#include "runtime/symbolic/prim_expr.h"
#include "runtime/tir/prim_func.h"

// Vector code before registers: straight lines of instructions in loops and branches.
//
// A value has lanes of 4 or 8 bytes: `lanes` of them inside of a vector loop, 1 outside. Narrow integers are extended
// to 4 bytes, f16 and bf16 are f32 that both can hold, a bool is all ones or zeros in 4 bytes.
namespace ingot::jit {

using Value = uint32_t;  // 0: none
using Slot = uint32_t;   // an int64 of the stack frame: loop indices, int64 lets

enum class Width : uint8_t { W32 = 4, W64 = 8 };

enum class Op : uint8_t {
  Load,        // elements at `position`, `lanes` of them one after the other or by its stride
  LoadScalar,  // scalar parameter `ref`
  Gather,      // elements of the position's buffer at the int64 lanes of a
  Store,       // a
  Prefetch,    // the line at `position`, which may lie behind the buffer; imm: to the second cache only
  Scatter,     // a at the int64 lanes of b
  FAdd,
  FSub,
  FMul,
  FDiv,
  FMin,     // a < b ? a : b
  FMax,     // a > b ? a : b
  FMinNan,  // b < a ? b : a, NaN where one is
  FMaxNan,
  KeepNan,  // b where it is NaN, otherwise a: AVX-512
  FSqrt,
  FRound,  // imm: 0 to even, 1 down, 2 up, 3 to zero
  FMadd,   // a * b + c
  FNmadd,  // c - a * b
  And,
  Or,
  Xor,
  AndNot,  // ~a & b
  IAdd,
  ISub,
  IMul,
  IMin,
  IMax,
  UMin,
  UMax,
  Shl,  // by imm
  Shr,
  Sar,
  ShlV,  // by the lanes of b, any count
  ShrV,
  SarV,
  CmpF,  // imm: Compare; gives a mask
  CmpI,
  CmpU,
  Blend,  // a ? b : c
  I32ToF32,
  U32ToF32,
  F32ToI32,      // to zero; anything beyond gives INT32_MIN
  F32ToI32Even,  // to even
  F32ToU32,
  F32ToF64,
  F64ToF32,
  I32ToF64,
  U32ToF64,
  F64ToI32,
  F64ToU32,
  I32ToI64,
  U32ToI64,
  I64ToI32,  // low bits
  I64ToF64,
  U64ToF64,
  I64ToF32,
  U64ToF32,
  F64ToI64,
  F64ToU64,
  F32ToI64,
  F32ToU64,
  RoundF16,
  Scale,      // a times 2 to the power of the whole number b, rounded once; AVX-512 takes the floor of b
  TableRow,   // register `imm` of table `ref`, which is repeated where it is shorter
  Lookup,     // entry a of the table whose rows are b and, where it has two, c; modulo its size
  Tile,       // 16 rows of 16 elements at position `ref`, transposed, to position `index`; where imm is not 0, as many
              // as `tiles[imm - 1]` says
  Splat,      // lane 0 of a in all lanes
  Swap,       // neighbouring blocks of imm bytes change places
  Lanes,      // position's element number in each lane, int64
  TailMask,   // the lanes that take part
  Move,       // dst, which may have a value already
  Call,       // helper `ref` on a and b for the lanes of `mask`
  FaultIf,    // fault imm where a lane of a that takes part is true
  SetSlot,    // slot `ref` = lane 0 of a
  RowSlot,    // slot `ref` = a row of `rows`; imm: which one, a Row; behind and in front of slot `index`
  OuterSlot,  // slot `ref` = the index of the loop around all code, that the call gives
  DimSlot,    // slot `ref` = dimension `index` of the call
  EvalSlot,   // slot `ref` = the expression `index`
  CheckSlot   // fault unless slot `ref` lies in [0, bounds[index]), or below slot `index` where imm is not 0
};

// The numbers are those of the machine's predicates.
enum class Compare : uint8_t { Equal = 0, Less = 1, LessEqual = 2, Unordered = 3, NotEqual = 4 };

// The next one is the last one where there is none behind it.
enum class Row : uint8_t { First, Next, Former, Last };

enum class Fault : uint8_t { None, DivisionByZero, IndexOutOfRange, Overflow, Stopped };

// base + sum of coefficient * slot, in elements. Those of a Function have one part for each slot.
struct Position {
  tir::BufferId buffer = 0;
  int64_t base = 0;
  int64_t lane_stride = 0;
  struct Part {
    Slot slot;
    int64_t coefficient;
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts = {};
  bool operator==(const Position&) const = default;
};

struct Loop;
struct Instr {
  Op op;
  Width width = Width::W32;
  uint8_t lanes = 1;
  uint8_t imm = 0;
  DType dtype = DType::None;   // of the element in memory
  bool tail = false;           // only the lanes of the tail take part
  bool stream = false;         // a store that bypasses the caches
  const Loop* rows = nullptr;  // of RowSlot
  Value dst = 0, a = 0, b = 0, c = 0;
  Value mask = 0;      // of memory accesses and calls: the lanes that take part
  uint32_t ref = 0;    // position, slot or helper
  uint32_t index = 0;  // of EvalSlot: the expression; of CheckSlot: the bound
};

struct Branch;
using Item = std::variant<Instr, Loop*, Branch*>;
using Block = std::vector<Item>;

// for (slot = begin; slot < end; slot += step). A vector loop is two: one of whole steps, then a masked one that
// resumes where the first one ended.
struct Loop {
  Slot slot = 0;
  bool ranged = false;   // begin and end come from the call
  Slot extent_slot = 0;  // where `has_extent_slot`
  bool has_extent_slot = false;
  int64_t extent = 0;  // otherwise
  int64_t step = 1;
  bool whole_steps = false;  // ends before a step that would pass the end
  bool resumes = false;      // keeps the slot
  bool innermost = true;
  bool skips_first = false;  // of plain loops
  uint32_t lanes = 1;
  Block body = {};
};
struct Branch {
  Value condition;  // lane 0
  // Where set: taken, rarely, for whole registers in which a lane of the condition is greater than this.
  Value above = 0;
  uint8_t lanes = 1;
  Block then_block = {}, else_block = {};
};

using Table = std::span<const float>;  // 8, 16 or (AVX-512) 32 entries that outlive the code

struct ValueInfo {
  Width width = Width::W32;
  uint8_t lanes = 1;
  bool constant = false;
  bool mutable_ = false;
  uint16_t level = 0;
  uint64_t bits = 0;
};

// Evaluated where the loops around it are: one variable has a slot in the loop of whole steps, another in the tail's.
struct IndexExpr {
  PrimExpr expr;
  std::vector<std::pair<const SymVarNode*, Slot>> slots = {};
};

// Slots of a tile whose distances and size are known when it runs: elements from one row to the next in the source and
// in the target, and how many elements the tile has along the source's and the target's memory, 1 to 16.
struct ShapedTile {
  Slot from_step, to_step, rows, columns;
};

// One function: what runs for a range of the outermost loop.
struct Function {
  std::vector<ValueInfo> values = std::vector<ValueInfo>(1);
  std::vector<Position> positions;
  std::vector<Table> tables;
  std::vector<Helper> helpers;
  std::vector<IndexExpr> exprs;
  std::vector<ShapedTile> tiles;
  std::vector<int64_t> bounds;
  std::deque<Loop> loops;
  std::deque<Branch> branches;
  Slot slots = 0;
  bool streams = false;  // some stores bypass the caches
  Block body;
};

// What the generator does not take; the interpreter runs it.
struct Refusal {};

}  // namespace ingot::jit
