#pragma once
#include <deque>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/jit/arithmetic.h"
#include "runtime/jit/builder.h"
#include "runtime/jit/loop_choice.h"
#include "runtime/jit/reorder_loops.h"
#include "runtime/jit/roll_rows.h"
#include "runtime/tir/nest.h"
#include "runtime/tir/totality.h"

namespace ingot::jit {

// Statements of a nest as vector code. Throws Refusal for what it does not take.
class Lowering {
 public:
  // `lanes`: how many 4-byte elements a register has. `stream`: stores to these buffers bypass the caches.
  Lowering(const tir::Nest& nest, Function& function, Cpu cpu, uint8_t lanes,
           const std::unordered_set<tir::BufferId>& stream);

  // What follows is part of an iteration of the loop; which one, the call says. Before anything else.
  void within(const tir::NestLoop& loop);
  // `ranged`: the outermost loop, if the statement is one, runs from begin to end of the call, which is not empty.
  // Gives the step to which begin must be rounded.
  int64_t run(const tir::NestStmt& stmt, bool ranged);
  // The whole tiles of a copy; its outermost loop is ranged. Gives its extent in `extent`, otherwise as `run`.
  int64_t run(const TiledCopy& copy, int64_t& extent);
  // The same for extents that the call tells.
  int64_t run(const ShapedCopy& copy, PrimExpr& extent);
  // Is there a store that bypasses the caches? It needs buffers that are aligned to 64 bytes.
  bool streams() const { return streams_; }

 private:
  using Statements = std::vector<tir::NestStmt>;
  struct Accumulator {
    std::vector<Value> values;  // one for each register of a step
    bool across_lanes;
    // Of the least and greatest across lanes, which pass over NaN: NaN where one was met, or, without AVX-512, the
    // greatest of all bits but the sign.
    std::vector<Value> marks = {};
  };

  struct At {
    uint32_t position = 0;
    Value lanes = 0;  // where set: int64 positions, lane by lane
    bool total = false;
  };

  // Statements.
  void body(std::span<const tir::NestStmt> list);
  void lane_body(const tir::NestLoop& loop);
  void statement(const tir::NestLoop& loop, bool ranged);
  void statement(const tir::NestLoop& loop, const std::optional<LaneLoop>& how, bool ranged);
  void statement(const tir::NestLet& let);
  void statement(const tir::NestIf& branch);
  void statement(const tir::NestStore& store);
  void lane_loop(const tir::NestLoop& loop, const LaneLoop& how, bool ranged);
  void plain_loop(const tir::NestLoop& loop, bool ranged);
  bool rolled_loop(const tir::NestLoop& loop, Loop code);
  std::optional<LaneLoop> lanes_of_all(const std::vector<tir::NestStmt>& list) const;
  Slot row_slot(Row which, const Loop& rows, const SymVar& var, Slot index = 0);
  size_t statements_ahead(const tir::NestLoop& loop) const;
  bool surely_runs(const PrimExpr& extent) const;
  void accumulate(Accumulator& accumulator, const tir::Fold& fold, DType dtype);
  bool is_wide() const { return lanes_ == 16; }
  void accumulate_extreme(Accumulator& accumulator, const tir::Fold& fold);
  Value across_lanes(std::vector<Value> parts, Width width, const std::function<Value(Value, Value)>& join);
  void finish_fold(const tir::NestStore& store, const tir::Fold& fold, Accumulator& accumulator);
  size_t param_bytes() const;
  std::vector<tir::Place> next_row(const tir::NestLoop& rows, const tir::NestLoop& last) const;
  std::vector<tir::Place> further_on(const tir::NestLoop& loop) const;
  std::vector<tir::Place> behind_next_row(const RolledRows& rows) const;
  void prefetch(const std::vector<tir::Place>& places, bool to_second_cache);
  bool can_stream(const tir::NestStore& store, const At& at) const;
  bool stores_past_caches(const tir::NestStmt& stmt) const;
  Value combine(const tir::Fold& fold, DType dtype, Value a, Value b);
  Value neutral(tir::ExprOp op, DType dtype);

  // Expressions, for register `unit_` of the step.
  Value expression(const tir::NestExpr& expr, Value mask);
  Value load(const tir::NestExpr& expr, Value mask);
  Value choose(const tir::NestExpr& expr, Value mask);
  Value scalar_param(const tir::LetVar& var);

  // Indices.
  At locate(const tir::Place& place, Value mask);
  At checked(const tir::Place& place, Value mask);
  const tir::LinearParts& linear(const PrimExpr& expr);
  Position linear_position(tir::BufferId buffer, const tir::LinearParts& parts);
  bool varies(const PrimExpr& expr) const;
  Value lane_index(const PrimExpr& expr);
  Slot slot_of(const SymVar& var);
  Slot eval_slot(const PrimExpr& expr);
  Slot scaled_slot(Slot slot, const PrimExpr& by);
  bool is_shaped() const { return !nest_.vars.empty(); }
  Value both(Value a, Value b);

  struct Around {
    std::unordered_set<tir::BufferId> stored;
    bool may_not_run;
  };
  uint16_t least_level(tir::BufferId buffer) const;
  void enter(const Statements& list, bool may_not_run);
  void leave();

  const tir::Nest& nest_;
  Function& function_;
  Builder b_;
  LaneArithmetic arithmetic_;
  uint8_t lanes_;
  const std::unordered_set<tir::BufferId>& stream_;
  Assumptions facts_;
  tir::Totality totality_{facts_};
  std::unordered_map<const PrimExprNode*, tir::LinearParts> linear_;
  std::unordered_map<const SymVarNode*, Slot> slots_;
  struct Evaluated {
    PrimExpr expr;
    std::vector<std::pair<const SymVarNode*, Slot>> slots;
    Slot result;
  };
  std::vector<Evaluated> evaluated_;  // total ones
  std::unordered_map<const tir::LetVar*, std::vector<Value>> lets_;
  std::unordered_map<tir::BufferId, Accumulator> accumulators_;
  std::vector<Around> around_;
  std::unordered_map<const tir::NestLoop*, std::vector<tir::Place>> prefetches_;
  std::unordered_map<const tir::NestLoop*, std::vector<tir::Place>> further_on_;  // of rolled rows
  std::deque<RolledRows> rolled_;                                                 // whose expressions linear_ knows
  // The store in front of the fold to a buffer that the loop reads while it holds the fold in registers.
  std::unordered_map<tir::BufferId, const tir::NestStmt*> starts_;

  SymVar inner_var_;  // of the innermost loop
  // Of the loop whose iterations are in lanes.
  SymVar lane_var_;
  std::unordered_map<const SymVarNode*, std::vector<Value>> lane_lets_;
  unsigned jam_ = 1, unit_ = 0;
  Value active_ = 0;  // lanes that take part by the conditions around
  int64_t grain_ = 1;
  bool streams_ = false;
};

}  // namespace ingot::jit
