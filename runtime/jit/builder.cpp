#include "runtime/jit/builder.h"

#include <algorithm>

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

Builder::Builder(Function& function) : function_(function) { regions_.push_back({&function.body, {}}); }

Loop& Builder::open_loop(Loop loop) {
  Loop& added = function_.loops.emplace_back(std::move(loop));
  slot_levels_[added.slot] = static_cast<uint16_t>(regions_.size());
  regions_.push_back({&added.body, {}});
  return added;
}

void Builder::close_loop(Loop& loop) {
  regions_.pop_back();
  regions_.back().block->push_back(&loop);
}

Branch& Builder::open_branch(Value condition) {
  Branch& added = function_.branches.emplace_back(Branch{condition});
  regions_.push_back({&added.then_block, {}});
  return added;
}

void Builder::open_else(Branch& branch) { regions_.back() = {&branch.else_block, {}}; }

void Builder::close_branch(Branch& branch) {
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

Value Builder::lookup(const Table& table, Value index) {
  const auto found = std::ranges::find(function_.tables, &table);
  const auto id = static_cast<uint32_t>(found - function_.tables.begin());
  if (found == function_.tables.end()) function_.tables.push_back(&table);
  return pure({.op = Op::Lookup, .a = index, .ref = id});
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
  const uint16_t level = level_of(instr, least_level);
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
  regions_.back().block->push_back(
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
  instr.dst = new_value(instr, level);
  regions_[level].block->push_back(instr);
  regions_[level].known.emplace(key, instr.dst);
  return instr.dst;
}

void Builder::store(Instr instr) {
  instr.lanes = lanes_;
  instr.tail = tail_;
  regions_.back().block->push_back(instr);
  const Position& at = function_.positions[instr.ref];
  forget(at.buffer);
  if (instr.op != Op::Store || instr.mask != 0 || function_.values[instr.a].mutable_) return;
  Instr again = instr;
  again.op = Op::Load;
  again.a = 0;
  again.stream = false;
  if (at.lane_stride == 0) again.tail = false;
  if (at.lane_stride == 0 && lanes_ != 1) return;
  regions_.back().known.emplace(key_of(again, version(at.buffer)), instr.a);
}

void Builder::forget(tir::BufferId buffer) { version(buffer) = ++stamp_; }

}  // namespace ingot::jit
