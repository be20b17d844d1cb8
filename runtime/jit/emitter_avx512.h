#pragma once
#include "runtime/jit/emitter.h"

namespace ingot::jit {

// 16 lanes of 4 bytes. k1 holds the tail, k2 to k4 are scratch.
class EmitterAvx512 final : public Emitter {
 public:
  static constexpr uint8_t kLanes = 16;
  explicit EmitterAvx512(std::span<uint8_t> buffer) : Emitter(buffer, 28, 28, 64, true) {}

 private:
  void special(const Instr& instr) override;
  void lookup(const Instr& instr);
  void load(const Instr& instr, const Xmm& to, const Xbyak::RegExp& at) override;
  void store(const Instr& instr, const Xmm& from, const Xbyak::RegExp& at) override;
  void set_tail(const Loop& loop) override;
  void lanes_to_eax(Value value, int lanes, bool tail) override;
  void any_above(const Branch& branch) override;
  void move(const Xmm& to, const Xmm& from) override { vmovaps(to, from); }

  // The lanes of a memory access; k0 stands for all.
  Xbyak::Opmask mask_of(const Instr& instr);
  void load_vector(DType dtype, const Xmm& to, const Xbyak::RegExp& at, const Xbyak::Opmask& mask);
  void load_gathered(const Instr& instr, const Xmm& to, const Xbyak::RegExp& at);
  void store_scalar(DType dtype, const Xmm& from, const Xbyak::RegExp& at);
  // Raw 4-byte elements become values.
  void convert_loaded(DType dtype, const Xmm& to) override;
  void compare(const Instr& instr);
  void min_max_nan(const Instr& instr);
  void keep_nan(const Instr& instr);
  void tile(const Instr& instr);
  void shaped_tile(const ShapedTile& shape);
  void transpose_rows();
};

}  // namespace ingot::jit
