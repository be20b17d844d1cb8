#include "runtime/base/cpu.h"

#include <array>

#include <sys/syscall.h>
#include <unistd.h>

#include <xbyak/xbyak_util.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"any", "avx2", "avx512", "avx512_bf16", "amx"};

// Tile registers are given to a process on demand; this asks whether the kernel knows them, not for them.
bool kernel_supports_tiles() {
  constexpr long kArchGetXcompSupp = 0x1021;
  constexpr uint64_t kTileData = uint64_t{1} << 18;
  uint64_t features = 0;
  return syscall(SYS_arch_prctl, kArchGetXcompSupp, &features) == 0 && (features & kTileData) != 0;
}

}  // namespace

Cpu detect_cpu() {
  using Features = Xbyak::util::Cpu;
  const Features cpu;
  const auto has = [&cpu](auto... features) { return (cpu.has(features) && ...); };
  if (!has(Features::tAVX2, Features::tFMA, Features::tF16C, Features::tBMI1, Features::tBMI2)) return Cpu::Any;
  if (!has(Features::tAVX512F, Features::tAVX512BW, Features::tAVX512DQ, Features::tAVX512VL, Features::tAVX512CD))
    return Cpu::Avx2;
  if (!has(Features::tAVX512_BF16)) return Cpu::Avx512;
  if (!has(Features::tAMX_TILE, Features::tAMX_BF16, Features::tAMX_INT8) || !kernel_supports_tiles())
    return Cpu::Avx512Bf16;
  return Cpu::Amx;
}

std::string_view cpu_name(Cpu cpu) { return kNames[static_cast<size_t>(cpu)]; }

Cpu parse_cpu(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Cpu>(i);
  fail(ErrorCode::InvalidArgument, "CPU '{}' is not known; one of {} is wanted", name, fmt::join(kNames, ", "));
}

}  // namespace ingot
