#include <cstddef>
#include <cstdint>
#include <span>

#include "compiler/onnx/import.h"
#include "runtime/base/error.h"

// Any bytes are imported, or refused with an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ingot::ir::Diagnostics diagnostics;
  try {
    ingot::onnx_import::import_model(std::as_bytes(std::span(data, size)), "fuzz", {}, diagnostics);
  } catch (const ingot::Error&) {
  }
  return 0;
}
