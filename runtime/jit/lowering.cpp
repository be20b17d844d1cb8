#include "runtime/jit/lowering.h"

#include <algorithm>

namespace ingot::jit {

using tir::NestExpr;
using tir::NestIf;
using tir::NestLet;
using tir::NestLoop;
using tir::NestStmt;
using tir::NestStore;
using tir::Place;

Lowering::Lowering(const tir::Nest& nest, Function& function, Cpu cpu, uint8_t lanes,
                   const std::unordered_set<tir::BufferId>& stream)
    : nest_(nest),
      function_(function),
      b_(function, lanes),
      arithmetic_(b_, function, cpu),
      lanes_(lanes),
      stream_(stream) {
  around_.push_back({{}, false});
  for (const SymVar& var : nest.vars) facts_.bound(var, {1, tir::kMostOfShaped});
}

void Lowering::within(const NestLoop& loop) {
  facts_.below(loop.var, loop.extent);
  const Slot slot = b_.new_slot(0);
  slots_[loop.var.get()] = slot;
  b_.fixed({.op = Op::OuterSlot, .ref = slot}, false);
}

int64_t Lowering::run(const NestStmt& stmt, bool ranged) {
  if (const auto* loop = std::get_if<NestLoop>(&stmt.node)) {
    statement(*loop, ranged);
  } else {
    std::visit(
        [&](const auto& node) {
          if constexpr (!std::same_as<std::decay_t<decltype(node)>, NestLoop>) statement(node);
        },
        stmt.node);
  }
  return grain_;
}

void Lowering::enter(const Statements& list, bool may_not_run) {
  Around around{{}, may_not_run};
  tir::for_each_place(list, [&](const Place& place, bool is_store) {
    if (is_store && !accumulators_.contains(place.buffer)) around.stored.insert(place.buffer);
  });
  for (const tir::BufferId buffer : around.stored) b_.forget(buffer);
  around_.push_back(std::move(around));
}

void Lowering::leave() {
  for (const tir::BufferId buffer : around_.back().stored) b_.forget(buffer);
  around_.pop_back();
}

uint16_t Lowering::least_level(tir::BufferId buffer) const {
  for (size_t level = around_.size(); level-- > 0;)
    if (around_[level].may_not_run || around_[level].stored.contains(buffer)) return static_cast<uint16_t>(level);
  return 0;
}

Value Lowering::both(Value a, Value b) {
  if (a == 0 || b == 0) return a == 0 ? b : a;
  return b_.op(Op::And, Width::W32, a, b);
}

// Statements.

void Lowering::body(std::span<const NestStmt> list) {
  for (const NestStmt& stmt : list) {
    if (const auto* loop = std::get_if<NestLoop>(&stmt.node)) {
      statement(*loop, false);
      continue;
    }
    if (const auto* branch = std::get_if<NestIf>(&stmt.node); branch && (lane_var_ == nullptr || jam_ == 1)) {
      statement(*branch);
      continue;
    }
    if (std::holds_alternative<NestIf>(stmt.node)) throw Refusal{};
    std::vector<size_t> starts;
    for (unit_ = 0; unit_ < jam_; ++unit_) {
      starts.push_back(b_.block_size());
      if (const auto* let = std::get_if<NestLet>(&stmt.node)) statement(*let);
      if (const auto* store = std::get_if<NestStore>(&stmt.node)) statement(*store);
    }
    unit_ = 0;
    if (jam_ > 1) b_.interleave(starts);
  }
}

// Where the loop is made of several that do not wait for each other, their instructions are mixed: all loads stand in
// front, where stores to addresses that look the same to the machine do not hold them up.
void Lowering::lane_body(const NestLoop& loop) {
  const auto rows =
      std::ranges::find_if(rolled_, [&](const RolledRows& each) { return &each.first == &loop || &each.all == &loop; });
  if (rows == rolled_.end()) return body(loop.body);
  std::vector<size_t> starts;
  auto part = loop.body.begin();
  const std::span<const size_t> sizes = rows->sizes;
  for (const size_t size : &loop == &rows->all ? sizes : sizes.subspan(1)) {
    const auto end = part + static_cast<std::ptrdiff_t>(size);
    for (unit_ = 0; unit_ < jam_; ++unit_) {
      starts.push_back(b_.block_size());
      for (auto stmt = part; stmt != end; ++stmt) statement(std::get<NestStore>(stmt->node));
    }
    part = end;
  }
  unit_ = 0;
  b_.interleave(starts);
}

void Lowering::statement(const NestLet& let) {
  Value value = expression(*let.value, active_);
  if (function_.values[value].mutable_) value = b_.current(value);
  auto& values = lets_[let.var.get()];
  values.resize(jam_);
  values[unit_] = value;
  if (!let.var->index) return;
  if (lane_var_) {
    auto& indices = lane_lets_[let.var->index.get()];
    indices.resize(jam_);
    indices[unit_] = value;
    return;
  }
  const Slot slot = b_.new_slot(b_.level());
  slots_[let.var->index.get()] = slot;
  b_.fixed({.op = Op::SetSlot, .width = Width::W64, .a = value, .ref = slot}, false);
}

void Lowering::statement(const NestIf& branch) {
  const Value condition = expression(*branch.condition, active_);
  if (lane_var_) {
    const Value outside = active_;
    active_ = both(outside, condition);
    body(branch.then_body);
    if (!branch.else_body.empty()) {
      active_ = both(outside, b_.op(Op::Xor, Width::W32, condition, b_.i32(-1)));
      body(branch.else_body);
    }
    active_ = outside;
    return;
  }
  Branch& both_sides = b_.open_branch(condition);
  enter(branch.then_body, true);
  body(branch.then_body);
  leave();
  b_.open_else(both_sides);
  enter(branch.else_body, true);
  body(branch.else_body);
  leave();
  b_.close_branch(both_sides);
  for (const auto* side : {&branch.then_body, &branch.else_body})
    tir::for_each_place(*side, [&](const Place& place, bool is_store) {
      if (is_store) b_.forget(place.buffer);
    });
}

void Lowering::statement(const NestStore& store) {
  const DType dtype = nest_.buffers[store.place.buffer].dtype;
  if (const auto found = accumulators_.find(store.place.buffer); found != accumulators_.end()) {
    accumulate(found->second, *tir::as_fold(store), dtype);
    return;
  }
  const At at = locate(store.place, active_);
  const Value value = expression(*store.value, active_);
  Instr instr{.op = at.lanes != 0 ? Op::Scatter : Op::Store, .width = width_of(dtype), .dtype = dtype, .a = value};
  instr.b = at.lanes;
  instr.mask = lane_var_ ? active_ : 0;
  instr.ref = at.position;
  instr.stream = can_stream(store, at);
  streams_ |= instr.stream;
  b_.store(instr);
}

// Whole cache lines, one after the other, that nobody will read soon.
bool Lowering::can_stream(const NestStore& store, const At& at) const {
  if (!lane_var_ || b_.tail() || active_ != 0 || at.lanes != 0 || !stream_.contains(store.place.buffer)) return false;
  return fills_lines(store.place, lane_var_, nest_.buffers[store.place.buffer].dtype);
}

// A loop of stores of that kind alone.
bool Lowering::stores_past_caches(const NestStmt& stmt) const {
  const auto* loop = std::get_if<NestLoop>(&stmt.node);
  return loop != nullptr && std::ranges::all_of(loop->body, [&](const NestStmt& each) {
           const auto* store = std::get_if<NestStore>(&each.node);
           return store != nullptr && stream_.contains(store->place.buffer) &&
                  fills_lines(store->place, loop->var, nest_.buffers[store->place.buffer].dtype);
         });
}

void Lowering::statement(const NestLoop& loop, bool ranged) {
  statement(loop, lane_var_ ? std::nullopt : choose_lanes(loop, lanes_), ranged);
}

void Lowering::statement(const NestLoop& loop, const std::optional<LaneLoop>& how, bool ranged) {
  if (loop.extent.is_const(0)) return;
  const Assumptions outside = facts_;
  facts_.below(loop.var, loop.extent);
  const SymVar outer_var = std::exchange(inner_var_, loop.var);
  if (how) {
    lane_loop(loop, *how, ranged);
  } else {
    plain_loop(loop, ranged);
  }
  inner_var_ = outer_var;
  facts_ = outside;
}

bool Lowering::surely_runs(const PrimExpr& extent) const { return range_of(extent, facts_).least >= 1; }

size_t Lowering::param_bytes() const {
  size_t bytes = 0;
  for (size_t id = 0; id < nest_.params; ++id) bytes += nest_.buffers[id].bytes;
  return bytes;
}

// How many statements, the first loop their last one, may run one row ahead: in front of the last loop, which hides
// that they wait for memory, and for each other. They gather floats of inputs in temporaries that nobody else writes
// and the last loop does not read. 0: none, or the row has less than three loops.
size_t Lowering::statements_ahead(const NestLoop& loop) const {
  const Statements& list = loop.body;
  const auto is_loop = [](const NestStmt& stmt) { return std::holds_alternative<NestLoop>(stmt.node); };
  const auto first = std::ranges::find_if(list, is_loop);
  if (std::ranges::count_if(list, is_loop) < 3 || !is_loop(list.back()) || lane_var_ || !accumulators_.empty())
    return 0;
  if (tir::has_inner_loop(std::get<NestLoop>(first->node).body)) return 0;
  const auto count = static_cast<size_t>(first - list.begin()) + 1;
  const auto stored_by = [](std::span<const NestStmt> part) {
    std::unordered_set<tir::BufferId> stored;
    tir::for_each_place({part.begin(), part.end()}, [&](const Place& place, bool is_store) {
      if (is_store) stored.insert(place.buffer);
    });
    return stored;
  };
  const std::span<const NestStmt> all = list, ahead = all.first(count), behind = all.subspan(count);
  const auto own = stored_by(ahead), others = stored_by(behind);
  bool fits = std::ranges::all_of(ahead.first(count - 1),
                                  [](const NestStmt& stmt) { return std::holds_alternative<NestStore>(stmt.node); });
  for (const tir::BufferId buffer : own) {
    const bool owned = std::ranges::find(loop.owned, buffer) != loop.owned.end();
    fits &= owned && !others.contains(buffer) && is_float(nest_.buffers[buffer].dtype);
  }
  tir::for_each_place({ahead.begin(), ahead.end()}, [&](const Place& place, bool is_store) {
    fits &= place.proved && (is_store || own.contains(place.buffer) ||
                             (!others.contains(place.buffer) && is_float(nest_.buffers[place.buffer].dtype)));
  });
  tir::for_each_place({list.back()}, [&](const Place& place, bool) { fits &= !own.contains(place.buffer); });
  return fits ? count : 0;
}

Slot Lowering::row_slot(Row which, const Loop& rows, const SymVar& var, Slot index) {
  const Slot slot = b_.new_slot(b_.level());
  slots_[var.get()] = slot;
  b_.fixed({.op = Op::RowSlot, .imm = static_cast<uint8_t>(which), .rows = &rows, .ref = slot, .index = index}, false);
  return slot;
}

// The loops among the statements as one. nullopt where one of them is not run in lanes, or not as wide as the others.
std::optional<LaneLoop> Lowering::lanes_of_all(const Statements& list) const {
  std::optional<LaneLoop> result;
  for (const NestStmt& stmt : list) {
    const auto* loop = std::get_if<NestLoop>(&stmt.node);
    if (loop == nullptr) continue;
    auto how = choose_lanes(*loop, lanes_);
    if (!how || (result && how->lanes != result->lanes)) return std::nullopt;
    if (result) {
      how->plan.folds.merge(result->plan.folds);
      how->jam = std::min(how->jam, result->jam);
    }
    result = std::move(how);
  }
  return result;
}

// See RolledRows; where there are registers for it. The first row has none behind it, and the last loop of the last row
// stands behind all. False: not such a loop, nothing is lowered.
bool Lowering::rolled_loop(const NestLoop& loop, Loop code) {
  const size_t ahead = statements_ahead(loop);
  // What comes from memory is read faster by a loop of its own, unless nothing is written to the caches beside it.
  constexpr size_t kNear = size_t{1} << 23;
  const bool past = ahead != 0 && stores_past_caches(loop.body.back());
  const bool follows = is_shaped() || (param_bytes() > kNear && !past);
  auto rolled = is_wide() ? roll_rows(loop, ahead, follows, past) : std::nullopt;
  const auto how = rolled ? lanes_of_all(loop.body) : std::nullopt;
  if (!how) return false;
  const RolledRows& rows = rolled_.emplace_back(std::move(*rolled));
  if (past) further_on_[&rows.all] = behind_next_row(rows);
  facts_.below(rows.next, loop.extent);
  facts_.below(rows.behind, loop.extent);
  for (const NestStmt& stmt : rows.start) starts_[std::get<NestStore>(stmt.node).place.buffer] = &stmt;
  const auto run = [&](const NestLoop& part) {
    body(rows.before);
    statement(part, how, false);
    body(rows.between);
    body(rows.follow);
  };
  const std::span<const NestStmt> all = loop.body;
  const Loop& bounds = function_.loops.emplace_back(code);
  const Slot first = row_slot(Row::First, bounds, loop.var);
  const auto starts = std::exchange(starts_, {});
  body(all.first(ahead));
  starts_ = starts;
  row_slot(Row::Next, bounds, rows.next, first);
  run(rows.first);

  code.skips_first = true;
  code.slot = b_.new_slot(static_cast<uint16_t>(b_.level() + 1));
  slots_[loop.var.get()] = code.slot;
  Loop& opened = b_.open_loop(std::move(code));
  enter(loop.body, true);
  row_slot(Row::Former, bounds, rows.behind, opened.slot);
  row_slot(Row::Next, bounds, rows.next, opened.slot);
  run(rows.all);
  leave();
  b_.close_loop(opened);
  starts_.clear();

  row_slot(Row::Last, bounds, rows.behind);
  statement(rows.last, false);
  return true;
}

// Sums that the loop does not move are held in registers while it runs.
void Lowering::plain_loop(const NestLoop& loop, bool ranged) {
  Loop code;
  code.ranged = ranged;
  code.innermost = !tir::has_inner_loop(loop.body);
  if (const auto extent = loop.extent.as_const()) {
    code.extent = *extent;
  } else if (!ranged) {
    if (varies(loop.extent)) throw Refusal{};
    code.has_extent_slot = true;
    code.extent_slot = eval_slot(loop.extent);
  }
  const bool runs = !code.has_extent_slot || surely_runs(loop.extent);

  std::vector<std::pair<const NestStore*, tir::Fold>> promoted;
  if (runs) {
    std::unordered_set<const void*> moving;
    tir::collect_bound(loop.body, moving);
    moving.insert(loop.var.get());
    for (const NestStmt& stmt : loop.body) {
      const auto* store = std::get_if<NestStore>(&stmt.node);
      const auto fold = store ? tir::as_fold(*store) : std::nullopt;
      if (!fold || !totality_.is_total(store->place) || tir::mentions_any(store->place.indices[0], moving)) continue;
      if (accumulators_.contains(store->place.buffer)) continue;
      int uses = 0;
      tir::for_each_place(loop.body,
                          [&](const Place& place, bool) { uses += place.buffer == store->place.buffer ? 1 : 0; });
      if (uses == 2) promoted.emplace_back(store, *fold);
    }
  }
  const bool has_rows = ranged || code.extent > 1;
  if (has_rows && promoted.empty() && rolled_loop(loop, code)) return;
  for (const auto& [store, fold] : promoted) {
    Accumulator accumulator{{}, false};
    const NestExpr& self = *store->value->operands[fold.swapped ? 1 : 0];
    for (unit_ = 0; unit_ < jam_; ++unit_)
      accumulator.values.push_back(b_.mutable_value(width_of(self.dtype), load(self, 0)));
    accumulators_.emplace(store->place.buffer, std::move(accumulator));
  }
  unit_ = 0;

  code.slot = b_.new_slot(static_cast<uint16_t>(b_.level() + 1));
  slots_[loop.var.get()] = code.slot;
  std::vector<Place> next;
  if (!loop.body.empty())
    if (const auto* last = std::get_if<NestLoop>(&loop.body.back().node); last && !tir::has_inner_loop(last->body)) {
      next = next_row(loop, *last);
      prefetches_[last] = next;
    }
  const std::span<const NestStmt> all = loop.body;
  const size_t ahead = next.empty() && has_rows ? statements_ahead(loop) : 0;
  const Slot row = code.slot;
  const auto run_ahead = [&](const Loop& rows, Row which) {
    row_slot(which, rows, loop.var, row);
    body(all.first(ahead));
    slots_[loop.var.get()] = row;
  };
  if (ahead != 0) run_ahead(function_.loops.emplace_back(code), Row::First);
  Loop& opened = b_.open_loop(std::move(code));
  enter(loop.body, !runs);
  if (ahead == 0) {
    body(all);
  } else {
    body(all.subspan(ahead, all.size() - ahead - 1));
    run_ahead(opened, Row::Next);
    body(all.last(1));
  }
  leave();
  b_.close_loop(opened);

  for (const auto& [store, fold] : promoted) {
    const auto accumulator = accumulators_.extract(store->place.buffer).mapped();
    const DType dtype = nest_.buffers[store->place.buffer].dtype;
    for (unit_ = 0; unit_ < jam_; ++unit_) {
      const At at = locate(store->place, 0);
      b_.store({.op = Op::Store,
                .width = width_of(dtype),
                .dtype = dtype,
                .a = b_.current(accumulator.values[unit_]),
                .ref = at.position});
    }
    unit_ = 0;
  }
}

void Lowering::lane_loop(const NestLoop& loop, const LaneLoop& how, bool ranged) {
  const auto extent = loop.extent.as_const();
  const int64_t step = int64_t{how.lanes} * how.jam;
  Loop whole;
  whole.ranged = ranged;
  whole.innermost = !tir::has_inner_loop(loop.body);
  whole.lanes = how.lanes;
  whole.step = step;
  whole.whole_steps = true;
  if (extent) {
    whole.extent = *extent;
  } else if (!ranged) {
    whole.has_extent_slot = true;
    whole.extent_slot = eval_slot(loop.extent);
  }
  if (ranged) grain_ = step;
  whole.slot = b_.new_slot(static_cast<uint16_t>(b_.level() + 1));
  slots_[loop.var.get()] = whole.slot;

  b_.set_lanes(how.lanes, false);
  lane_var_ = loop.var;
  jam_ = how.jam;
  std::vector<std::pair<const NestStore*, tir::Fold>> folds;
  const std::function<void(const Statements&)> collect = [&](const Statements& list) {
    for (const NestStmt& stmt : list) {
      if (const auto* branch = std::get_if<NestIf>(&stmt.node)) {
        collect(branch->then_body);
        collect(branch->else_body);
      } else if (const auto* store = std::get_if<NestStore>(&stmt.node);
                 store && how.plan.folds.contains(store->place.buffer)) {
        folds.emplace_back(store, *tir::as_fold(*store));
      }
    }
  };
  collect(loop.body);
  for (const auto& [store, fold] : folds) {
    const DType dtype = store->value->dtype;
    Accumulator accumulator{{}, true};
    for (unsigned i = 0; i < jam_; ++i)
      accumulator.values.push_back(b_.mutable_value(width_of(dtype), neutral(fold.op, dtype)));
    if (is_extreme(fold, dtype))
      for (unsigned i = 0; i < jam_; ++i)
        accumulator.marks.push_back(b_.mutable_value(Width::W32, b_.bits(Width::W32, 0)));
    accumulators_.emplace(store->place.buffer, std::move(accumulator));
  }

  const bool has_whole = !extent || *extent >= step;
  const bool has_tail = !extent || *extent % step != 0;
  const bool may_not_run = ranged ? has_tail : !extent && !surely_runs(loop.extent);
  if (has_whole) {
    Loop& opened = b_.open_loop(whole);
    enter(loop.body, may_not_run);
    lane_body(loop);
    if (const auto found = prefetches_.find(&loop); found != prefetches_.end()) prefetch(found->second, false);
    const auto ahead = further_on_.find(&loop);
    prefetch(ahead != further_on_.end() ? ahead->second : further_on(loop), true);
    leave();
    b_.close_loop(opened);
  }
  if (has_tail) {
    Loop tail = whole;
    tail.step = how.lanes;
    tail.whole_steps = false;
    tail.resumes = has_whole;
    b_.set_lanes(how.lanes, true);
    jam_ = 1;
    Loop& opened = b_.open_loop(std::move(tail));
    enter(loop.body, may_not_run);
    lane_body(loop);
    leave();
    b_.close_loop(opened);
  }
  lane_var_ = nullptr;
  lane_lets_.clear();
  jam_ = 1;
  for (const auto& [store, fold] : folds) {
    Accumulator accumulator = accumulators_.extract(store->place.buffer).mapped();
    if (const auto start = starts_.find(store->place.buffer); start != starts_.end()) {
      b_.set_lanes(1, false);
      statement(std::get<NestStore>(start->second->node));
    }
    b_.set_lanes(how.lanes, false);
    finish_fold(*store, fold, accumulator);
  }
  b_.set_lanes(1, false);
}

}  // namespace ingot::jit
