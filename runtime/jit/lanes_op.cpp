#include "runtime/jit/emitter.h"

// Instructions that AVX2 and AVX-512 share.
namespace ingot::jit {
namespace {

bool commutes(Op op) {
  switch (op) {
    case Op::FAdd:
    case Op::FMul:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::IAdd:
    case Op::IMul:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Emitter::lanes_op(const Instr& instr) {
  const size_t bytes = bytes_of(instr);
  const bool wide = instr.width == Width::W64;
  Value left = instr.a;
  Value right = instr.b;
  if (commutes(instr.op) && is_constant(left)) std::swap(left, right);
  const auto binary = [&](auto emit_op) {
    const Xmm to = target(instr);
    const Xmm a = in_register(left, bytes, 1);
    with_operand(right, instr.width, bytes, 2, [&](const auto& b) { emit_op(to, a, b); });
    keep(instr, to);
  };
  const auto unary = [&](size_t from_bytes, size_t to_bytes, auto emit_op) {
    const Xmm to = target(instr, to_bytes);
    emit_op(to, in_register(instr.a, from_bytes, 1));
    keep(instr, to);
  };
  const size_t half = bytes / 2;
  switch (instr.op) {
    case Op::FAdd:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vaddpd(d, a, b) : vaddps(d, a, b); });
    case Op::FSub:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vsubpd(d, a, b) : vsubps(d, a, b); });
    case Op::FMul:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vmulpd(d, a, b) : vmulps(d, a, b); });
    case Op::FDiv:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vdivpd(d, a, b) : vdivps(d, a, b); });
    case Op::FMin:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vminpd(d, a, b) : vminps(d, a, b); });
    case Op::FMax:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vmaxpd(d, a, b) : vmaxps(d, a, b); });
    case Op::And:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vandpd(d, a, b) : vandps(d, a, b); });
    case Op::Or:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vorpd(d, a, b) : vorps(d, a, b); });
    case Op::Xor:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vxorpd(d, a, b) : vxorps(d, a, b); });
    case Op::AndNot:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vandnpd(d, a, b) : vandnps(d, a, b); });
    case Op::IAdd:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vpaddq(d, a, b) : vpaddd(d, a, b); });
    case Op::ISub:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vpsubq(d, a, b) : vpsubd(d, a, b); });
    case Op::ShlV:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vpsllvq(d, a, b) : vpsllvd(d, a, b); });
    case Op::ShrV:
      return binary([&](auto& d, auto& a, auto& b) { wide ? vpsrlvq(d, a, b) : vpsrlvd(d, a, b); });
    case Op::FSqrt:
      return unary(bytes, bytes, [&](auto& d, const auto& a) { wide ? vsqrtpd(d, a) : vsqrtps(d, a); });
    case Op::Shl:
      return unary(bytes, bytes,
                   [&](auto& d, const auto& a) { wide ? vpsllq(d, a, instr.imm) : vpslld(d, a, instr.imm); });
    case Op::Shr:
      return unary(bytes, bytes,
                   [&](auto& d, const auto& a) { wide ? vpsrlq(d, a, instr.imm) : vpsrld(d, a, instr.imm); });
    case Op::I32ToF32:
      return unary(bytes, bytes, [&](auto& d, const auto& a) { vcvtdq2ps(d, a); });
    case Op::F32ToI32:
      return unary(bytes, bytes, [&](auto& d, const auto& a) { vcvttps2dq(d, a); });
    case Op::F32ToI32Even:
      return unary(bytes, bytes, [&](auto& d, const auto& a) { vcvtps2dq(d, a); });
    case Op::F32ToF64:
      return unary(half, bytes, [&](auto& d, const auto& a) { vcvtps2pd(d, a); });
    case Op::I32ToF64:
      return unary(half, bytes, [&](auto& d, const auto& a) { vcvtdq2pd(d, a); });
    case Op::I32ToI64:
      return unary(half, bytes, [&](auto& d, const auto& a) { vpmovsxdq(d, a); });
    case Op::U32ToI64:
      return unary(half, bytes, [&](auto& d, const auto& a) { vpmovzxdq(d, a); });
    case Op::F64ToF32:
      return unary(bytes * 2, bytes, [&](auto& d, const auto& a) {
        vcvtpd2ps(Xmm(instr.lanes * 8 > 32 ? Operand::YMM : Operand::XMM, d.getIdx()), a);
      });
    case Op::F64ToI32:
      return unary(bytes * 2, bytes, [&](auto& d, const auto& a) {
        vcvttpd2dq(Xmm(instr.lanes * 8 > 32 ? Operand::YMM : Operand::XMM, d.getIdx()), a);
      });
    case Op::Splat:
      return unary(16, bytes, [&](auto& d, const auto& a) { wide ? vpbroadcastq(d, a) : vpbroadcastd(d, a); });
    case Op::TableRow: {
      const Table& table = function_->tables[instr.ref];
      const size_t lanes = instr.lanes;
      std::vector<float> row(lanes);
      for (size_t i = 0; i < lanes; ++i) row[i] = table[(instr.imm * lanes + i) % table.size()];
      const Xmm to = target(instr);
      vmovups(to, pool_vector(row));
      return keep(instr, to);
    }
    default:
      return special(instr);
  }
}

}  // namespace ingot::jit
