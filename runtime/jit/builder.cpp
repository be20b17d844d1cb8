#include "runtime/jit/builder.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/base/checked.h"

namespace ingot::jit {
namespace {

Width result_width(const Instr& instr) {
  switch (instr.op) {
    case Op::CmpF:
    case Op::CmpI:
    case Op::CmpU:
      return Width::W32;
    default:
      return instr.width;
  }
}

}  // namespace

Builder::Builder(Function& function, uint8_t table_lanes) : function_(function), table_lanes_(table_lanes) {
  regions_.push_back({&function.body, {}});
}

Loop& Builder::open_loop(Loop loop) {
  Loop& added = function_.loops.emplace_back(std::move(loop));
  slot_levels_[added.slot] = static_cast<uint16_t>(regions_.size());
  regions_.push_back({&added.body, {}});
  stored_.clear();
  return added;
}

void Builder::close_loop(Loop& loop) {
  stored_.clear();
  regions_.pop_back();
  regions_.back().block->push_back(&loop);
}

Branch& Builder::open_branch(Value condition) {
  Branch& added = function_.branches.emplace_back(Branch{condition});
  regions_.push_back({&added.then_block, {}});
  stored_.clear();
  return added;
}

Branch& Builder::open_rare_branch(Value value, Value limit) {
  Branch& added = open_branch(value);
  added.above = limit;
  added.lanes = lanes_;
  floor_ = level();
  return added;
}

void Builder::close_rare_branch(Branch& branch) {
  close_branch(branch);
  floor_ = 0;
}

void Builder::open_else(Branch& branch) {
  stored_.clear();
  regions_.back() = {&branch.else_block, {}};
}

void Builder::close_branch(Branch& branch) {
  stored_.clear();
  regions_.pop_back();
  regions_.back().block->push_back(&branch);
}

Slot Builder::new_slot(uint16_t level) {
  slot_levels_.push_back(level);
  return function_.slots++;
}

uint32_t Builder::position(Position position) {
  auto& parts = position.parts;
  std::ranges::sort(parts, {}, &Position::Part::slot);
  size_t kept = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (kept == 0 || parts[kept - 1].slot != parts[i].slot) {
      parts[kept++] = parts[i];
      continue;
    }
    const auto sum = checked_add(parts[kept - 1].coefficient, parts[i].coefficient);
    if (!sum) throw Refusal{};
    parts[kept - 1].coefficient = *sum;
  }
  parts.resize(kept);
  auto& known = function_.positions;
  const auto found = std::ranges::find(known, position);
  if (found != known.end()) return static_cast<uint32_t>(found - known.begin());
  known.push_back(std::move(position));
  return static_cast<uint32_t>(known.size() - 1);
}

Value Builder::bits(Width width, uint64_t bits) {
  Value& value = constants_[width == Width::W64][bits];
  if (value == 0) {
    value = static_cast<Value>(function_.values.size());
    function_.values.push_back({.width = width, .constant = true, .bits = bits});
  }
  return value;
}

// Stands in front of everything.
Value Builder::table_row(uint32_t table, uint8_t row) {
  const Instr instr{.op = Op::TableRow, .lanes = table_lanes_, .imm = row, .ref = table};
  const Key key = key_of(instr, 0);
  if (const Value known = find(key, 0)) return known;
  Instr made = instr;
  made.dst = new_value(instr, 0);
  regions_[0].block->push_back(made);
  regions_[0].known.emplace(key, made.dst);
  return made.dst;
}

Value Builder::lookup(Table table, Value index) {
  const size_t half = table.size() / 2;
  if (half > table_lanes_) {
    const Value low = lookup(table.first(half), index), high = lookup(table.last(half), index);
    const auto shift = static_cast<uint8_t>(32 - std::bit_width(half));
    const Value in_high = op(Op::Sar, Width::W32, op(Op::Shl, Width::W32, index, 0, 0, shift), 0, 0, 31);
    return op(Op::Blend, Width::W32, in_high, high, low);
  }
  const auto found = std::ranges::find(function_.tables, table.data(), &Table::data);
  const auto id = static_cast<uint32_t>(found - function_.tables.begin());
  if (found == function_.tables.end()) function_.tables.push_back(table);
  const Value second = table.size() > table_lanes_ ? table_row(id, 1) : 0;
  return op(Op::Lookup, Width::W32, index, table_row(id, 0), second);
}

Builder::Key Builder::key_of(const Instr& instr, uint32_t version) const {
  return {instr.op, instr.width, instr.lanes, instr.imm,  instr.tail, instr.dtype,
          instr.a,  instr.b,     instr.c,     instr.mask, instr.ref,  version};
}

Value Builder::find(const Key& key, uint16_t level) const {
  for (size_t i = level + 1u; i-- > 0;)
    if (const auto found = regions_[i].known.find(key); found != regions_[i].known.end()) return found->second;
  return 0;
}

Value Builder::new_value(const Instr& instr, uint16_t level) {
  function_.values.push_back({.width = result_width(instr), .lanes = instr.lanes, .level = level});
  return static_cast<Value>(function_.values.size() - 1);
}

uint16_t Builder::level_of(const Instr& instr, uint16_t least) const {
  for (const Value operand : {instr.a, instr.b, instr.c, instr.mask}) {
    const ValueInfo& info = function_.values[operand];
    if (operand == 0 || info.constant) continue;
    least = std::max(least, info.mutable_ ? level() : info.level);
  }
  return least;
}

Value Builder::pure(Instr instr, uint16_t least_level) {
  instr.lanes = lanes_;
  const uint16_t level = level_of(instr, std::max(least_level, floor_));
  const bool changes = std::ranges::any_of(std::initializer_list<Value>{instr.a, instr.b, instr.c},
                                           [&](Value value) { return function_.values[value].mutable_; });
  const Key key = key_of(instr, 0);
  if (!changes)
    if (const Value known = find(key, level)) return known;
  instr.dst = new_value(instr, level);
  regions_[level].block->push_back(instr);
  if (!changes) regions_[level].known.emplace(key, instr.dst);
  return instr.dst;
}

Value Builder::fixed(Instr instr, bool result) {
  instr.lanes = lanes_;
  instr.tail = tail_;
  if (result) instr.dst = new_value(instr, level());
  regions_.back().block->push_back(instr);
  return instr.dst;
}

Value Builder::mutable_value(Width width, Value first) {
  const Value target = fixed({.op = Op::Move, .width = width, .a = first}, true);
  function_.values[target].mutable_ = true;
  return target;
}

void Builder::assign(Value target, Value value) {
  Block& block = *regions_.back().block;
  auto* last = block.empty() ? nullptr : std::get_if<Instr>(&block.back());
  // What reads a value that changes is not shared: nobody else knows the result.
  const auto changes = [&](Value operand) { return function_.values[operand].mutable_; };
  const bool own = last != nullptr && last->dst == value && last->op != Op::Load && last->op != Op::Call &&
                   last->lanes == lanes_ && last->width == function_.values[target].width && !changes(value) &&
                   (changes(last->a) || changes(last->b) || changes(last->c));
  if (own) {
    last->dst = target;
    return;
  }
  block.push_back(
      Instr{.op = Op::Move, .width = function_.values[target].width, .lanes = lanes_, .dst = target, .a = value});
}

Value Builder::current(Value target) {
  return fixed({.op = Op::Move, .width = function_.values[target].width, .a = target}, true);
}

uint32_t& Builder::version(tir::BufferId buffer) {
  if (versions_.size() <= buffer) versions_.resize(buffer + 1u);
  return versions_[buffer];
}

Value Builder::load(Instr instr, uint16_t least_level) {
  instr.lanes = lanes_;
  instr.tail = tail_;
  const Position& at = function_.positions[instr.ref];
  if (at.lane_stride == 0) instr.tail = false;
  uint16_t level = level_of(instr, least_level);
  for (const auto& part : at.parts) level = std::max(level, slot_levels_[part.slot]);
  if (instr.tail) level = this->level();
  const Key key = key_of(instr, version(at.buffer));
  if (const Value known = find(key, this->level())) return known;
  if (at.lane_stride == 0 && lanes_ > 1 && instr.mask == 0) {
    Key single = key;
    single.lanes = 1;
    if (const Value known = find(single, this->level())) return op(Op::Splat, instr.width, known);
  }
  instr.dst = new_value(instr, level);
  regions_[level].block->push_back(instr);
  regions_[level].known.emplace(key, instr.dst);
  return instr.dst;
}

// What reads what it stores.
Instr Builder::as_load(Instr store) const {
  store.op = Op::Load;
  store.a = 0;
  store.stream = false;
  if (function_.positions[store.ref].lane_stride == 0) store.tail = false;
  return store;
}

void Builder::store(Instr instr) {
  instr.lanes = lanes_;
  instr.tail = tail_;
  regions_.back().block->push_back(instr);
  const Position& at = function_.positions[instr.ref];
  // Those whose elements lie elsewhere are still what memory holds.
  std::erase_if(stored_, [&](const Instr& other) {
    const Position& place = function_.positions[other.ref];
    return place.buffer != at.buffer || other.lanes != lanes_ || instr.op != Op::Store || at.lane_stride != 1 ||
           place.lane_stride != 1 || place.parts != at.parts || std::abs(place.base - at.base) < lanes_;
  });
  const std::vector<Instr> kept = std::move(stored_);
  forget(at.buffer);
  stored_ = kept;
  for (const Instr& other : stored_) regions_.back().known.emplace(key_of(as_load(other), version(at.buffer)), other.a);
  if (instr.op != Op::Store || instr.mask != 0 || function_.values[instr.a].mutable_) return;
  if (at.lane_stride == 0 && lanes_ != 1) return;
  stored_.push_back(instr);
  regions_.back().known.emplace(key_of(as_load(instr), version(at.buffer)), instr.a);
}

void Builder::interleave(std::span<const size_t> starts) {
  Block& block = *regions_.back().block;
  const auto movable = [](const Item& item) {
    const auto* instr = std::get_if<Instr>(&item);
    return instr != nullptr && (instr->op == Op::Store || (instr->dst != 0 && instr->op != Op::Call));
  };
  const auto first = block.begin() + static_cast<std::ptrdiff_t>(starts[0]);
  if (!std::all_of(first, block.end(), movable)) return;
  const Block old(first, block.end());
  block.resize(starts[0]);
  std::unordered_set<Value> missing;
  for (const Item& item : old) {
    const Value result = std::get<Instr>(item).dst;
    if (result != 0 && !function_.values[result].mutable_) missing.insert(result);
  }
  std::vector<size_t> next, end;
  for (const size_t start : starts) next.push_back(start - starts[0]);
  end.assign(next.begin() + 1, next.end());
  end.push_back(old.size());
  // A part never waits for a later one, so that the first unfinished one always goes on.
  while (block.size() < starts[0] + old.size())
    for (size_t part = 0; part < next.size(); ++part) {
      if (next[part] == end[part]) continue;
      const Instr& instr = std::get<Instr>(old[next[part]]);
      const auto waits = [&](Value value) { return missing.contains(value); };
      if (instr.op == Op::Store && part > 0 && next[part - 1] < end[part - 1]) continue;
      if (waits(instr.a) || waits(instr.b) || waits(instr.c) || waits(instr.mask)) continue;
      missing.erase(instr.dst);
      block.push_back(instr);
      ++next[part];
    }
}

void Builder::forget(tir::BufferId buffer) {
  version(buffer) = ++stamp_;
  stored_.clear();
}

}  // namespace ingot::jit
