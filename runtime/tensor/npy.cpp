#include "runtime/tensor/npy.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/tensor/npy_header.h"

namespace ingot {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct NpyType {
  std::string_view descr;  // as it is written, little-endian
  DType dtype;
};
constexpr NpyType kTypes[] = {
    {"|b1", DType::Bool},     {"|i1", DType::Int8},    {"<i2", DType::Int16},   {"<i4", DType::Int32},
    {"<i8", DType::Int64},    {"|u1", DType::UInt8},   {"<u2", DType::UInt16},  {"<u4", DType::UInt32},
    {"<u8", DType::UInt64},   {"<f2", DType::Float16}, {"<f4", DType::Float32}, {"<f8", DType::Float64},
    {"<V2", DType::BFloat16},
};

DType dtype_of(std::string_view descr, std::string_view what) {
  if (descr.size() < 2) fail(ErrorCode::CorruptFile, "{}: '{}' is not an element type", what, descr);
  const char order = descr[0];
  const std::string_view type = descr.substr(1);
  for (const NpyType& known : kTypes) {
    if (known.descr.substr(1) != type) continue;
    if (order == '>' && dtype_bytes(known.dtype) > 1)
      fail(ErrorCode::Unsupported, "{}: the elements are big-endian ('{}'); convert them, as with a.astype('<{}')",
           what, descr, type);
    if (order == '<' || order == '|' || order == '=' || order == '>') return known.dtype;
  }
  fail(ErrorCode::Unsupported, "{}: elements of type '{}' have no dtype here; booleans, integers and floats do", what,
       descr);
}

NpyHeader read_header(ByteReader& reader, std::string_view what) {
  const auto magic = reader.get_bytes(kMagic.size());
  if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0)
    fail(ErrorCode::CorruptFile, "{} is not a .npy file: it does not begin with \\x93NUMPY", what);
  const auto major = reader.get<uint8_t>();
  const auto minor = reader.get<uint8_t>();
  if (major < 1 || major > 3 || minor != 0)
    fail(ErrorCode::Unsupported, "{}: version {}.{} of the .npy format; 1.0, 2.0 and 3.0 are known", what, major,
         minor);
  const size_t size = major == 1 ? reader.get<uint16_t>() : reader.get<uint32_t>();
  const auto header = reader.get_bytes(size);
  return parse_npy_header({reinterpret_cast<const char*>(header.data()), header.size()}, what);
}

// Writes elements that come in Fortran order (the first index runs fastest) in row-major order.
template <typename T>
void copy_from_fortran(const std::byte* from, TensorObject& to) {
  const auto dims = to.dims();
  const size_t rank = dims.size();
  std::vector<size_t> strides(rank);
  size_t stride = 1;
  for (size_t i = 0; i < rank; ++i) {
    strides[i] = stride;
    stride *= static_cast<size_t>(dims[i]);
  }
  std::vector<int64_t> index(rank, 0);
  size_t at = 0;
  for (size_t i = 0; i < stride; ++i) {
    std::memcpy(to.data + i * sizeof(T), from + at * sizeof(T), sizeof(T));
    for (size_t d = rank; d-- > 0;) {
      at += strides[d];
      if (++index[d] < dims[d]) break;
      at -= strides[d] * static_cast<size_t>(dims[d]);
      index[d] = 0;
    }
  }
}

void copy_elements(std::span<const std::byte> from, bool fortran_order, TensorObject& to) {
  if (from.empty()) return;
  if (!fortran_order || to.rank < 2) {
    std::memcpy(to.data, from.data(), from.size());
  } else {
    switch (dtype_bytes(to.dtype)) {
      case 1:
        copy_from_fortran<uint8_t>(from.data(), to);
        break;
      case 2:
        copy_from_fortran<uint16_t>(from.data(), to);
        break;
      case 4:
        copy_from_fortran<uint32_t>(from.data(), to);
        break;
      default:
        copy_from_fortran<uint64_t>(from.data(), to);
        break;
    }
  }
  if (to.dtype == DType::Bool)
    for (size_t i = 0; i < to.bytes; ++i) to.data[i] = std::byte{to.data[i] != std::byte{0}};
}

// The size that the header asks for; CorruptFile where no tensor has it.
size_t data_size(DType dtype, std::span<const int64_t> dims, std::string_view what) {
  try {
    return byte_size(dtype, dims);
  } catch (const Error& error) {
    fail(ErrorCode::CorruptFile, "{}: {}", what, error.what());
  }
}

}  // namespace

Ref<TensorObject> decode_npy(std::span<const std::byte> bytes, std::string_view what, ObjectPool* pool) {
  ByteReader reader(bytes, what);
  const NpyHeader header = read_header(reader, what);
  const DType dtype = dtype_of(header.descr, what);
  const size_t size = data_size(dtype, header.shape, what);
  if (size != reader.left())
    fail(ErrorCode::CorruptFile, "{}: shape {} of {} needs {} bytes of elements, but {} follow the header", what,
         shape_text(header.shape), dtype_name(dtype), size, reader.left());
  auto tensor = make_tensor(pool, dtype, header.shape);
  copy_elements(reader.get_bytes(size), header.fortran_order, *tensor);
  return tensor;
}

Ref<TensorObject> read_npy(const std::filesystem::path& path, ObjectPool* pool) {
  return decode_npy(read_file(path).bytes, path.string(), pool);
}

std::vector<std::byte> encode_npy(const TensorObject& tensor) {
  if (tensor.layout != Layout::RowMajor) return encode_npy(*copy_tensor(nullptr, tensor));
  const auto type = std::ranges::find(kTypes, tensor.dtype, &NpyType::dtype);
  if (type == std::end(kTypes))
    fail(ErrorCode::Unsupported, "tensors of dtype {} cannot be written as .npy", dtype_name(tensor.dtype));
  std::string header =
      format_npy_header({std::string(type->descr), false, {tensor.dims().begin(), tensor.dims().end()}});
  constexpr size_t kPrefix = kMagic.size() + 4;
  header.append((0 - (kPrefix + header.size() + 1)) % 64, ' ');
  header += '\n';

  ByteWriter writer;
  writer.put_bytes(std::as_bytes(std::span(kMagic)));
  writer.put(uint8_t{1});
  writer.put(uint8_t{0});
  writer.put(static_cast<uint16_t>(header.size()));
  writer.put_bytes(std::as_bytes(std::span(header)));
  writer.put_bytes({tensor.data, tensor.bytes});
  return writer.take();
}

void write_npy(const std::filesystem::path& path, const TensorObject& tensor) {
  const auto bytes = encode_npy(tensor);
  save_file(path, [&](const ByteSink& sink) { sink(bytes); });
}

}  // namespace ingot
