#include "runtime/jit/emitter_avx512.h"

namespace ingot::jit {

using namespace Xbyak;
using util::k1;
using util::k2;
using util::k3;
using util::k4;

namespace {

const Opmask kAll = util::k0;

bool is_all(const Opmask& mask) { return mask.getIdx() == 0; }

Xbyak::Xmm xmm_of(const Xbyak::Xmm& reg) { return Xbyak::Xmm(reg.getIdx()); }

template <typename T>
std::vector<T> steps(size_t count, int64_t stride) {
  std::vector<T> result;
  for (size_t i = 0; i < count; ++i) result.push_back(static_cast<T>(static_cast<int64_t>(i) * stride));
  return result;
}

}  // namespace

void EmitterAvx512::set_tail(const Loop&) {
  mov(eax, -1);
  bzhi(eax, eax, ecx);
  kmovd(k1, eax);
}

void EmitterAvx512::lanes_to_eax(Value value, int lanes, bool tail) {
  if (value == 0) {
    if (tail) {
      kmovd(eax, k1);
    } else {
      mov(eax, lanes >= 32 ? -1 : (1 << lanes) - 1);
    }
  } else {
    const Xmm mask = in_register(value, static_cast<size_t>(lanes) * 4, 1);
    vpmovd2m(k2, mask);
    if (tail) kandd(k2, k2, k1);
    kmovd(eax, k2);
    if (lanes < 4) and_(eax, (1 << lanes) - 1);
    return;
  }
  if (tail && lanes < 32) and_(eax, (1 << lanes) - 1);
}

void EmitterAvx512::any_above(const Branch& branch) {
  const size_t bytes = size_t{branch.lanes} * 4;
  const Xmm value = in_register(branch.condition, bytes, 1);
  with_operand(branch.above, Width::W32, bytes, 2, [&](const auto& limit) { vcmpps(k2, value, limit, 0x1e); });
  kortestw(k2, k2);
}

Opmask EmitterAvx512::mask_of(const Instr& instr) {
  if (instr.lanes == 1) return kAll;
  if (instr.mask == 0) return instr.tail ? k1 : kAll;
  vpmovd2m(k2, in_register(instr.mask, static_cast<size_t>(instr.lanes) * 4, 2));
  if (instr.tail) kandw(k2, k2, k1);
  return k2;
}

void EmitterAvx512::convert_loaded(DType dtype, const Xmm& to) {
  if (dtype == DType::Bool) {
    vptestmd(k3, to, to);
    vpmovm2d(to, k3);
  } else if (dtype == DType::BFloat16) {
    vpslld(to, to, 16);
  } else if (dtype == DType::Float16) {
    const Ymm half(to.getIdx());
    if (to.isZMM()) {
      vpmovdw(half, to);
      vcvtph2ps(to, half);
    } else {
      vpmovdw(xmm_of(to), to);
      vcvtph2ps(to, xmm_of(to));
    }
  }
}

void EmitterAvx512::load_vector(DType dtype, const Xmm& to, const RegExp& at, const Opmask& mask) {
  const auto with_mask = [&](auto emit_load) {
    if (is_all(mask)) {
      emit_load(to);
    } else {
      emit_load(to | mask | T_z);
    }
  };
  switch (dtype) {
    case DType::Int8:
      return with_mask([&](auto d) { vpmovsxbd(d, ptr[at]); });
    case DType::UInt8:
    case DType::Bool:
      with_mask([&](auto d) { vpmovzxbd(d, ptr[at]); });
      if (dtype == DType::Bool) convert_loaded(dtype, to);
      return;
    case DType::Int16:
      return with_mask([&](auto d) { vpmovsxwd(d, ptr[at]); });
    case DType::UInt16:
      return with_mask([&](auto d) { vpmovzxwd(d, ptr[at]); });
    case DType::BFloat16:
      with_mask([&](auto d) { vpmovzxwd(d, ptr[at]); });
      return vpslld(to, to, 16);
    case DType::Float16:
      return with_mask([&](auto d) { vcvtph2ps(d, ptr[at]); });
    default:
      if (dtype_bytes(dtype) == 8) return with_mask([&](auto d) { vmovupd(d, ptr[at]); });
      return with_mask([&](auto d) { vmovups(d, ptr[at]); });
  }
}

// By the strides of the position, or by the int64 lanes of `a`.
void EmitterAvx512::load_gathered(const Instr& instr, const Xmm& to, const RegExp& at) {
  const size_t size = dtype_bytes(instr.dtype);
  const bool by_index = instr.op == Op::Gather;
  const Opmask mask = mask_of(instr);
  const size_t index_bytes = by_index ? 64 : static_cast<size_t>(instr.lanes) * 4;
  const int64_t stride = position(instr).lane_stride;
  if (!by_index && stride * instr.lanes != static_cast<int32_t>(stride * instr.lanes)) throw Refusal{};
  const Xmm index = by_index ? in_register(instr.a, index_bytes, 1) : scratch(kTemp, index_bytes);
  if (size < 4) {
    if (by_index) vmovups(area(1, 64), index);
    if (is_all(mask)) {
      mov(eax, (1 << instr.lanes) - 1);
    } else {
      kmovd(eax, mask);
    }
    lanes_from_memory(instr, at, by_index);
    vmovups(to, area(2, to.getBit() / 8u));
    return convert_loaded(instr.dtype, to);
  }
  if (!by_index) vmovups(index, pool_vector(steps<int32_t>(instr.lanes, stride)));
  if (is_all(mask)) {
    kxnorw(k3, k3, k3);
  } else {
    kmovw(k3, mask);
  }
  const Xmm result = scratch(0, to.getBit() / 8u);
  vpxord(result, result, result);
  lea(rdx, ptr[at]);
  const RegExp from = rdx + index * static_cast<int>(size);
  if (size == 8) {
    by_index ? vgatherqpd(result | k3, ptr[from]) : vgatherdpd(result | k3, ptr[from]);
  } else {
    by_index ? vgatherqps(result | k3, ptr[from]) : vgatherdps(result | k3, ptr[from]);
  }
  vmovaps(to, result);
}

void EmitterAvx512::load(const Instr& instr, const Xmm& to, const RegExp& at) {
  if (instr.op == Op::Gather) return load_gathered(instr, to, at);
  if (instr.lanes == 1) return load_scalar(instr.dtype, to, at);
  const int64_t stride = instr.op == Op::LoadScalar ? 0 : position(instr).lane_stride;
  if (stride == 1) return load_vector(instr.dtype, to, at, mask_of(instr));
  if (stride != 0) return load_gathered(instr, to, at);
  Label none;
  if (instr.mask != 0) {
    const Opmask mask = mask_of(instr);
    kortestw(mask, mask);
    jz(none, T_NEAR);
  }
  if (dtype_bytes(instr.dtype) == 8) {
    vpbroadcastq(to, qword[at]);
  } else if (dtype_bytes(instr.dtype) == 4) {
    vbroadcastss(to, dword[at]);
  } else {
    load_scalar(instr.dtype, to, at);
    vpbroadcastd(to, xmm_of(to));
  }
  L(none);
}

void EmitterAvx512::store_scalar(DType dtype, const Xmm& from, const RegExp& at) {
  const Xmm x = xmm_of(from);
  switch (dtype) {
    case DType::Float16:
      vcvtps2ph(scratch(kTemp, 16), x, 0);
      vmovd(eax, scratch(kTemp, 16));
      mov(word[at], ax);
      return;
    case DType::BFloat16:
      vmovd(eax, x);
      shr(eax, 16);
      mov(word[at], ax);
      return;
    case DType::Bool:
      vmovd(eax, x);
      and_(eax, 1);
      mov(byte[at], al);
      return;
    default:
      break;
  }
  switch (dtype_bytes(dtype)) {
    case 8:
      vmovsd(qword[at], x);
      return;
    case 4:
      vmovss(dword[at], x);
      return;
    case 2:
      vmovd(eax, x);
      mov(word[at], ax);
      return;
    default:
      vmovd(eax, x);
      mov(byte[at], al);
  }
}

void EmitterAvx512::store(const Instr& instr, const Xmm& from, const RegExp& at) {
  if (instr.lanes == 1) return store_scalar(instr.dtype, from, at);
  const size_t size = dtype_bytes(instr.dtype);
  const bool by_index = instr.op == Op::Scatter;
  const Opmask mask = mask_of(instr);
  const int64_t stride = by_index ? 0 : position(instr).lane_stride;
  Xmm value = from;
  const Xmm temp = scratch(kTemp, from.getBit() / 8u);
  if (instr.dtype == DType::Bool || instr.dtype == DType::BFloat16) {
    vpsrld(temp, from, instr.dtype == DType::Bool ? 31 : 16);
    value = temp;
  }
  const Address to = is_all(mask) ? ptr[at] : ptr[at] | mask;
  if (stride == 1) {
    if (instr.stream && size >= 4) {
      vmovntps(ptr[at], value);
    } else if (size == 8) {
      vmovupd(to, value);
    } else if (size == 4) {
      vmovups(to, value);
    } else if (instr.dtype == DType::Float16) {
      vcvtps2ph(to, value, 0);
    } else if (size == 2) {
      vpmovdw(to, value);
    } else {
      vpmovdb(to, value);
    }
    return;
  }
  if (size < 4 || !by_index) {
    if (instr.dtype == DType::Float16) {
      const Ymm half(temp.getIdx());
      if (value.isZMM()) {
        vcvtps2ph(half, value, 0);
        vpmovzxwd(temp, half);
      } else {
        vcvtps2ph(xmm_of(half), value, 0);
        vpmovzxwd(temp, xmm_of(half));
      }
      value = temp;
    }
    vmovups(area(2, value.getBit() / 8u), value);
    if (by_index) vmovups(area(1, 64), in_register(instr.b, 64, 1));
    if (is_all(mask)) {
      mov(eax, (1 << instr.lanes) - 1);
    } else {
      kmovd(eax, mask);
    }
    return lanes_to_memory(instr, at, by_index);
  }
  if (is_all(mask)) {
    kxnorw(k3, k3, k3);
  } else {
    kmovw(k3, mask);
  }
  const Xmm index = in_register(instr.b, 64, 1);
  lea(rdx, ptr[at]);
  if (size == 8) {
    vscatterqpd(ptr[rdx + index * 8] | k3, value);
  } else {
    vscatterqps(ptr[rdx + index * 4] | k3, Ymm(value.getIdx()));
  }
}

void EmitterAvx512::compare(const Instr& instr) {
  const size_t bytes = bytes_of(instr);
  const bool wide = instr.width == Width::W64;
  const Xmm a = in_register(instr.a, bytes, 1);
  with_operand(instr.b, instr.width, bytes, 2, [&](const auto& b) {
    if (instr.op == Op::CmpF) {
      wide ? vcmppd(k2, a, b, instr.imm) : vcmpps(k2, a, b, instr.imm);
    } else if (instr.op == Op::CmpI) {
      wide ? vpcmpq(k2, a, b, instr.imm) : vpcmpd(k2, a, b, instr.imm);
    } else {
      wide ? vpcmpuq(k2, a, b, instr.imm) : vpcmpud(k2, a, b, instr.imm);
    }
  });
  const Xmm to = target(instr, static_cast<size_t>(instr.lanes) * 4);
  vpmovm2d(to, k2);
  keep(instr, to);
}

void EmitterAvx512::keep_nan(const Instr& instr) {
  // For quiet and signaling NaN: the quiet one. For all others: what is there.
  constexpr uint64_t kResponses = 0x22;
  const size_t bytes = bytes_of(instr);
  const Xmm to = target(instr);
  const Xmm a = in_register(instr.a, bytes, 1);
  Xmm b = in_register(instr.b, bytes, 2);
  if (b.getIdx() == to.getIdx() && a.getIdx() != to.getIdx()) {
    move(scratch(2, bytes), b);
    b = scratch(2, bytes);
  }
  if (a.getIdx() != to.getIdx()) move(to, a);
  vfixupimmps(to, b, pool_word(kResponses, Width::W32), 0);
  keep(instr, to);
}

void EmitterAvx512::min_max_nan(const Instr& instr) {
  const size_t bytes = bytes_of(instr);
  const bool wide = instr.width == Width::W64;
  const bool least = instr.op == Op::FMinNan;
  const Xmm to = target(instr);
  const Xmm b = in_register(instr.b, bytes, 2);
  const Xmm result = scratch(kTemp, bytes);
  with_operand(instr.a, instr.width, bytes, 1, [&](const auto& a) {
    if (least) {
      wide ? vminpd(result, b, a) : vminps(result, b, a);
    } else {
      wide ? vmaxpd(result, b, a) : vmaxps(result, b, a);
    }
  });
  // Both instructions give `a` where one is NaN.
  if (!is_constant(instr.b)) {
    wide ? vcmppd(k2, b, b, 3) : vcmpps(k2, b, b, 3);
    wide ? vmovapd(result | k2, b) : vmovaps(result | k2, b);
  }
  vmovaps(to, result);
  keep(instr, to);
}

void EmitterAvx512::lookup(const Instr& instr) {
  const Zmm to(target(instr, 64).getIdx());
  const Zmm index(in_register(instr.a, bytes_of(instr), 1).getIdx());
  if (instr.c == 0) {
    with_operand(instr.b, Width::W32, 64, 2, [&](const auto& row) { vpermps(to, index, row); });
  } else {
    // The instruction overwrites the index or the first row; no row may be lost before it is read.
    const Zmm first(in_register(instr.b, 64, 2).getIdx()), temp(scratch(kTemp, 64).getIdx());
    with_operand(instr.c, Width::W32, 64, 0, [&](const auto& second) {
      if (to.getIdx() == first.getIdx()) return vpermt2ps(to, index, second);
      const bool is_second = second.isREG() && second.getIdx() == to.getIdx();
      const Zmm& result = is_second ? temp : to;
      if (result.getIdx() != index.getIdx()) vmovaps(result, index);
      vpermi2ps(result, first, second);
      if (is_second) vmovaps(to, temp);
    });
  }
  keep(instr, reg(to.getIdx(), bytes_of(instr)));
}

void EmitterAvx512::special(const Instr& instr) {
  const size_t bytes = bytes_of(instr);
  const bool wide = instr.width == Width::W64;
  const auto binary = [&](auto emit_op) {
    const Xmm to = target(instr);
    const Xmm a = in_register(instr.a, bytes, 1);
    with_operand(instr.b, instr.width, bytes, 2, [&](const auto& b) { emit_op(to, a, b); });
    keep(instr, to);
  };
  const auto unary = [&](size_t from_bytes, auto emit_op) {
    const Xmm to = target(instr);
    emit_op(to, in_register(instr.a, from_bytes, 1));
    keep(instr, to);
  };
  switch (instr.op) {
    case Op::Tile:
      return tile(instr);
    case Op::FMinNan:
    case Op::FMaxNan:
      return min_max_nan(instr);
    case Op::KeepNan:
      return keep_nan(instr);
    case Op::CmpF:
    case Op::CmpI:
    case Op::CmpU:
      return compare(instr);
    case Op::IMul:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vpmullq(d, a, b) : vpmulld(d, a, b); });
    case Op::IMin:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vpminsq(d, a, b) : vpminsd(d, a, b); });
    case Op::IMax:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vpmaxsq(d, a, b) : vpmaxsd(d, a, b); });
    case Op::UMin:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vpminuq(d, a, b) : vpminud(d, a, b); });
    case Op::UMax:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vpmaxuq(d, a, b) : vpmaxud(d, a, b); });
    case Op::SarV:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vpsravq(d, a, b) : vpsravd(d, a, b); });
    case Op::Lookup:
      return lookup(instr);
    case Op::Scale:
      return binary([&](auto& d, auto& a, auto& b) { vscalefps(d, a, b); });
    case Op::FRound: {
      const uint8_t mode = static_cast<uint8_t>(instr.imm | 8);
      return unary(bytes, [&](auto& d, const auto& a) { wide ? vrndscalepd(d, a, mode) : vrndscaleps(d, a, mode); });
    }
    case Op::Sar:
      return unary(bytes, [&](auto& d, const auto& a) { wide ? vpsraq(d, a, instr.imm) : vpsrad(d, a, instr.imm); });
    case Op::Blend: {
      vpmovd2m(k2, in_register(instr.a, static_cast<size_t>(instr.lanes) * 4, 1));
      const Xmm to = target(instr);
      const Xmm otherwise = in_register(instr.c, bytes, 2);
      with_operand(instr.b, instr.width, bytes, kTemp, [&](const auto& chosen) {
        wide ? vblendmpd(to | k2, otherwise, chosen) : vblendmps(to | k2, otherwise, chosen);
      });
      return keep(instr, to);
    }
    case Op::U32ToF32:
      return unary(bytes, [&](auto& d, const auto& a) { vcvtudq2ps(d, a); });
    case Op::U32ToF64:
      return unary(bytes / 2, [&](auto& d, const auto& a) { vcvtudq2pd(d, a); });
    case Op::I64ToF64:
      return unary(bytes, [&](auto& d, const auto& a) { vcvtqq2pd(d, a); });
    case Op::U64ToF64:
      return unary(bytes, [&](auto& d, const auto& a) { vcvtuqq2pd(d, a); });
    case Op::I64ToF32:
      return unary(bytes * 2, [&](auto& d, const auto& a) { vcvtqq2ps(d, a); });
    case Op::U64ToF32:
      return unary(bytes * 2, [&](auto& d, const auto& a) { vcvtuqq2ps(d, a); });
    case Op::I64ToI32:
      return unary(bytes * 2, [&](auto& d, const auto& a) {
        if (a.isZMM()) {
          vpmovqd(Ymm(d.getIdx()), a);
        } else {
          vpmovqd(xmm_of(d), a);
        }
      });
    case Op::RoundF16: {
      const Xmm to = target(instr);
      const Xmm a = in_register(instr.a, bytes, 1);
      const int temp = scratch(kTemp, 16).getIdx();
      if (a.isZMM()) {
        vcvtps2ph(Ymm(temp), a, 0);
        vcvtph2ps(to, Ymm(temp));
      } else {
        vcvtps2ph(Xmm(temp), a, 0);
        vcvtph2ps(to, Xmm(temp));
      }
      return keep(instr, to);
    }
    case Op::Swap: {
      const Xmm to = target(instr);
      const Xmm a = in_register(instr.a, bytes, 1);
      if (instr.imm == 32) {
        vshuff64x2(Zmm(to.getIdx()), Zmm(a.getIdx()), Zmm(a.getIdx()), 0x4e);
      } else if (instr.imm == 16) {
        if (a.isZMM()) {
          vshuff64x2(Zmm(to.getIdx()), Zmm(a.getIdx()), Zmm(a.getIdx()), 0xb1);
        } else {
          vshuff64x2(Ymm(to.getIdx()), Ymm(a.getIdx()), Ymm(a.getIdx()), 1);
        }
      } else {
        vpshufd(to, a, instr.imm == 8 ? 0x4e : 0xb1);
      }
      return keep(instr, to);
    }
    case Op::Lanes: {
      const Position& at = position(instr);
      position_to_rax(at);
      const Xmm to = target(instr);
      if (instr.lanes == 1) {
        vmovq(xmm_of(to), rax);
      } else {
        vpbroadcastq(to, rax);
        if (at.lane_stride != 0) vpaddq(to, to, pool_vector(steps<int64_t>(instr.lanes, at.lane_stride)));
      }
      return keep(instr, to);
    }
    case Op::TailMask: {
      const Xmm to = target(instr);
      vpmovm2d(to, k1);
      return keep(instr, to);
    }
    default:
      throw Refusal{};
  }
}

}  // namespace ingot::jit
