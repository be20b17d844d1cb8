#include "runtime/jit/emitter_avx2.h"

namespace ingot::jit {

using namespace Xbyak;

namespace {

Xbyak::Xmm xmm_of(const Xbyak::Xmm& reg) { return Xbyak::Xmm(reg.getIdx()); }
Xbyak::Ymm ymm_of(const Xbyak::Xmm& reg) { return Xbyak::Ymm(reg.getIdx()); }

}  // namespace

void EmitterAvx2::set_tail(const Loop&) {
  const Ymm count(scratch(kTemp, 32).getIdx());
  vmovd(xmm_of(count), ecx);
  vpbroadcastd(count, xmm_of(count));
  vpcmpgtd(Ymm(kTail), count, pool_vector(std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

void EmitterAvx2::lanes_to_eax(Value value, int lanes, bool tail) {
  const int all = (1 << lanes) - 1;
  const size_t bytes = static_cast<size_t>(lanes) * 4;
  if (value == 0 && !tail) {
    mov(eax, all);
    return;
  }
  Xmm mask = reg(kTail, bytes);
  if (value != 0) {
    mask = in_register(value, bytes, 1);
    if (tail) {
      vandps(scratch(kTemp, bytes), mask, reg(kTail, bytes));
      mask = scratch(kTemp, bytes);
    }
  }
  vmovmskps(eax, mask);
  if (lanes < 8) and_(eax, all);
}

void EmitterAvx2::any_above(const Branch& branch) {
  const size_t bytes = size_t{branch.lanes} * 4;
  const Xmm value = in_register(branch.condition, bytes, 1), mask = scratch(kTemp, bytes);
  with_operand(branch.above, Width::W32, bytes, 2, [&](const auto& limit) { vcmpps(mask, value, limit, 0x1e); });
  vmovmskps(eax, mask);
  test(eax, eax);
}

Emitter::Xmm EmitterAvx2::mask_of(const Instr& instr) {
  const size_t bytes = static_cast<size_t>(instr.lanes) * 4;
  Xmm mask = reg(kTail, bytes);
  if (instr.mask != 0) {
    mask = in_register(instr.mask, bytes, 2);
    if (instr.tail) {
      vandps(scratch(kTemp, bytes), mask, reg(kTail, bytes));
      mask = scratch(kTemp, bytes);
    }
  }
  if (dtype_bytes(instr.dtype) != 8) return mask;
  const Xmm wide = scratch(kTemp, bytes * 2);
  vpmovsxdq(wide, xmm_of(mask));
  return wide;
}

void EmitterAvx2::convert_loaded(DType dtype, const Xmm& to) {
  const Xmm temp = scratch(kTemp, to.getBit() / 8u);
  if (dtype == DType::Bool) {
    vpxor(temp, temp, temp);
    vpcmpgtd(to, to, temp);
  } else if (dtype == DType::BFloat16) {
    vpslld(to, to, 16);
  } else if (dtype == DType::Float16) {
    vpackusdw(temp, to, to);
    if (to.isYMM()) vpermq(ymm_of(temp), ymm_of(temp), 0x08);
    vcvtph2ps(to, xmm_of(temp));
  }
}

Emitter::Xmm EmitterAvx2::converted(DType dtype, const Xmm& from) {
  const Xmm to = scratch(kTemp, from.getBit() / 8u);
  if (dtype == DType::Bool) {
    vpsrld(to, from, 31);
  } else if (dtype == DType::BFloat16) {
    vpsrld(to, from, 16);
  } else if (dtype == DType::Float16) {
    vcvtps2ph(xmm_of(to), from, 0);
    vpmovzxwd(to, xmm_of(to));
  } else {
    return from;
  }
  return to;
}

void EmitterAvx2::load_vector(const Instr& instr, const Xmm& to, const RegExp& at) {
  const size_t size = dtype_bytes(instr.dtype);
  if (instr.tail || instr.mask != 0) {
    if (size < 4) return load_lanes(instr, to, at);
    const Xmm mask = mask_of(instr);
    size == 8 ? vmaskmovpd(to, mask, ptr[at]) : vmaskmovps(to, mask, ptr[at]);
    return;
  }
  switch (instr.dtype) {
    case DType::Int8:
      vpmovsxbd(to, ptr[at]);
      return;
    case DType::UInt8:
    case DType::Bool:
      vpmovzxbd(to, ptr[at]);
      return convert_loaded(instr.dtype, to);
    case DType::Int16:
      vpmovsxwd(to, ptr[at]);
      return;
    case DType::UInt16:
    case DType::BFloat16:
      vpmovzxwd(to, ptr[at]);
      return convert_loaded(instr.dtype, to);
    case DType::Float16:
      vcvtph2ps(to, ptr[at]);
      return;
    default:
      vmovups(to, ptr[at]);
  }
}

void EmitterAvx2::load_lanes(const Instr& instr, const Xmm& to, const RegExp& at) {
  const bool by_index = instr.op == Op::Gather;
  lea(rdx, ptr[at]);
  if (by_index) vmovups(area(1, 32), in_register(instr.a, 32, 1));
  lanes_to_eax(instr.mask, instr.lanes, instr.tail);
  lanes_from_memory(instr, RegExp(rdx), by_index);
  vmovups(to, area(2, to.getBit() / 8u));
  convert_loaded(instr.dtype, to);
}

void EmitterAvx2::load(const Instr& instr, const Xmm& to, const RegExp& at) {
  if (instr.op == Op::Gather) return load_lanes(instr, to, at);
  if (instr.lanes == 1) return load_scalar(instr.dtype, to, at);
  const int64_t stride = instr.op == Op::LoadScalar ? 0 : position(instr).lane_stride;
  if (stride == 1) return load_vector(instr, to, at);
  if (stride != 0) return load_lanes(instr, to, at);
  Label none;
  if (instr.mask != 0) {
    lea(rdx, ptr[at]);
    lanes_to_eax(instr.mask, instr.lanes, instr.tail);
    test(eax, eax);
    jz(none, T_NEAR);
  }
  const RegExp from = instr.mask != 0 ? RegExp(rdx) : at;
  if (dtype_bytes(instr.dtype) == 8) {
    vpbroadcastq(to, qword[from]);
  } else if (dtype_bytes(instr.dtype) == 4) {
    vbroadcastss(to, dword[from]);
  } else {
    load_scalar(instr.dtype, to, from);
    vpbroadcastd(to, xmm_of(to));
  }
  L(none);
}

void EmitterAvx2::store_scalar(DType dtype, const Xmm& from, const RegExp& at) {
  const size_t size = dtype_bytes(dtype);
  const Xmm raw = size < 4 ? converted(dtype, xmm_of(from)) : xmm_of(from);
  if (size == 8) {
    vmovsd(qword[at], raw);
  } else if (size == 4) {
    vmovss(dword[at], raw);
  } else {
    vmovd(eax, raw);
    size == 2 ? mov(word[at], ax) : mov(byte[at], al);
  }
}

void EmitterAvx2::store_vector(const Instr& instr, const Xmm& from, const RegExp& at) {
  const size_t size = dtype_bytes(instr.dtype);
  if (instr.tail || instr.mask != 0) {
    if (size < 4) return store_lanes(instr, from, at);
    const Xmm mask = mask_of(instr);
    size == 8 ? vmaskmovpd(ptr[at], mask, from) : vmaskmovps(ptr[at], mask, from);
    return;
  }
  if (size >= 4) {
    instr.stream ? vmovntps(ptr[at], from) : vmovups(ptr[at], from);
    return;
  }
  if (instr.dtype == DType::Float16) {
    vcvtps2ph(ptr[at], from, 0);
    return;
  }
  const Xmm raw = scratch(kTemp, from.getBit() / 8u);
  if (instr.dtype == DType::Bool || instr.dtype == DType::BFloat16) {
    vpsrld(raw, from, instr.dtype == DType::Bool ? 31 : 16);
  } else {
    vandps(raw, from, pool_word(size == 2 ? 0xffffu : 0xffu, Width::W32));
  }
  vpackusdw(raw, raw, raw);
  if (raw.isYMM()) vpermq(ymm_of(raw), ymm_of(raw), 0x08);
  const Xmm x = xmm_of(raw);
  if (size == 1) vpackuswb(x, x, x);
  const int bytes = static_cast<int>(size) * instr.lanes;
  if (bytes == 16) {
    vmovdqu(ptr[at], x);
  } else if (bytes == 8) {
    vmovq(qword[at], x);
  } else {
    vmovd(dword[at], x);
  }
}

void EmitterAvx2::store_lanes(const Instr& instr, const Xmm& from, const RegExp& at) {
  const bool by_index = instr.op == Op::Scatter;
  lea(rdx, ptr[at]);
  const Xmm raw = converted(instr.dtype, from);
  vmovups(area(2, raw.getBit() / 8u), raw);
  if (by_index) vmovups(area(1, 32), in_register(instr.b, 32, 1));
  lanes_to_eax(instr.mask, instr.lanes, instr.tail);
  lanes_to_memory(instr, RegExp(rdx), by_index);
}

void EmitterAvx2::store(const Instr& instr, const Xmm& from, const RegExp& at) {
  if (instr.lanes == 1) return store_scalar(instr.dtype, from, at);
  const bool together = instr.op == Op::Store && position(instr).lane_stride == 1;
  together ? store_vector(instr, from, at) : store_lanes(instr, from, at);
}

void EmitterAvx2::narrow(const Xmm& to, const Xmm& from, int lanes) {
  if (lanes == 1) {
    vmovaps(xmm_of(to), xmm_of(from));
    return;
  }
  const Xmm upper = scratch(2, 16);
  vextracti128(upper, ymm_of(from), 1);
  vshufps(xmm_of(to), xmm_of(from), upper, 0x88);
}

void EmitterAvx2::compare(const Instr& instr) {
  const size_t bytes = bytes_of(instr);
  const bool wide = instr.width == Width::W64;
  const auto how = static_cast<Compare>(instr.imm);
  Xmm a = in_register(instr.a, bytes, 1);
  Xmm b = in_register(instr.b, bytes, 2);
  const Xmm result = scratch(kTemp, bytes);
  if (instr.op == Op::CmpF) {
    wide ? vcmppd(result, a, b, instr.imm) : vcmpps(result, a, b, instr.imm);
  } else {
    if (instr.op == Op::CmpU) {
      const auto sign = pool_word(wide ? uint64_t{1} << 63 : 0x80000000u, instr.width);
      const Xmm x = scratch(1, bytes), y = scratch(2, bytes);
      vxorps(x, a, sign);
      vxorps(y, b, sign);
      a = x;
      b = y;
    }
    const bool equality = how == Compare::Equal || how == Compare::NotEqual;
    if (equality) {
      wide ? vpcmpeqq(result, a, b) : vpcmpeqd(result, a, b);
    } else if (how == Compare::Less) {
      wide ? vpcmpgtq(result, b, a) : vpcmpgtd(result, b, a);
    } else {
      wide ? vpcmpgtq(result, a, b) : vpcmpgtd(result, a, b);
    }
    if (how == Compare::NotEqual || how == Compare::LessEqual)
      vxorps(result, result, pool_word(0xffffffffu, Width::W32));
  }
  const Xmm to = target(instr, static_cast<size_t>(instr.lanes) * 4);
  if (wide) {
    narrow(to, result, instr.lanes);
  } else {
    vmovaps(to, result);
  }
  keep(instr, to);
}

void EmitterAvx2::min_max_nan(const Instr& instr) {
  const size_t bytes = bytes_of(instr);
  const bool wide = instr.width == Width::W64;
  const bool least = instr.op == Op::FMinNan;
  const Xmm to = target(instr);
  const Xmm b = in_register(instr.b, bytes, 2);
  const Xmm result = scratch(kTemp, bytes);
  const Xmm a = in_register(instr.a, bytes, 1);
  if (least) {
    wide ? vminpd(result, b, a) : vminps(result, b, a);
  } else {
    wide ? vmaxpd(result, b, a) : vmaxps(result, b, a);
  }
  // Both instructions give `a` where one is NaN.
  const Xmm unordered = scratch(1, bytes);
  wide ? vcmppd(unordered, b, b, 3) : vcmpps(unordered, b, b, 3);
  wide ? vblendvpd(to, result, b, unordered) : vblendvps(to, result, b, unordered);
  keep(instr, to);
}

// 2 to the power of n as the product of two powers that are normal numbers.
void EmitterAvx2::scale(const Instr& instr) {
  const size_t bytes = bytes_of(instr);
  const Xmm a = in_register(instr.a, bytes, 1);
  const Xmm first = scratch(kTemp, bytes), second = scratch(2, bytes);
  vcvtps2dq(first, in_register(instr.b, bytes, kTemp));
  vpsrad(second, first, 1);
  vpsubd(first, first, second);
  for (const Xmm& power : {first, second}) {
    vpaddd(power, power, pool_word(127, Width::W32));
    vpslld(power, power, 23);
  }
  const Xmm to = target(instr);
  vmulps(to, a, first);
  vmulps(to, to, second);
  keep(instr, to);
}

void EmitterAvx2::lookup(const Instr& instr) {
  const Ymm to = ymm_of(target(instr, 32));
  const Ymm index = ymm_of(in_register(instr.a, bytes_of(instr), 1));
  const auto look_up = [&](const Ymm& result, Value row) {
    with_operand(row, Width::W32, 32, 2, [&](const auto& entries) { vpermps(result, index, entries); });
  };
  if (instr.c == 0) {
    look_up(to, instr.b);
  } else {
    const Ymm upper_half = ymm_of(scratch(kTemp, 32)), low = ymm_of(scratch(2, 32));
    vpslld(upper_half, index, 28);
    look_up(low, instr.b);
    look_up(to, instr.c);
    vblendvps(to, low, to, upper_half);
  }
  keep(instr, reg(to.getIdx(), bytes_of(instr)));
}

void EmitterAvx2::special(const Instr& instr) {
  const size_t bytes = bytes_of(instr);
  const bool wide = instr.width == Width::W64;
  const auto binary = [&](auto emit_op) {
    if (wide) throw Refusal{};
    const Xmm to = target(instr);
    const Xmm a = in_register(instr.a, bytes, 1);
    with_operand(instr.b, instr.width, bytes, 2, [&](const auto& b) { emit_op(to, a, b); });
    keep(instr, to);
  };
  const Xmm to = instr.dst != 0 ? target(instr) : scratch(0, bytes);
  switch (instr.op) {
    case Op::FMinNan:
    case Op::FMaxNan:
      return min_max_nan(instr);
    case Op::CmpF:
    case Op::CmpI:
    case Op::CmpU:
      return compare(instr);
    case Op::Lookup:
      return lookup(instr);
    case Op::Scale:
      return scale(instr);
    case Op::IMul:
      return binary([&](auto& d, auto& a, auto& b) { vpmulld(d, a, b); });
    case Op::IMin:
      return binary([&](auto& d, auto& a, auto& b) { vpminsd(d, a, b); });
    case Op::IMax:
      return binary([&](auto& d, auto& a, auto& b) { vpmaxsd(d, a, b); });
    case Op::UMin:
      return binary([&](auto& d, auto& a, auto& b) { vpminud(d, a, b); });
    case Op::UMax:
      return binary([&](auto& d, auto& a, auto& b) { vpmaxud(d, a, b); });
    case Op::SarV:
      return binary([&](auto& d, auto& a, auto& b) { vpsravd(d, a, b); });
    case Op::FRound: {
      const Xmm a = in_register(instr.a, bytes, 1);
      const auto mode = static_cast<uint8_t>(instr.imm | 8);
      wide ? vroundpd(to, a, mode) : vroundps(to, a, mode);
      return keep(instr, to);
    }
    case Op::Sar:
      if (wide) throw Refusal{};
      vpsrad(to, in_register(instr.a, bytes, 1), instr.imm);
      return keep(instr, to);
    case Op::Blend: {
      Xmm mask = in_register(instr.a, static_cast<size_t>(instr.lanes) * 4, 1);
      const Xmm otherwise = in_register(instr.c, bytes, 2);
      if (wide) {
        vpmovsxdq(scratch(1, bytes), xmm_of(mask));
        mask = scratch(1, bytes);
      }
      const Xmm chosen = in_register(instr.b, bytes, kTemp);
      wide ? vblendvpd(to, otherwise, chosen, mask) : vblendvps(to, otherwise, chosen, mask);
      return keep(instr, to);
    }
    case Op::I64ToI32:
      narrow(to, in_register(instr.a, bytes * 2, 1), instr.lanes);
      return keep(instr, to);
    case Op::RoundF16: {
      const Xmm half = scratch(kTemp, 16);
      vcvtps2ph(half, in_register(instr.a, bytes, 1), 0);
      vcvtph2ps(to, half);
      return keep(instr, to);
    }
    case Op::Swap: {
      const Xmm a = in_register(instr.a, bytes, 1);
      if (instr.imm == 16) {
        vpermq(ymm_of(to), ymm_of(a), 0x4e);
      } else {
        vpshufd(to, a, instr.imm == 8 ? 0x4e : 0xb1);
      }
      return keep(instr, to);
    }
    case Op::Lanes: {
      const Position& at = position(instr);
      position_to_rax(at);
      vmovq(xmm_of(to), rax);
      if (instr.lanes > 1) {
        vpbroadcastq(to, xmm_of(to));
        const int64_t s = at.lane_stride;
        if (s != 0) vpaddq(to, to, pool_vector(std::vector<int64_t>{0, s, 2 * s, 3 * s}));
      }
      return keep(instr, to);
    }
    case Op::TailMask:
      vmovaps(to, reg(kTail, bytes));
      return keep(instr, to);
    default:
      throw Refusal{};
  }
}

}  // namespace ingot::jit
