#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/vm/hostile/run_bytes.h"
#include "vm/executable/layout.h"

// Load, verify and run: the checksums are made right, so that mutations reach what lies behind them.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  std::vector<std::byte> bytes(input.begin(), input.end());
  ingot::vm::reseal(bytes);
  ingot::vm::test::run_bytes(bytes, [](const ingot::Error&) {});
  return 0;
}
