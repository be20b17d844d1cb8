#pragma once
#include <array>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include <xbyak/xbyak.h>

#include "runtime/jit/frame.h"
#include "runtime/jit/ir.h"
#include "runtime/jit/registers.h"

namespace ingot::jit {

// Turns a Function into machine code: loops, addresses, constants and the stack frame here, what lanes need in one
// subclass for each instruction set.
class Emitter : protected Xbyak::CodeGenerator {
 public:
  ~Emitter() override = default;
  // Appends the code; gives its offset. The buffer that the emitter was made with must have room (Xbyak::Error else).
  size_t emit(const Function& function);
  // The constants that the code refers to. Once, at the end.
  size_t finish();
  // Does any of the functions fail where an index lies outside of its buffer?
  bool checks_indices() const { return checks_indices_; }

 protected:
  using Xmm = Xbyak::Xmm;
  using Operand = Xbyak::Operand;

  // `registers`: those that hold values are [0, registers), behind them four of scratch.
  Emitter(std::span<uint8_t> buffer, int registers, int first_scratch, size_t vector_bytes, bool broadcasts)
      : CodeGenerator(buffer.size(), buffer.data()),
        registers_(registers),
        scratch_(first_scratch),
        vector_bytes_(vector_bytes),
        broadcasts_(broadcasts) {}

  // Instructions that both sets have; the others go to `special`.
  void lanes_op(const Instr& instr);
  virtual void special(const Instr& instr) = 0;
  virtual void load(const Instr& instr, const Xmm& to, const Xbyak::RegExp& at) = 0;
  virtual void store(const Instr& instr, const Xmm& from, const Xbyak::RegExp& at) = 0;
  // Raw 4-byte elements become values.
  virtual void convert_loaded(DType dtype, const Xmm& to) = 0;
  // One element, in lane 0.
  void load_scalar(DType dtype, const Xmm& to, const Xbyak::RegExp& at);
  virtual void set_tail(const Loop& loop) = 0;
  // eax = the lanes that take part: those of the mask `value` (0: all) and, where `tail`, of the tail.
  virtual void lanes_to_eax(Value value, int lanes, bool tail) = 0;
  // Clears the zero flag where the branch is taken.
  virtual void any_above(const Branch& branch) = 0;
  virtual void move(const Xmm& to, const Xmm& from) = 0;

  size_t bytes_of(const Instr& instr) const { return static_cast<size_t>(instr.width) * instr.lanes; }
  Xmm reg(int index, size_t bytes) const {
    return {bytes > 32 ? Operand::ZMM : bytes > 16 ? Operand::YMM : Operand::XMM, index};
  }
  Xmm scratch(int i, size_t bytes) const { return reg(scratch_ + i, bytes); }
  static constexpr int kTemp = 3;

  // The value in a register of `bytes`: its own, or scratch `spare`.
  Xmm in_register(Value value, size_t bytes, int spare);
  void load_constant(const Xmm& to, Value value);
  // Calls use(operand) with the same, or memory: a constant or a place in the frame.
  template <typename Use>
  void with_operand(Value value, Width width, size_t bytes, int spare, Use use) {
    const bool has_register = places_.registers[value] != Places::kNone;
    if (!has_register && is_constant(value)) {
      use(pool_word(function_->values[value].bits, width));
    } else if (has_register || bytes < 16) {
      use(in_register(value, bytes, spare));
    } else {
      use(frame_place(value, bytes));
    }
  }
  // Where the result goes: its own register, or scratch 0.
  Xmm target(const Instr& instr, size_t bytes) const;
  Xmm target(const Instr& instr) const { return target(instr, bytes_of(instr)); }
  // Brings a result that has no register of its own to the frame.
  void keep(const Instr& instr, const Xmm& from);
  Xbyak::Address frame_place(Value value, size_t bytes);
  bool is_constant(Value value) const { return function_->values[value].constant; }

  Xbyak::RegExp address(const Instr& instr);
  // The position as element number in rax.
  void position_to_rax(const Position& position);
  // Slot to register.
  void load_slot(const Xbyak::Reg64& to, Slot slot);
  Xbyak::Address pool_word(uint64_t bits, Width width);
  template <typename T>
  Xbyak::Address pool_vector(const std::vector<T>& values) {
    return ptr[rip + pool_ +
               static_cast<int>(
                   pool_offset({reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)}))];
  }
  Xbyak::Label& fault_label(Fault fault) {
    checks_indices_ |= fault == Fault::IndexOutOfRange;
    return faults_[fault];
  }
  // Lane after lane between memory and area 2 of the frame, which holds 4 or 8 bytes of each: the lanes in eax, at
  // `at` + i * lane stride, or at `at` + index in area 1.
  void lanes_from_memory(const Instr& instr, const Xbyak::RegExp& at, bool by_index);
  void lanes_to_memory(const Instr& instr, const Xbyak::RegExp& at, bool by_index);
  Xbyak::Address area(int i, size_t bytes = 16) const;
  size_t area_offset(int i) const { return areas_ + static_cast<size_t>(i) * 64; }
  static bool fits_int32(int64_t value) { return value == static_cast<int32_t>(value); }
  const Position& position(const Instr& instr) const { return function_->positions[instr.ref]; }
  const Function& function() const { return *function_; }

  const Xbyak::Reg64 frame_ = r15, index_ = r14;

 private:
  struct Pointer {
    tir::BufferId buffer;
    int64_t own;  // coefficient of the loop's own slot, in elements
    std::vector<Position::Part> outer;
    int64_t base;
    int64_t bytes = 0;  // of an element
    Xbyak::Reg64 reg{};
    bool moves() const { return own != 0 && own != 1; }
  };

  void block(const Block& block);
  void loop(const Loop& loop);
  void branch(const Branch& branch);
  void instruction(const Instr& instr);
  void call(const Instr& instr);
  void row_slot(const Instr& instr);
  void fma(const Instr& instr);
  void index_expr(const PrimExpr& expr, const IndexExpr& whole, uint32_t depth);
  void index_division(bool quotient);
  void make_pointers(const Loop& loop);
  Pointer pointer_for(const Position& position, Slot own) const;
  const Pointer* pointer_of(const Pointer& wanted) const;
  Xbyak::Address slot_address(Slot slot) const;
  size_t pool_offset(std::span<const uint8_t> bytes);

  int registers_, scratch_;
  size_t vector_bytes_;
  bool broadcasts_;
  const Function* function_ = nullptr;
  Places places_;
  size_t spills_ = 0, areas_ = 0;
  const Loop* innermost_ = nullptr;
  const Loop* tail_ = nullptr;
  std::vector<Pointer> pointers_;
  std::map<Fault, Xbyak::Label> faults_;
  bool checks_indices_ = false;
  Xbyak::Label pool_;
  std::vector<uint8_t> pool_bytes_;
  std::map<std::vector<uint8_t>, size_t> pool_known_;
};

}  // namespace ingot::jit
