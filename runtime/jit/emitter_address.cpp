#include <algorithm>

#include "runtime/base/checked.h"
#include "runtime/jit/emitter.h"

namespace ingot::jit {

using namespace Xbyak;

namespace {

// rax, rcx and rdx are for instructions, r14 is the index of the innermost loop, r15 the frame.
const Reg64 kPointers[] = {util::rbx, util::rbp, util::rsi, util::rdi, util::r8,
                           util::r9,  util::r10, util::r11, util::r12, util::r13};

int64_t element_bytes(const Instr& instr) { return static_cast<int64_t>(dtype_bytes(instr.dtype)); }

void for_each_instr(const Block& block, const std::function<void(const Instr&)>& visit) {
  for (const Item& item : block) {
    if (const auto* instr = std::get_if<Instr>(&item)) visit(*instr);
    if (const auto* loop = std::get_if<Loop*>(&item)) for_each_instr((*loop)->body, visit);
    if (const auto* branch = std::get_if<Branch*>(&item)) {
      for_each_instr((*branch)->then_block, visit);
      for_each_instr((*branch)->else_block, visit);
    }
  }
}

bool has_address(const Instr& instr) {
  return instr.op == Op::Load || instr.op == Op::Store || instr.op == Op::Gather || instr.op == Op::Scatter ||
         instr.op == Op::Prefetch;
}

}  // namespace

Emitter::Pointer Emitter::pointer_for(const Position& at, Slot own) const {
  Pointer pointer{at.buffer, 0, {}, at.base};
  for (const auto& part : at.parts) {
    if (part.slot == own) {
      pointer.own = part.coefficient;
    } else {
      pointer.outer.push_back(part);
    }
  }
  return pointer;
}

const Emitter::Pointer* Emitter::pointer_of(const Pointer& wanted) const {
  for (const Pointer& pointer : pointers_)
    if (pointer.buffer == wanted.buffer && pointer.own == wanted.own && pointer.outer == wanted.outer &&
        fits_int32((wanted.base - pointer.base) * 8))
      return &pointer;
  return nullptr;
}

// One register for each way through a buffer. It holds the address at index 0 where the index can be scaled, else that
// of the current iteration.
void Emitter::make_pointers(const Loop& loop) {
  std::vector<Slot> inside;
  for_each_instr(loop.body, [&](const Instr& instr) {
    if (instr.op == Op::EvalSlot || instr.op == Op::SetSlot) inside.push_back(instr.ref);
  });
  for_each_instr(loop.body, [&](const Instr& instr) {
    if (!has_address(instr) || pointers_.size() == std::size(kPointers)) return;
    const Position& at = position(instr);
    for (const auto& part : at.parts)
      if (std::ranges::find(inside, part.slot) != inside.end()) return;
    Pointer pointer = pointer_for(at, loop.slot);
    pointer.bytes = element_bytes(instr);
    const auto advance = checked_mul(pointer.own, pointer.bytes * loop.step);
    if (pointer_of(pointer) != nullptr || !advance || !fits_int32(*advance)) return;
    Position start{at.buffer, at.base, 0, pointer.outer};
    if (pointer.moves()) start.parts.push_back({loop.slot, pointer.own});
    position_to_rax(start);
    pointer.reg = kPointers[pointers_.size()];
    mov(pointer.reg, ptr[frame_ + offsetof(Frame, buffers)]);
    mov(pointer.reg, ptr[pointer.reg + at.buffer * 8]);
    lea(pointer.reg, ptr[pointer.reg + rax * static_cast<int>(pointer.bytes)]);
    pointers_.push_back(std::move(pointer));
  });
}

RegExp Emitter::address(const Instr& instr) {
  const Position& at = position(instr);
  const int64_t bytes = element_bytes(instr);
  if (innermost_ != nullptr) {
    const Pointer wanted = pointer_for(at, innermost_->slot);
    if (const Pointer* pointer = pointer_of(wanted)) {
      const RegExp start = pointer->reg + static_cast<int>((at.base - pointer->base) * bytes);
      return wanted.own == 1 ? start + index_ * static_cast<int>(bytes) : start;
    }
  }
  position_to_rax(at);
  mov(rdx, ptr[frame_ + offsetof(Frame, buffers)]);
  mov(rdx, ptr[rdx + at.buffer * 8]);
  lea(rdx, ptr[rdx + rax * static_cast<int>(bytes)]);
  return RegExp(rdx);
}

void Emitter::position_to_rax(const Position& at) {
  mov(rax, at.base);
  for (const auto& part : at.parts) {
    load_slot(rdx, part.slot);
    if (part.coefficient != 1) {
      if (fits_int32(part.coefficient)) {
        imul(rdx, rdx, static_cast<int>(part.coefficient));
      } else {
        mov(rcx, part.coefficient);
        imul(rdx, rcx);
      }
    }
    add(rax, rdx);
  }
}

}  // namespace ingot::jit
