#include "runtime/tensor/npz.h"

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/zip.h"
#include "runtime/tensor/npy.h"

namespace ingot {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string_view array_name(std::string_view entry) {
  return entry.ends_with(kSuffix) ? entry.substr(0, entry.size() - kSuffix.size()) : entry;
}

Ref<TensorObject> decode_entry(const ZipReader& archive, const ZipEntry& entry, std::string_view what,
                               ObjectPool* pool) {
  return decode_npy(archive.extract(entry), fmt::format("{}: {}", what, entry.name), pool);
}

}  // namespace

std::vector<NamedTensor> decode_npz(std::span<const std::byte> bytes, std::string_view what, ObjectPool* pool) {
  const ZipReader archive(bytes, std::string(what));
  std::vector<NamedTensor> tensors;
  for (const ZipEntry& entry : archive.entries())
    tensors.push_back({std::string(array_name(entry.name)), decode_entry(archive, entry, what, pool)});
  return tensors;
}

std::vector<NamedTensor> read_npz(const std::filesystem::path& path, ObjectPool* pool) {
  return decode_npz(map_file(path).bytes, path.string(), pool);
}

Ref<TensorObject> read_npz(const std::filesystem::path& path, std::string_view name, ObjectPool* pool) {
  const FileBytes file = map_file(path);
  const ZipReader archive(file.bytes, path.string());
  std::string names;
  for (const ZipEntry& entry : archive.entries()) {
    if (array_name(entry.name) == name) return decode_entry(archive, entry, path.string(), pool);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", array_name(entry.name));
  }
  fail(ErrorCode::InvalidArgument, "{} has no array '{}'; it has: {}", path.string(), name, names);
}

void write_npz(const std::filesystem::path& path, std::span<const NamedTensor> tensors) {
  save_file(path, [&](const ByteSink& sink) {
    ZipWriter archive(sink);
    for (const NamedTensor& named : tensors) archive.add(named.name + std::string(kSuffix), encode_npy(*named.tensor));
    archive.finish();
  });
}

}  // namespace ingot
