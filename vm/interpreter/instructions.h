#pragma once
#include <cstdint>
#include <span>

#include "runtime/object/objects.h"
#include "vm/interpreter/machine.h"
#include "vm/isa/isa.h"

// What the run loop leaves to functions: everything that allocates, may fail, or is long. All of them throw before they
// change a register, so that a fault finds the registers as they were before the instruction.
namespace ingot::vm {

// calls.cpp
// Polls, and throws ResourceExhausted where the callee's registers from `registers` on do not fit.
void enter_slowly(Machine& m, const LinkedFunction& callee, const Slot* registers);
void pop_activation(Machine& m, Frame& frame) noexcept;
// Lays the captures of a closure behind the `count` arguments, consumes the closure and gives its function, with room
// for its registers. For a tail call: in the place of the top frame.
const LinkedFunction* enter_closure(Machine& m, const Slot& closure, Slot* args, uint32_t count, bool tail);
// The result of a PackedFunc, owned. call_import only reads the arguments, call_packed_value consumes them and
// `callee`.
Slot call_import(Machine& m, uint32_t import, const Slot* registers, std::span<const Register> args);
Slot call_packed_value(Machine& m, const Slot& callee, const Slot* args, uint32_t count, bool tail);

// controls.cpp
void poll(Machine& m);
// Comes before each instruction of a run with a profile.
void note_instruction(Machine& m, const Frame& frame, const CodeUnit* pc);
[[noreturn]] void fail_budget(Machine& m);
[[noreturn]] void fail_explicitly(Machine& m, int32_t code, uint32_t constant);

// objects.cpp
void own(Machine& m, Slot& dst, const Slot& src);
Slot load_import(Machine& m, uint32_t import);
Slot make_tuple_of(Machine& m, const Slot* registers, std::span<const Register> fields);
// Takes both. A tuple that nothing else holds grows in the room that its block has.
Slot append_to(Machine& m, const Slot& sequence, const Slot& value);
Slot make_closure_of(Machine& m, uint32_t function, const Slot* registers, std::span<const Register> captures);
Slot make_shape_of(Machine& m, const Slot* registers, std::span<const Register> dims);
[[noreturn]] void fail_scalar_field(const Slot& tuple, int32_t index, DType dtype);
int64_t get_dim(const Slot& value, int32_t index);
int64_t eval_dim(const CompiledExpr& expr, const Slot* registers, std::span<const Register> vars);
Slot scalar_to_prim(const Slot& scalar);

// checks.cpp
void check_params(Machine& m, const Frame& frame, uint32_t check, Slot* registers, std::span<const Register> vars);
void check_value(const LinkedFunction& function, const Slot& value, uint32_t check, Slot* registers,
                 std::span<const Register> vars);

// tensors.cpp
void take_plan(Machine& m, Frame& frame, const Slot* registers, std::span<const Register> dims);
Slot alloc_tensor(const Frame& frame, uint32_t site);
Slot alloc_view(const Frame& frame, const Slot& of, uint32_t site);
Slot new_tensor(Machine& m, const Frame& frame, uint32_t site);
Slot new_tensor_dyn(Machine& m, DType dtype, const Slot* registers, std::span<const Register> dims);
Slot new_view(Machine& m, const Slot& of, const Slot* registers, std::span<const Register> dims);

// kernel_calls.cpp
void call_kernel(Machine& m, const Frame& frame, uint32_t site, Slot* registers, std::span<const Register> operands);

// builtins.cpp
Slot call_builtin(Machine& m, uint16_t builtin, const Slot* registers, std::span<const Register> args);

// Null where the tuple has no such field.
inline const Slot* find_field(const Slot& tuple_slot, int32_t index) {
  const auto& tuple = *static_cast<const TupleObject*>(tuple_slot.object);
  return static_cast<uint32_t>(index) < tuple.size ? tuple.fields().data() + index : nullptr;
}

// Slots without the costs of their constructors.
constexpr uint64_t slot_head(Kind kind, DType dtype) {
  return static_cast<uint64_t>(kind) | static_cast<uint64_t>(dtype) << 8;
}
inline void put(Slot& dst, uint64_t head, uint64_t bits) {
  std::memcpy(static_cast<void*>(&dst), &head, sizeof head);
  dst.bits = bits;
}
inline constexpr uint64_t kBorrowedHead = uint64_t{Slot::kBorrowed} << 16;

// Copies a register that was written just now, with some bits of the head cleared or set. One load of 16 bytes would
// have to wait until the two stores of 8 that `put` made have left the processor's store buffer: ten times as long. The
// empty asm keeps the compiler from joining the halves.
inline void copy_slot(Slot& dst, const Slot& src, uint64_t clear = 0, uint64_t set = 0) {
  uint64_t head = 0;
  std::memcpy(&head, &src, sizeof head);
  uint64_t bits = src.bits;
  asm("" : "+r"(head), "+r"(bits));
  put(dst, (head & ~clear) | set, bits);
}
template <typename T>
uint64_t payload_bits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <>
inline uint64_t payload_bits<bool>(bool value) {
  return value ? 1 : 0;
}

uint64_t cast_scalar(const Slot& scalar, DType to);

// The payload of a scalar of `dtype` with this value, by the rules of cast.
inline uint64_t integer_bits(DType dtype, int32_t value) {
  if (is_integer(dtype)) {
    const size_t unused = 64 - 8 * dtype_bytes(dtype);
    return static_cast<uint64_t>(int64_t{value}) << unused >> unused;
  }
  return cast_scalar(Slot::immediate(Kind::Scalar, DType::Int32, value), dtype);
}

}  // namespace ingot::vm
