#include "runtime/jit/emitter.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/checked.h"

namespace ingot::jit {

using namespace Xbyak;

namespace {

const Reg64 kSaved[] = {util::rbx, util::rbp, util::r12, util::r13, util::r14, util::r15};
const Reg64 kClobbered[] = {util::rsi, util::rdi, util::r8, util::r9, util::r10, util::r11};
constexpr size_t kAreas = 4;

}  // namespace

size_t Emitter::emit(const Function& function) {
  function_ = &function;
  places_ = assign_places(function, registers_);
  faults_.clear();
  Label done;
  spills_ = (size_t{function.slots} * 8 + 63) / 64 * 64;
  areas_ = spills_ + static_cast<size_t>(places_.frame_places) * vector_bytes_;
  areas_ = (areas_ + 63) / 64 * 64;
  const size_t frame_bytes = areas_ + kAreas * 64;

  align(16);
  const size_t entry = getSize();
  for (const Reg64& reg : kSaved) push(reg);
  mov(rax, rsp);
  sub(rsp, static_cast<uint32_t>(frame_bytes + 64));
  and_(rsp, -64);
  mov(ptr[rsp + frame_bytes], rax);
  mov(frame_, rdi);
  block(function.body);
  jmp(done, T_NEAR);
  for (auto& [fault, label] : faults_) {
    L(label);
    mov(qword[frame_ + offsetof(Frame, fault)], static_cast<int>(fault));
    jmp(done, T_NEAR);
  }
  L(done);
  if (function.streams) sfence();
  vzeroupper();
  mov(rsp, ptr[rsp + frame_bytes]);
  for (size_t i = std::size(kSaved); i-- > 0;) pop(kSaved[i]);
  ret();
  return entry;
}

size_t Emitter::finish() {
  align(64);
  L(pool_);
  db(pool_bytes_.data(), pool_bytes_.size());
  return getSize();
}

// Structure.

void Emitter::block(const Block& items) {
  for (const Item& item : items) {
    if (const auto* instr = std::get_if<Instr>(&item)) {
      instruction(*instr);
    } else if (const auto* nested = std::get_if<Loop*>(&item)) {
      loop(**nested);
    } else {
      branch(*std::get<Branch*>(item));
    }
  }
}

void Emitter::branch(const Branch& branch) {
  Label otherwise, end;
  if (branch.above != 0) {
    any_above(branch);
  } else {
    lanes_to_eax(branch.condition, 1, false);
    test(eax, 1);
  }
  jz(otherwise, T_NEAR);
  block(branch.then_block);
  if (!branch.else_block.empty()) jmp(end, T_NEAR);
  L(otherwise);
  block(branch.else_block);
  L(end);
}

Address Emitter::slot_address(Slot slot) const { return qword[rsp + size_t{slot} * 8]; }

void Emitter::load_slot(const Reg64& to, Slot slot) {
  if (innermost_ != nullptr && innermost_->slot == slot) {
    mov(to, index_);
  } else {
    mov(to, slot_address(slot));
  }
}

void Emitter::loop(const Loop& loop) {
  Label top, end;
  const auto end_to_rax = [&] {
    if (loop.ranged) {
      mov(rax, ptr[frame_ + offsetof(Frame, end)]);
    } else if (loop.has_extent_slot) {
      mov(rax, slot_address(loop.extent_slot));
    } else {
      mov(rax, loop.extent);
    }
  };
  const bool fixed = !loop.ranged && !loop.has_extent_slot;
  if (!loop.resumes) {
    if (loop.ranged) {
      mov(rax, ptr[frame_ + offsetof(Frame, begin)]);
    } else {
      xor_(eax, eax);
    }
    if (loop.skips_first) add(rax, 1);
    mov(slot_address(loop.slot), rax);
  }
  // The index must stay below this.
  const int64_t slack = loop.whole_steps ? loop.step - 1 : 0;
  const bool known = fixed && !loop.resumes && loop.extent > slack + (loop.skips_first ? 1 : 0);
  if (!known) {
    end_to_rax();
    if (slack != 0) sub(rax, static_cast<uint32_t>(slack));
    cmp(slot_address(loop.slot), rax);
    jge(end, T_NEAR);
  }
  if (loop.innermost) {
    mov(index_, slot_address(loop.slot));
    make_pointers(loop);
    innermost_ = &loop;
  }
  const bool masked = loop.lanes > 1 && !loop.whole_steps;
  L(top);
  if (masked) {
    tail_ = &loop;
    end_to_rax();
    mov(rcx, rax);
    load_slot(rdx, loop.slot);
    sub(rcx, rdx);
    set_tail(loop);
  }
  block(loop.body);
  if (masked) tail_ = nullptr;
  for (const Pointer& pointer : pointers_)
    if (pointer.moves()) add(pointer.reg, static_cast<int>(pointer.own * pointer.bytes * loop.step));
  const int64_t limit = loop.extent - slack;
  if (loop.innermost) {
    add(index_, static_cast<uint32_t>(loop.step));
    if (fixed && fits_int32(limit)) {
      cmp(index_, static_cast<uint32_t>(limit));
    } else {
      end_to_rax();
      if (slack != 0) sub(rax, static_cast<uint32_t>(slack));
      cmp(index_, rax);
    }
    jl(top, T_NEAR);
    mov(slot_address(loop.slot), index_);
    pointers_.clear();
    innermost_ = nullptr;
  } else {
    mov(rdx, slot_address(loop.slot));
    add(rdx, static_cast<uint32_t>(loop.step));
    mov(slot_address(loop.slot), rdx);
    end_to_rax();
    if (slack != 0) sub(rax, static_cast<uint32_t>(slack));
    cmp(rdx, rax);
    jl(top, T_NEAR);
  }
  L(end);
}

Xbyak::Address Emitter::frame_place(Value value, size_t bytes) {
  const auto at = static_cast<uint32_t>(spills_ + static_cast<size_t>(places_.frame[value]) * vector_bytes_);
  return bytes > 32 ? zword[rsp + at] : bytes > 16 ? yword[rsp + at] : xword[rsp + at];
}

Xbyak::Address Emitter::area(int i, size_t bytes) const {
  const auto at = static_cast<uint32_t>(area_offset(i));
  return bytes > 32 ? zword[rsp + at] : bytes > 16 ? yword[rsp + at] : xword[rsp + at];
}

Emitter::Xmm Emitter::in_register(Value value, size_t bytes, int spare) {
  if (places_.registers[value] != Places::kNone) return reg(places_.registers[value], bytes);
  const Xmm to = scratch(spare, bytes);
  if (is_constant(value)) {
    load_constant(to, value);
  } else {
    vmovups(to, frame_place(value, bytes));
  }
  return to;
}

void Emitter::load_constant(const Xmm& to, Value value) {
  const ValueInfo& info = function_->values[value];
  if (info.bits == 0) {
    if (to.getIdx() < 16) vpxor(Xmm(to.getIdx()), Xmm(to.getIdx()), Xmm(to.getIdx()));
    if (to.getIdx() > 15) vpxord(Xmm(to.getIdx()), Xmm(to.getIdx()), Xmm(to.getIdx()));
  } else if (broadcasts_) {
    const uint64_t bits = info.bits;
    const auto width = static_cast<size_t>(info.width);
    const auto at = static_cast<int>(pool_offset({reinterpret_cast<const uint8_t*>(&bits), width}));
    if (info.width == Width::W64) {
      vpbroadcastq(to, qword[rip + pool_ + at]);
    } else {
      vpbroadcastd(to, dword[rip + pool_ + at]);
    }
  } else {
    vmovups(to, pool_word(info.bits, info.width));
  }
}

Emitter::Xmm Emitter::target(const Instr& instr, size_t bytes) const {
  if (places_.registers[instr.dst] != Places::kNone) return reg(places_.registers[instr.dst], bytes);
  return scratch(0, bytes);
}

void Emitter::keep(const Instr& instr, const Xmm& from) {
  if (places_.frame[instr.dst] != Places::kNone) vmovups(frame_place(instr.dst, from.getBit() / 8), from);
}

size_t Emitter::pool_offset(std::span<const uint8_t> bytes) {
  std::vector<uint8_t> key(bytes.begin(), bytes.end());
  if (const auto found = pool_known_.find(key); found != pool_known_.end()) return found->second;
  while (pool_bytes_.size() % bytes.size() != 0) pool_bytes_.push_back(0);
  const size_t at = pool_bytes_.size();
  pool_bytes_.insert(pool_bytes_.end(), key.begin(), key.end());
  pool_known_.emplace(std::move(key), at);
  return at;
}

Xbyak::Address Emitter::pool_word(uint64_t bits, Width width) {
  const auto size = static_cast<size_t>(width);
  std::array<uint8_t, 32> copies{};
  for (size_t at = 0; at < copies.size(); at += size) std::memcpy(copies.data() + at, &bits, size);
  const auto at = static_cast<int>(pool_offset({copies.data(), broadcasts_ ? size : copies.size()}));
  return broadcasts_ ? ptr_b[rip + pool_ + at] : ptr[rip + pool_ + at];
}

// Instructions.

void Emitter::instruction(const Instr& instr) {
  switch (instr.op) {
    case Op::Load:
    case Op::Gather: {
      const Xmm to = target(instr);
      load(instr, to, address(instr));
      return keep(instr, to);
    }
    case Op::Store:
    case Op::Scatter: {
      const RegExp at = address(instr);
      return store(instr, in_register(instr.a, bytes_of(instr), 0), at);
    }
    case Op::Prefetch:
      if (instr.imm == 0) prefetcht0(ptr[address(instr)]);
      if (instr.imm != 0) prefetcht1(ptr[address(instr)]);
      return;
    case Op::LoadScalar: {
      const Xmm to = target(instr);
      mov(rdx, ptr[frame_ + offsetof(Frame, scalars)]);
      mov(rdx, ptr[rdx + size_t{instr.ref} * 8]);
      load(instr, to, RegExp(rdx));
      return keep(instr, to);
    }
    case Op::Move: {
      const size_t bytes = bytes_of(instr);
      const Xmm to = target(instr);
      if (is_constant(instr.a)) {
        load_constant(to, instr.a);
      } else if (const Xmm from = in_register(instr.a, bytes, 0); from.getIdx() != to.getIdx()) {
        move(to, from);
      }
      return keep(instr, to);
    }
    case Op::SetSlot:
      vmovq(slot_address(instr.ref), in_register(instr.a, 16, 0));
      return;
    case Op::RowSlot:
      row_slot(instr);
      return;
    case Op::OuterSlot:
      mov(rdx, ptr[frame_ + offsetof(Frame, outer)]);
      mov(slot_address(instr.ref), rdx);
      return;
    case Op::DimSlot:
      mov(rdx, ptr[frame_ + offsetof(Frame, dims)]);
      mov(rdx, ptr[rdx + size_t{instr.index} * 8]);
      mov(slot_address(instr.ref), rdx);
      return;
    case Op::EvalSlot:
      index_expr(function_->exprs[instr.index].expr, function_->exprs[instr.index], 0);
      mov(slot_address(instr.ref), rax);
      return;
    case Op::CheckSlot: {
      Label skip;
      if (instr.mask != 0) {
        lanes_to_eax(instr.mask, instr.lanes, instr.tail);
        test(eax, eax);
        jz(skip, T_NEAR);
      }
      load_slot(rax, instr.ref);
      if (instr.imm != 0) {
        load_slot(rdx, instr.index);
      } else {
        mov(rdx, function_->bounds[instr.index]);
      }
      cmp(rax, rdx);
      jae(fault_label(Fault::IndexOutOfRange), T_NEAR);
      L(skip);
      return;
    }
    case Op::FaultIf:
      lanes_to_eax(instr.a, instr.lanes, instr.tail);
      test(eax, eax);
      jnz(fault_label(static_cast<Fault>(instr.imm)), T_NEAR);
      return;
    case Op::Call:
      return call(instr);
    case Op::FMadd:
    case Op::FNmadd:
      return fma(instr);
    default:
      return lanes_op(instr);
  }
}

void Emitter::row_slot(const Instr& instr) {
  const Loop& rows = *instr.rows;
  const auto last_to_rdx = [&] {
    if (rows.ranged) {
      mov(rdx, ptr[frame_ + offsetof(Frame, end)]);
    } else if (rows.has_extent_slot) {
      mov(rdx, slot_address(rows.extent_slot));
    } else {
      mov(rdx, rows.extent);
    }
    sub(rdx, 1);
  };
  switch (static_cast<Row>(instr.imm)) {
    case Row::First:
      if (rows.ranged) {
        mov(rax, ptr[frame_ + offsetof(Frame, begin)]);
      } else {
        xor_(eax, eax);
      }
      break;
    case Row::Next:
      load_slot(rax, instr.index);
      add(rax, 1);
      last_to_rdx();
      cmp(rax, rdx);
      cmovg(rax, rdx);
      break;
    case Row::Former:
      load_slot(rax, instr.index);
      sub(rax, 1);
      break;
    case Row::Last:
      last_to_rdx();
      mov(rax, rdx);
      break;
  }
  mov(slot_address(instr.ref), rax);
}

void Emitter::call(const Instr& instr) {
  const size_t bytes = bytes_of(instr);
  // A helper may read wider elements than it writes, or narrower ones: conversions.
  const auto bytes_of_value = [&](Value value) {
    const ValueInfo& info = function_->values[value];
    return info.constant ? size_t{64} : static_cast<size_t>(info.width) * instr.lanes;
  };
  const auto put = [&](Value value, int where) {
    if (value == 0) return;
    const size_t size = std::min(bytes_of_value(value), vector_bytes_);
    vmovups(area(where, size), in_register(value, size, 0));
  };
  Label skip;
  lanes_to_eax(instr.mask, instr.lanes, instr.tail && instr.imm != 0);
  if (instr.mask != 0) {
    test(eax, eax);
    jz(skip, T_NEAR);
  }
  put(instr.a, 0);
  put(instr.b, 1);
  const auto save = static_cast<uint32_t>(area_offset(3));
  for (size_t i = 0; i < std::size(kClobbered); ++i) mov(ptr[rsp + save + i * 8], kClobbered[i]);
  mov(ecx, eax);
  lea(rdi, ptr[rsp + area_offset(2)]);
  lea(rsi, ptr[rsp + area_offset(0)]);
  lea(rdx, ptr[rsp + area_offset(1)]);
  vzeroupper();
  mov(rax, reinterpret_cast<uint64_t>(function_->helpers[instr.ref]));
  Xbyak::CodeGenerator::call(rax);
  for (size_t i = 0; i < std::size(kClobbered); ++i) mov(kClobbered[i], ptr[rsp + save + i * 8]);
  if (instr.imm != 0) {
    test(eax, eax);
    jnz(fault_label(static_cast<Fault>(instr.imm)), T_NEAR);
  }
  if (tail_ != nullptr) {
    if (tail_->ranged) {
      mov(rcx, ptr[frame_ + offsetof(Frame, end)]);
    } else if (tail_->has_extent_slot) {
      mov(rcx, slot_address(tail_->extent_slot));
    } else {
      mov(rcx, tail_->extent);
    }
    load_slot(rdx, tail_->slot);
    sub(rcx, rdx);
    set_tail(*tail_);
  }
  L(skip);
  const Xmm to = target(instr);
  vmovups(to, area(2, bytes));
  keep(instr, to);
}

void Emitter::fma(const Instr& instr) {
  const size_t bytes = bytes_of(instr);
  Value factor = instr.a;
  Value other = instr.b;
  if (is_constant(factor)) std::swap(factor, other);
  const Xmm to = target(instr);
  const bool wide = instr.width == Width::W64;
  const bool negated = instr.op == Op::FNmadd;
  const Xmm a = in_register(factor, bytes, 1);
  const auto is_target = [&](Value value) {
    return places_.registers[value] != Places::kNone && places_.registers[value] == to.getIdx();
  };
  if (is_target(instr.c)) {
    with_operand(other, instr.width, bytes, 2, [&](const Operand& b) {
      if (negated) {
        wide ? vfnmadd231pd(to, a, b) : vfnmadd231ps(to, a, b);
      } else {
        wide ? vfmadd231pd(to, a, b) : vfmadd231ps(to, a, b);
      }
    });
  } else {
    if (is_target(other)) std::swap(factor, other);
    const Xmm first = in_register(factor, bytes, 1);
    if (first.getIdx() != to.getIdx()) move(to, first);
    if (is_constant(other) && places_.registers[instr.c] != Places::kNone) {
      const Xmm c = in_register(instr.c, bytes, kTemp);
      with_operand(other, instr.width, bytes, 2, [&](const Operand& b) {
        if (negated) {
          wide ? vfnmadd132pd(to, c, b) : vfnmadd132ps(to, c, b);
        } else {
          wide ? vfmadd132pd(to, c, b) : vfmadd132ps(to, c, b);
        }
      });
    } else {
      const Xmm second = in_register(other, bytes, 2);
      with_operand(instr.c, instr.width, bytes, kTemp, [&](const Operand& c) {
        if (negated) {
          wide ? vfnmadd213pd(to, second, c) : vfnmadd213ps(to, second, c);
        } else {
          wide ? vfmadd213pd(to, second, c) : vfmadd213ps(to, second, c);
        }
      });
    }
  }
  keep(instr, to);
}

}  // namespace ingot::jit
