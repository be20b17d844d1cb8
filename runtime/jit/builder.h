#pragma once
#include <bit>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/jit/ir.h"

namespace ingot::jit {

// Builds the body of a Function instruction by instruction. What is computed twice is computed once, and what a loop
// does not change stands in front of it.
class Builder {
 public:
  Builder(Function& function, uint8_t table_lanes);

  // Regions: level 0 is the function, each open loop or branch one more.
  Loop& open_loop(Loop loop);
  void close_loop(Loop& loop);
  Branch& open_branch(Value condition);  // what follows goes into its then_block
  // The rare branch for registers with a lane above the limit, and its end. What is computed in between stays there.
  Branch& open_rare_branch(Value value, Value limit);
  void close_rare_branch(Branch& branch);
  void open_else(Branch& branch);
  void close_branch(Branch& branch);
  // What follows is lowered for `lanes` lanes; `tail`: those of the last, partial step.
  void set_lanes(uint8_t lanes, bool tail) {
    lanes_ = lanes;
    tail_ = tail;
  }
  uint8_t lanes() const { return lanes_; }
  bool tail() const { return tail_; }
  uint16_t level() const { return static_cast<uint16_t>(regions_.size() - 1); }

  Slot new_slot(uint16_t level);
  uint16_t slot_level(Slot slot) const { return slot_levels_[slot]; }
  uint32_t position(Position position);

  Value bits(Width width, uint64_t bits);
  Value f32(float value) { return bits(Width::W32, std::bit_cast<uint32_t>(value)); }
  Value f64(double value) { return bits(Width::W64, std::bit_cast<uint64_t>(value)); }
  Value i32(int64_t value) { return bits(Width::W32, static_cast<uint32_t>(value)); }
  Value i64(int64_t value) { return bits(Width::W64, static_cast<uint64_t>(value)); }
  bool is_constant(Value value) const { return function_.values[value].constant; }
  uint64_t constant_bits(Value value) const { return function_.values[value].bits; }

  // Pure: may be shared and moved outwards, but not beyond `least_level`.
  Value pure(Instr instr, uint16_t least_level = 0);
  Value op(Op op, Width width, Value a, Value b = 0, Value c = 0, uint8_t imm = 0) {
    return pure({.op = op, .width = width, .imm = imm, .a = a, .b = b, .c = c});
  }
  // Stays where it stands. Gives a value where `result`.
  Value fixed(Instr instr, bool result);

  // Stands in an enclosing region, in front of the loop or branch that is open there. Gives no value.
  void in_front(Instr instr, uint16_t level) { regions_[level].block->push_back(instr); }

  // A value that `assign` changes.
  Value mutable_value(Width width, Value first);
  void assign(Value target, Value value);
  // The value that it has now.
  Value current(Value target);

  // Entry a[i] of the table for the int32 lanes i of `index`, modulo its size.
  Value lookup(Table table, Value index);

  // Loads see the stores in front of them.
  Value load(Instr instr, uint16_t least_level);
  void store(Instr instr);
  // What stands in the current block from starts[i] to starts[i + 1], and behind the last, does the same for different
  // elements: merges these, so that each instruction is followed by those that do not wait for it.
  size_t block_size() const { return regions_.back().block->size(); }
  void interleave(std::span<const size_t> starts);
  // Called around loops that store to it.
  void forget(tir::BufferId buffer);

 private:
  struct Key {
    Op op;
    Width width;
    uint8_t lanes, imm;
    bool tail;
    DType dtype;
    Value a, b, c, mask;
    uint32_t ref, version;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      uint64_t hash = static_cast<uint64_t>(key.op) * 0x9e3779b97f4a7c15u;
      for (const uint64_t part : {uint64_t{key.a}, uint64_t{key.b}, uint64_t{key.c}, uint64_t{key.ref},
                                  uint64_t{key.imm} << 8 | key.lanes, uint64_t{key.version}})
        hash = (hash ^ part) * 0x9e3779b97f4a7c15u ^ hash >> 29;
      return hash;
    }
  };
  struct Region {
    Block* block;
    std::unordered_map<Key, Value, Hash> known;
  };
  Value table_row(uint32_t table, uint8_t row);
  Instr as_load(Instr store) const;
  Key key_of(const Instr& instr, uint32_t version) const;
  Value find(const Key& key, uint16_t level) const;
  Value new_value(const Instr& instr, uint16_t level);
  uint16_t level_of(const Instr& instr, uint16_t least) const;
  uint32_t& version(tir::BufferId buffer);

  Function& function_;
  std::vector<Region> regions_;
  std::vector<uint16_t> slot_levels_;
  std::unordered_map<uint64_t, Value> constants_[2];
  std::vector<uint32_t> versions_;
  std::vector<Instr> stored_;  // stores of the last buffer that was stored to, in the current region
  uint32_t stamp_ = 0;
  uint16_t floor_ = 0;   // nothing moves to regions below
  uint8_t table_lanes_;  // of a full register
  uint8_t lanes_ = 1;
  bool tail_ = false;
};

}  // namespace ingot::jit
