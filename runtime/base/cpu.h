#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot {

// Instruction sets that kernels ask for, each including the ones before it.
enum class Cpu : uint8_t { Any, Avx2, Avx512, Avx512Bf16, Amx };

// The best set of this machine that the operating system has enabled.
Cpu detect_cpu();
std::string_view cpu_name(Cpu cpu);
// "any", "avx2", "avx512", "avx512_bf16", "amx"; InvalidArgument, listing them, for anything else.
Cpu parse_cpu(std::string_view name);

}  // namespace ingot
