#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "vm/executable/reader.h"
#include "vm/executable/text.h"
#include "vm/executable/writer.h"
#include "vm/verifier/verifier.h"

// Program text is refused or assembled; a program that is verified comes back from its file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ingot::vm;
  try {
    const Program program = assemble({reinterpret_cast<const char*>(data), size});
    verify(program);
    const auto file = write_program(program);
    if (write_program(read_program(ingot::copy_bytes(file))) != file) std::abort();
  } catch (const ingot::Error&) {
  }
  return 0;
}
