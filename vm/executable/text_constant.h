#pragma once
#include <memory>
#include <string>
#include <vector>

#include "vm/executable/program.h"
#include "vm/executable/text_scanner.h"

namespace ingot::vm {

// A constant in program text:
//
//   none                       shape (2, 3)               dtype float32             string "text"
//   scalar float32 1.5         prim int64 -4              scalar float32 bits 0x7fc00001
//   tensor float32 (2, 2) {1, 2, 3, 4}                    tensor string (1,) {"text"}
//   tensor float32 (100, 100) base64 "..."                the elements' bytes, row-major
std::string print_constant(const Constant& constant);

// Elements are kept by `owners`.
Constant parse_constant(TextScanner& in, std::vector<std::shared_ptr<const void>>& owners);

}  // namespace ingot::vm
