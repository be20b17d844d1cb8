#include "runtime/jit/emitter.h"

// Elements that no vector instruction reaches, one by one.
namespace ingot::jit {

using namespace Xbyak;

void Emitter::load_scalar(DType dtype, const Xmm& to, const RegExp& at) {
  const Xmm x(to.getIdx());
  switch (dtype_bytes(dtype)) {
    case 8:
      vmovsd(x, qword[at]);
      return;
    case 4:
      vmovss(x, dword[at]);
      return;
    case 2:
      dtype == DType::Int16 ? movsx(eax, word[at]) : movzx(eax, word[at]);
      break;
    default:
      dtype == DType::Int8 ? movsx(eax, byte[at]) : movzx(eax, byte[at]);
  }
  vmovd(x, eax);
  convert_loaded(dtype, x);
}

void Emitter::lanes_from_memory(const Instr& instr, const RegExp& at, bool by_index) {
  const auto size = static_cast<int>(dtype_bytes(instr.dtype));
  const int64_t stride = by_index ? 0 : position(instr).lane_stride;
  lea(rdx, ptr[at]);
  for (int lane = 0; lane < instr.lanes; ++lane) {
    Label skip;
    const auto to = static_cast<uint32_t>(area_offset(2)) + static_cast<uint32_t>(lane) * (size == 8 ? 8u : 4u);
    mov(size == 8 ? qword[rsp + to] : dword[rsp + to], 0);
    test(eax, 1 << lane);
    jz(skip, T_NEAR);
    if (by_index) mov(rcx, ptr[rsp + area_offset(1) + static_cast<size_t>(lane) * 8]);
    const int64_t shift = stride * lane * size;
    if (!by_index) mov(rcx, shift);
    const RegExp from = by_index ? rdx + rcx * size : rdx + rcx;
    if (size == 8) {
      mov(rcx, ptr[from]);
      mov(ptr[rsp + to], rcx);
    } else {
      if (size == 4) {
        mov(ecx, ptr[from]);
      } else if (size == 2) {
        instr.dtype == DType::Int16 ? movsx(ecx, word[from]) : movzx(ecx, word[from]);
      } else {
        instr.dtype == DType::Int8 ? movsx(ecx, byte[from]) : movzx(ecx, byte[from]);
      }
      mov(ptr[rsp + to], ecx);
    }
    L(skip);
  }
}

void Emitter::lanes_to_memory(const Instr& instr, const RegExp& at, bool by_index) {
  const auto size = static_cast<int>(dtype_bytes(instr.dtype));
  const int64_t stride = by_index ? 0 : position(instr).lane_stride;
  lea(rdx, ptr[at]);
  for (int lane = 0; lane < instr.lanes; ++lane) {
    Label skip;
    test(eax, 1 << lane);
    jz(skip, T_NEAR);
    const auto from = static_cast<uint32_t>(area_offset(2)) + static_cast<uint32_t>(lane) * (size == 8 ? 8u : 4u);
    if (by_index) {
      mov(rcx, ptr[rsp + area_offset(1) + static_cast<size_t>(lane) * 8]);
      lea(rcx, ptr[rdx + rcx * size]);
    } else {
      mov(rcx, stride * lane * size);
      add(rcx, rdx);
    }
    push(rdx);
    if (size == 8) {
      mov(rdx, ptr[rsp + 8 + from]);
      mov(ptr[rcx], rdx);
    } else {
      mov(edx, ptr[rsp + 8 + from]);
      if (size == 4) {
        mov(ptr[rcx], edx);
      } else if (size == 2) {
        mov(ptr[rcx], dx);
      } else {
        mov(ptr[rcx], dl);
      }
    }
    pop(rdx);
    L(skip);
  }
}

}  // namespace ingot::jit
