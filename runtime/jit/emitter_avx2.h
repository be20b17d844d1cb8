#pragma once
#include "runtime/jit/emitter.h"

namespace ingot::jit {

// 8 lanes of 4 bytes. ymm11 holds the tail, in 4-byte lanes.
class EmitterAvx2 final : public Emitter {
 public:
  static constexpr uint8_t kLanes = 8;
  explicit EmitterAvx2(std::span<uint8_t> buffer) : Emitter(buffer, 11, 12, 32, false) {}

 private:
  static constexpr int kTail = 11;

  void special(const Instr& instr) override;
  void lookup(const Instr& instr);
  void load(const Instr& instr, const Xmm& to, const Xbyak::RegExp& at) override;
  void store(const Instr& instr, const Xmm& from, const Xbyak::RegExp& at) override;
  void set_tail(const Loop& loop) override;
  void lanes_to_eax(Value value, int lanes, bool tail) override;
  void any_above(const Branch& branch) override;
  void move(const Xmm& to, const Xmm& from) override { vmovaps(to, from); }

  // The lanes of a memory access, as wide as its elements.
  Xmm mask_of(const Instr& instr);
  void load_vector(const Instr& instr, const Xmm& to, const Xbyak::RegExp& at);
  void load_lanes(const Instr& instr, const Xmm& to, const Xbyak::RegExp& at);
  void store_scalar(DType dtype, const Xmm& from, const Xbyak::RegExp& at);
  void store_vector(const Instr& instr, const Xmm& from, const Xbyak::RegExp& at);
  void store_lanes(const Instr& instr, const Xmm& from, const Xbyak::RegExp& at);
  // Raw 4-byte elements become values.
  void convert_loaded(DType dtype, const Xmm& to) override;
  // A value becomes raw 4-byte elements, in a register of scratch.
  Xmm converted(DType dtype, const Xmm& from);
  void compare(const Instr& instr);
  // The low 4 bytes of each 8-byte lane.
  void narrow(const Xmm& to, const Xmm& from, int lanes);
  void min_max_nan(const Instr& instr);
  void scale(const Instr& instr);
};

}  // namespace ingot::jit
