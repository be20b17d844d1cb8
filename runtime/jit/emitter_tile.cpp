#include "runtime/jit/emitter_avx512.h"

// Square tiles that sixteen registers transpose.
namespace ingot::jit {

using namespace Xbyak;
using util::k1;
using util::k2;

namespace {

Zmm tile_row(int i) { return Zmm(i); }

}  // namespace

void EmitterAvx512::tile(const Instr& instr) {
  const Position& from = position(instr);
  const Position& to = function().positions[instr.index];
  const auto point = [&](const Reg64& reg, const Position& at) {
    position_to_rax(at);
    mov(reg, ptr[frame_ + offsetof(Frame, buffers)]);
    mov(reg, ptr[reg + at.buffer * 8]);
    lea(reg, ptr[reg + rax * 4]);
  };
  point(rsi, from);
  point(rdi, to);
  if (instr.imm != 0) return shaped_tile(function().tiles[instr.imm - 1]);
  const int64_t from_bytes = from.lane_stride * 4, to_bytes = to.lane_stride * 4;
  for (const int64_t bytes : {from_bytes, to_bytes})
    if (bytes * 16 != static_cast<int32_t>(bytes * 16)) throw Refusal{};
  for (int i = 0; i < 16; ++i) vmovups(tile_row(i), ptr[rsi + static_cast<int>(i * from_bytes)]);
  transpose_rows();
  for (int i = 0; i < 16; ++i) {
    const auto at = ptr[rdi + static_cast<int>(i * to_bytes)];
    instr.stream ? vmovntps(at, tile_row(i)) : vmovups(at, tile_row(i));
  }
}

// From rsi to rdi. What lies beyond the size is neither read nor written.
void EmitterAvx512::shaped_tile(const ShapedTile& shape) {
  const auto& rows = r10;
  const auto& columns = r11;
  load_slot(r8, shape.from_step);
  load_slot(r9, shape.to_step);
  load_slot(rows, shape.rows);
  load_slot(columns, shape.columns);
  shl(r8, 2);
  shl(r9, 2);
  const auto mask = [&](const Opmask& k, const Reg64& count) {
    mov(eax, -1);
    bzhi(eax, eax, count.cvt32());
    kmovw(k, eax);
  };
  mask(k1, rows);
  mask(k2, columns);
  // Lines of memory: `lines` of them, of 16 elements where `full`.
  const auto each_line = [&](const Reg64& lines, const Reg64& at, const Reg64& step, const Reg64& others, auto whole,
                             auto part) {
    Label partial, end;
    cmp(lines, 16);
    jne(partial, T_NEAR);
    cmp(others, 16);
    jne(partial, T_NEAR);
    lea(rax, ptr[step + step * 2]);
    for (int i = 0; i < 16; i += 4) {
      whole(i, ptr[at]);
      whole(i + 1, ptr[at + step]);
      whole(i + 2, ptr[at + step * 2]);
      whole(i + 3, ptr[at + rax]);
      if (i < 12) lea(at, ptr[at + step * 4]);
    }
    jmp(end, T_NEAR);
    L(partial);
    for (int i = 0; i < 16; ++i) {
      part(i, ptr[at]);
      if (i == 15) break;
      cmp(lines, i + 1);
      je(end, T_NEAR);
      add(at, step);
    }
    L(end);
  };
  each_line(
      columns, rsi, r8, rows, [&](int i, const Address& at) { vmovups(tile_row(i), at); },
      [&](int i, const Address& at) { vmovups(tile_row(i) | k1 | T_z, at); });
  transpose_rows();
  each_line(
      rows, rdi, r9, columns, [&](int i, const Address& at) { vmovups(at, tile_row(i)); },
      [&](int i, const Address& at) { vmovups(at | k2, tile_row(i)); });
}

// Registers 0 to 15, by means of the others.
void EmitterAvx512::transpose_rows() {
  const auto row = tile_row;
  const auto spare = [](int i) { return Zmm(16 + i); };
  for (int i = 0; i < 16; i += 2) {
    vunpcklps(spare(i), row(i), row(i + 1));
    vunpckhps(spare(i + 1), row(i), row(i + 1));
  }
  for (int i = 0; i < 16; i += 4) {
    vunpcklpd(row(i), spare(i), spare(i + 2));
    vunpckhpd(row(i + 1), spare(i), spare(i + 2));
    vunpcklpd(row(i + 2), spare(i + 1), spare(i + 3));
    vunpckhpd(row(i + 3), spare(i + 1), spare(i + 3));
  }
  // Register 4 * g + c holds, for each quarter, column 4 * quarter + c of rows 4 * g to 4 * g + 3.
  for (int c = 0; c < 4; ++c) {
    vshuff32x4(spare(0), row(c), row(4 + c), 0x88);
    vshuff32x4(spare(1), row(8 + c), row(12 + c), 0x88);
    vshuff32x4(spare(2), row(c), row(4 + c), 0xdd);
    vshuff32x4(spare(3), row(8 + c), row(12 + c), 0xdd);
    vshuff32x4(row(c), spare(0), spare(1), 0x88);
    vshuff32x4(row(8 + c), spare(0), spare(1), 0xdd);
    vshuff32x4(row(4 + c), spare(2), spare(3), 0x88);
    vshuff32x4(row(12 + c), spare(2), spare(3), 0xdd);
  }
}

}  // namespace ingot::jit
