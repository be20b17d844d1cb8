#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// The dictionary at the head of a .npy file, a Python literal with exactly these keys.
struct NpyHeader {
  std::string descr;  // element type, such as "<f4"
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Throws CorruptFile, naming `what` and the place, for text that is no such literal, and Unsupported for element types
// that are not a plain string (records).
NpyHeader parse_npy_header(std::string_view text, std::string_view what);
// Without padding and line end.
std::string format_npy_header(const NpyHeader& header);

}  // namespace ingot
