#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ingot {

// NumPy's file format for one array, versions 1.0 to 3.0 (numpy.lib.format).
//
// Read: little-endian booleans, integers and floats, in C or Fortran order; bfloat16 as the two-byte void type ('V2')
// that other libraries write for it. Bytes of booleans become 0 or 1. The tensor is RowMajor and Shared (null pool) or
// the pool's. `what` names the bytes in messages. Throws CorruptFile for bytes that are no such file, Unsupported for
// big-endian data and for types that no dtype stands for (naming them). Nothing is allocated that the bytes do not
// back.
Ref<TensorObject> decode_npy(std::span<const std::byte> bytes, std::string_view what, ObjectPool* pool = nullptr);
Ref<TensorObject> read_npy(const std::filesystem::path& path, ObjectPool* pool = nullptr);

// Version 1.0, C order, the elements at a multiple of 64. Unsupported for strings.
std::vector<std::byte> encode_npy(const TensorObject& tensor);
// Crash safe (save_file). Throws Io.
void write_npy(const std::filesystem::path& path, const TensorObject& tensor);

}  // namespace ingot
