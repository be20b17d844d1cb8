#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ingot {

struct NamedTensor {
  std::string name;
  Ref<TensorObject> tensor;
};

// NumPy's archives of arrays: zip files (stored or deflated) of .npy files. Names stand without ".npy". Errors as of
// decode_npy and ZipReader, naming archive and entry.
std::vector<NamedTensor> decode_npz(std::span<const std::byte> bytes, std::string_view what,
                                    ObjectPool* pool = nullptr);
std::vector<NamedTensor> read_npz(const std::filesystem::path& path, ObjectPool* pool = nullptr);
// One of them. InvalidArgument, listing the names, where there is none of that name.
Ref<TensorObject> read_npz(const std::filesystem::path& path, std::string_view name, ObjectPool* pool = nullptr);

// Crash safe (save_file), entries stored. The same tensors give the same bytes.
void write_npz(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

}  // namespace ingot
