#include "runtime/jit/code_memory.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ingot::jit {
namespace {

// mov eax, value; ret
std::vector<std::byte> returns(uint8_t value) {
  std::vector<std::byte> code;
  for (const int byte : {0xb8, int{value}, 0, 0, 0, 0xc3}) code.push_back(static_cast<std::byte>(byte));
  return code;
}

struct Mapping {
  std::string rights;
  bool holds = false;
};
std::vector<Mapping> mappings(const void* address) {
  std::ifstream maps("/proc/self/maps");
  std::vector<Mapping> result;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    Mapping mapping;
    words >> std::hex >> begin >> dash >> end >> mapping.rights;
    const auto at = reinterpret_cast<uintptr_t>(address);
    mapping.holds = begin <= at && at < end;
    result.push_back(mapping);
  }
  return result;
}

TEST(CodeMemory, RunsWhatWasCopied) {
  const auto seven = CodeMemory::make(returns(7));
  const auto nine = CodeMemory::make(returns(9));
  ASSERT_TRUE(seven && nine);
  EXPECT_EQ(seven->entry<int (*)()>()(), 7);
  EXPECT_EQ(nine->entry<int (*)()>()(), 9);
}

TEST(CodeMemory, IsNeverWritableAndExecutable) {
  const auto code = CodeMemory::make(returns(1));
  ASSERT_TRUE(code);
  bool found = false;
  for (const Mapping& mapping : mappings(code->entry<const void*>())) {
    EXPECT_FALSE(mapping.rights.find('w') != std::string::npos && mapping.rights.find('x') != std::string::npos)
        << mapping.rights;
    if (!mapping.holds) continue;
    found = true;
    EXPECT_EQ(mapping.rights.substr(0, 3), "r-x");
  }
  EXPECT_TRUE(found);
}

TEST(CodeMemory, NothingGivesNothing) { EXPECT_FALSE(CodeMemory::make({})); }

}  // namespace
}  // namespace ingot::jit
