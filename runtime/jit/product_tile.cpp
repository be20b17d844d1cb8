#include "runtime/jit/product_tile.h"

#include <cstddef>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <xbyak/xbyak.h>

#include "runtime/jit/perf_map.h"

namespace ingot::jit {
namespace {

using namespace Xbyak;

constexpr size_t kCodeBytes = 32 * 1024;

// Sums first, then a row of b, then one register for the element of a; with AVX2 the last one is the mask of the last
// columns, with AVX-512 that is k1.
class TileEmitter final : public CodeGenerator {
 public:
  TileEmitter(std::vector<uint8_t>& buffer, bool wide)
      : CodeGenerator(buffer.size(), buffer.data()), wide_(wide), lanes_(wide ? 16 : 8) {}

  // Where the lanes of AVX2's masks lie: a window of ones then zeros.
  void mask_table() {
    align(32);
    L(masks_);
    for (int i = 0; i < 16; ++i) dd(i < 8 ? 0xFFFFFFFFu : 0);
  }

  size_t tile(int rows, int vectors) {
    rows_ = rows;
    vectors_ = vectors;
    align(32);
    const size_t entry = getSize();
    push(rbx);
    mask_of_last_columns();
    begin();
    accumulate();
    finish();
    vzeroupper();
    pop(rbx);
    ret();
    return entry;
  }

  // Arguments as ProductTiles::transpose: rdi, rsi, rdx, rcx, r8.
  size_t transpose() {
    align(32);
    const size_t entry = getSize();
    lea(r9, ptr[rsi + rsi * 2]);
    lea(r10, ptr[rcx + rcx * 2]);
    Label top;
    L(top);
    lea(rax, ptr[rdi + rsi * 4]);
    lea(r11, ptr[rdx + rcx * 4]);
    const Address from[] = {ptr[rdi], ptr[rdi + rsi], ptr[rdi + rsi * 2], ptr[rdi + r9],
                            ptr[rax], ptr[rax + rsi], ptr[rax + rsi * 2], ptr[rax + r9]};
    const Address to[] = {ptr[rdx], ptr[rdx + rcx], ptr[rdx + rcx * 2], ptr[rdx + r10],
                          ptr[r11], ptr[r11 + rcx], ptr[r11 + rcx * 2], ptr[r11 + r10]};
    for (int i = 0; i < 8; ++i) vmovups(Ymm(i), from[i]);
    for (int i = 0; i < 8; i += 2) {
      vunpcklps(Ymm(8 + i), Ymm(i), Ymm(i + 1));
      vunpckhps(Ymm(9 + i), Ymm(i), Ymm(i + 1));
    }
    for (int half = 0; half < 8; half += 4)
      for (int pair = 0; pair < 2; ++pair) {
        vshufps(Ymm(half + pair * 2), Ymm(8 + half + pair), Ymm(10 + half + pair), 0x44);
        vshufps(Ymm(half + pair * 2 + 1), Ymm(8 + half + pair), Ymm(10 + half + pair), 0xEE);
      }
    for (int i = 0; i < 4; ++i) {
      vperm2f128(Ymm(8 + i), Ymm(i), Ymm(4 + i), 0x20);
      vperm2f128(Ymm(12 + i), Ymm(i), Ymm(4 + i), 0x31);
    }
    for (int i = 0; i < 8; ++i) vmovups(to[i], Ymm(8 + i));
    add(rdi, 32);
    lea(rdx, ptr[rdx + rcx * 8]);
    sub(r8, 1);
    jnz(top, T_NEAR);
    vzeroupper();
    ret();
    return entry;
  }

 private:
  Xmm reg(int index) const { return wide_ ? Xmm(Zmm(index)) : Xmm(Ymm(index)); }
  Xmm sum(int row, int vector) const { return reg(row * vectors_ + vector); }
  Xmm b(int vector) const { return reg(rows_ * vectors_ + vector); }
  Xmm a() const { return reg(rows_ * vectors_ + vectors_); }
  static Ymm mask() { return Ymm(15); }
  bool is_last(int vector) const { return vector == vectors_ - 1; }
  int offset(int vector) const { return vector * lanes_ * 4; }

  static Address field(size_t offset) { return util::ptr[util::rdi + static_cast<int>(offset)]; }

  void load(const Xmm& to, const RegExp& at, int vector) {
    if (!is_last(vector)) {
      vmovups(to, ptr[at + offset(vector)]);
    } else if (wide_) {
      vmovups(Zmm(to.getIdx()) | k1 | T_z, ptr[at + offset(vector)]);
    } else {
      vmaskmovps(to, mask(), ptr[at + offset(vector)]);
    }
  }
  void store(const RegExp& at, const Xmm& from, int vector) {
    if (!is_last(vector)) {
      vmovups(ptr[at + offset(vector)], from);
    } else if (wide_) {
      vmovups(ptr[at + offset(vector)] | k1, Zmm(from.getIdx()));
    } else {
      vmaskmovps(ptr[at + offset(vector)], mask(), from);
    }
  }

  void mask_of_last_columns() {
    mov(ecx, field(offsetof(ProductTileArgs, last_columns)));
    if (wide_) {
      mov(eax, 1);
      shl(eax, cl);
      sub(eax, 1);
      kmovw(k1, eax);
    } else {
      neg(rcx);
      lea(rax, ptr[rip + masks_]);
      vmovups(mask(), ptr[rax + rcx * 4 + 32]);
    }
  }

  void begin() {
    Label zero, done;
    mov(rax, field(offsetof(ProductTileArgs, initial)));
    test(rax, rax);
    jz(zero, T_NEAR);
    mov(rcx, field(offsetof(ProductTileArgs, initial_row)));
    for (int row = 0; row < rows_; ++row) {
      for (int vector = 0; vector < vectors_; ++vector) load(sum(row, vector), rax, vector);
      if (row + 1 < rows_) add(rax, rcx);
    }
    jmp(done, T_NEAR);
    L(zero);
    for (int i = 0; i < rows_ * vectors_; ++i) {
      if (wide_) {
        vpxord(Zmm(i), Zmm(i), Zmm(i));
      } else {
        vxorps(Ymm(i), Ymm(i), Ymm(i));
      }
    }
    L(done);
  }

  // Rows 0 to 2 of a lie around rax, rows 3 to 5 around rbx.
  Address a_element(int row) {
    const Reg64& base = row < 3 ? rax : rbx;
    switch (row % 3) {
      case 0:
        return ptr[base];
      case 1:
        return ptr[base + r8];
      default:
        return ptr[base + r8 * 2];
    }
  }

  void accumulate() {
    mov(rax, field(offsetof(ProductTileArgs, a)));
    mov(rsi, field(offsetof(ProductTileArgs, b)));
    mov(rdx, field(offsetof(ProductTileArgs, depth)));
    mov(r8, field(offsetof(ProductTileArgs, a_row)));
    mov(r9, field(offsetof(ProductTileArgs, a_column)));
    mov(r10, field(offsetof(ProductTileArgs, b_row)));
    if (rows_ > 3) {
      lea(rbx, ptr[r8 + r8 * 2]);
      add(rbx, rax);
    }
    Label top;
    align(32);
    L(top);
    for (int vector = 0; vector < vectors_; ++vector) load(b(vector), rsi, vector);
    add(rsi, r10);
    for (int row = 0; row < rows_; ++row) {
      vbroadcastss(a(), a_element(row));
      for (int vector = 0; vector < vectors_; ++vector) vfmadd231ps(sum(row, vector), a(), b(vector));
    }
    add(rax, r9);
    if (rows_ > 3) add(rbx, r9);
    sub(rdx, 1);
    jnz(top, T_NEAR);
  }

  void finish() {
    Label unscaled, biased;
    mov(eax, field(offsetof(ProductTileArgs, scale)));
    cmp(eax, 0x3F800000);
    je(unscaled, T_NEAR);
    vbroadcastss(a(), field(offsetof(ProductTileArgs, scale)));
    for (int i = 0; i < rows_ * vectors_; ++i) vmulps(reg(i), reg(i), a());
    L(unscaled);
    mov(rax, field(offsetof(ProductTileArgs, bias)));
    test(rax, rax);
    jz(biased, T_NEAR);
    for (int vector = 0; vector < vectors_; ++vector) load(b(vector), rax, vector);
    for (int row = 0; row < rows_; ++row)
      for (int vector = 0; vector < vectors_; ++vector) vaddps(sum(row, vector), sum(row, vector), b(vector));
    L(biased);
    mov(rax, field(offsetof(ProductTileArgs, c)));
    mov(rcx, field(offsetof(ProductTileArgs, c_row)));
    for (int row = 0; row < rows_; ++row) {
      for (int vector = 0; vector < vectors_; ++vector) store(rax, sum(row, vector), vector);
      if (row + 1 < rows_) add(rax, rcx);
    }
  }

  bool wide_;
  int lanes_;
  int rows_ = 0, vectors_ = 0;
  Label masks_;
};

}  // namespace

std::unique_ptr<const ProductTiles> ProductTiles::make(Cpu cpu, const PerfMap* perf_map) {
  if (cpu < Cpu::Avx2) return nullptr;
  const bool wide = cpu >= Cpu::Avx512;
  auto tiles = std::make_unique<ProductTiles>();
  tiles->lanes_ = wide ? 16 : 8;
  tiles->vectors_ = wide ? 4 : 2;
  std::vector<uint8_t> buffer(kCodeBytes);
  TileEmitter emitter(buffer, wide);
  emitter.mask_table();
  std::vector<PerfMap::Entry> names;
  for (size_t row = 0; row < kRows; ++row)
    for (size_t vector = 0; vector < static_cast<size_t>(tiles->vectors_); ++vector) {
      tiles->entries_[row][vector] = emitter.tile(static_cast<int>(row) + 1, static_cast<int>(vector) + 1);
      names.push_back({tiles->entries_[row][vector],
                       fmt::format("product_tile[{}x{}]", row + 1, (vector + 1) * static_cast<size_t>(tiles->lanes_))});
    }
  tiles->transpose_ = emitter.transpose();
  names.push_back({tiles->transpose_, "transpose"});
  auto code = CodeMemory::make(std::as_bytes(std::span(buffer).first(emitter.getSize())));
  if (!code) return nullptr;
  tiles->code_ = std::make_unique<CodeMemory>(std::move(*code));
  if (perf_map != nullptr) perf_map->add(*tiles->code_, emitter.getSize(), std::move(names));
  return tiles;
}

}  // namespace ingot::jit
