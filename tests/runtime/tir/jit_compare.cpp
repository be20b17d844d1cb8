#include "jit_compare.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/base/convert.h"
#include "runtime/jit/compiled_func.h"

namespace ingot::tir {

namespace {

Outcome run_compiled(const jit::CompiledFunc* compiled, const PrimFunc& func, std::vector<Bytes>& buffers,
                     const ThreadTeam& team) {
  if (!compiled) return {};
  constexpr size_t kMargin = 192;
  std::vector<Bytes> memory;
  std::vector<std::byte*> addresses;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const size_t shift = kMargin + dtype_bytes(func.buffers[i].dtype);
    memory.emplace_back(buffers[i].size() + shift + kMargin, std::byte{0x5a});
    addresses.push_back(memory.back().data() + shift);
    if (!buffers[i].empty()) std::memcpy(addresses.back(), buffers[i].data(), buffers[i].size());
  }
  std::vector<std::byte> scratch(compiled->scratch_bytes() + 64);
  auto* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  Outcome outcome{true, compiled->run(addresses, {}, aligned, &team, {})};
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto* begin = memory[i].data();
    const auto* end = begin + memory[i].size();
    EXPECT_TRUE(std::all_of(begin, static_cast<const std::byte*>(addresses[i]),
                            [](std::byte b) { return b == std::byte{0x5a}; }));
    EXPECT_TRUE(std::all_of(addresses[i] + buffers[i].size(), const_cast<std::byte*>(end),
                            [](std::byte b) { return b == std::byte{0x5a}; }));
    if (!buffers[i].empty()) std::memcpy(buffers[i].data(), addresses[i], buffers[i].size());
  }
  return outcome;
}

}  // namespace

Outcome run_jit(const PrimFunc& func, const Dims& dims, std::vector<Bytes>& buffers, Cpu cpu, const ThreadTeam& team) {
  return run_compiled(jit::CompiledFunc::compile(func, dims, {}, cpu, team.size()).get(), func, buffers, team);
}

Outcome run_shaped(const PrimFunc& func, const Dims& dims, std::vector<Bytes>& buffers, Cpu cpu,
                   const ThreadTeam& team) {
  for (const uint32_t dimensions : {UINT32_MAX, uint32_t{1}}) {
    const std::vector<uint32_t> varying(func.params, dimensions);
    const auto shaped = jit::ShapedFunc::compile(func, dims, varying, cpu, 1);
    const auto compiled = shaped ? shaped->at(dims, team.size()) : nullptr;
    if (compiled) return run_compiled(compiled.get(), func, buffers, team);
  }
  return {};
}

bool close_elements(DType dtype, const Bytes& a, const Bytes& b, double tolerance) {
  return a.size() == b.size() && with_element(dtype, [&]<typename T>() {
           for (size_t at = 0; at < a.size(); at += sizeof(T)) {
             const T x = load_element<T>(a.data() + at);
             const T y = load_element<T>(b.data() + at);
             if (std::memcmp(&x, &y, sizeof(T)) == 0) continue;
             if constexpr (FloatElement<T>) {
               const double p = static_cast<double>(widen(x));
               const double q = static_cast<double>(widen(y));
               if (std::isnan(p) && std::isnan(q)) continue;
               if (std::fabs(p - q) <= tolerance * std::max(std::fabs(q), 1.0)) continue;
             }
             return false;
           }
           return true;
         });
}

std::string difference(DType dtype, const Bytes& actual, const Bytes& expected) {
  const size_t size = dtype_bytes(dtype);
  for (size_t at = 0; at < actual.size(); at += size) {
    uint64_t x = 0, y = 0;
    std::memcpy(&x, actual.data() + at, size);
    std::memcpy(&y, expected.data() + at, size);
    if (x != y) return fmt::format("element {} is {:#x}, not {:#x}", at / size, x, y);
  }
  return "";
}

}  // namespace ingot::tir
