#include "compiler/onnx/tensor.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/half.h"
#include "runtime/object/objects.h"

namespace ingot::onnx_import {
namespace {

template <typename Element, typename Field>
void fill(TensorObject& into, const Field& values) {
  for (int i = 0; i < values.size(); ++i) into.elements<Element>()[i] = static_cast<Element>(values[i]);
}

// 16-bit floats travel as the bits of int32_data.
void fill_bits(TensorObject& into, const google::protobuf::RepeatedField<int32_t>& values) {
  fill<uint16_t>(into, values);
}

}  // namespace

// Values of TensorProto.DataType that are newer than the library.
constexpr int32_t kFloat8E4M3FN = 17, kFloat8E4M3FNUZ = 18, kFloat8E5M2 = 19, kFloat8E5M2FNUZ = 20, kUInt4 = 21,
                  kInt4 = 22, kFloat4E2M1 = 23, kFloat8E8M0 = 24, kUInt2 = 25, kInt2 = 26;

DType dtype_of(int32_t onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto::FLOAT:
      return DType::Float32;
    case onnx::TensorProto::DOUBLE:
      return DType::Float64;
    case onnx::TensorProto::FLOAT16:
      return DType::Float16;
    case onnx::TensorProto::BFLOAT16:
      return DType::BFloat16;
    case onnx::TensorProto::INT8:
      return DType::Int8;
    case onnx::TensorProto::INT16:
      return DType::Int16;
    case onnx::TensorProto::INT32:
      return DType::Int32;
    case onnx::TensorProto::INT64:
      return DType::Int64;
    case onnx::TensorProto::UINT8:
      return DType::UInt8;
    case onnx::TensorProto::UINT16:
      return DType::UInt16;
    case onnx::TensorProto::UINT32:
      return DType::UInt32;
    case onnx::TensorProto::UINT64:
      return DType::UInt64;
    case onnx::TensorProto::BOOL:
      return DType::Bool;
    case onnx::TensorProto::STRING:
      return DType::String;
    case kInt4:
    case kInt2:
      return DType::Int8;
    case kUInt4:
    case kUInt2:
      return DType::UInt8;
    case kFloat8E4M3FN:
    case kFloat8E4M3FNUZ:
    case kFloat8E5M2:
    case kFloat8E5M2FNUZ:
    case kFloat4E2M1:
    case kFloat8E8M0:
      return DType::Float32;
    default:
      break;
  }
  const std::string& name = onnx::TensorProto::DataType_IsValid(onnx_type)
                                ? onnx::TensorProto::DataType_Name(onnx::TensorProto::DataType(onnx_type))
                                : "";
  fail(ErrorCode::Unsupported, "element type {} {} is not supported", onnx_type, name);
}

int32_t onnx_type_of(DType dtype) {
  for (int32_t type = 1; type <= onnx::TensorProto::BFLOAT16; ++type)
    if (type != onnx::TensorProto::COMPLEX64 && type != onnx::TensorProto::COMPLEX128 && dtype_of(type) == dtype)
      return type;
  fail(ErrorCode::Internal, "there is no element type for {}", dtype_name(dtype));
}

std::optional<StoredRange> stored_range(int32_t onnx_type) {
  switch (onnx_type) {
    case kInt4:
      return StoredRange{-8, 7};
    case kUInt4:
      return StoredRange{0, 15};
    case kInt2:
      return StoredRange{-2, 1};
    case kUInt2:
      return StoredRange{0, 3};
    default:
      return std::nullopt;
  }
}

bool is_float4(int32_t onnx_type) { return onnx_type == kFloat4E2M1; }

bool stores_only(int32_t onnx_type) { return onnx_type >= kFloat8E4M3FN && onnx_type <= kInt2; }

namespace {

// A float of one byte or less: sign, exponent, mantissa; `finite`: no infinities (one NaN), `unsigned_zero`: NaN is
// negative zero and the bias is one more.
float small_float(uint8_t bits, int exponent_bits, int mantissa_bits, bool finite, bool unsigned_zero) {
  const int width = 1 + exponent_bits + mantissa_bits;
  const int sign = bits >> (width - 1) & 1;
  const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - (unsigned_zero ? 0 : 1);
  const int top = (1 << exponent_bits) - 1;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (unsigned_zero && sign == 1 && exponent == 0 && mantissa == 0) return nan;
  if (!unsigned_zero && width == 8 && exponent == top) {
    if (finite && mantissa == (1 << mantissa_bits) - 1) return nan;
    if (!finite) return mantissa != 0 ? nan : sign != 0 ? -INFINITY : INFINITY;
  }
  const float fraction = static_cast<float>(mantissa) / static_cast<float>(1 << mantissa_bits);
  const float value = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return sign != 0 ? -value : value;
}

float small_float(int32_t type, uint8_t bits) {
  switch (type) {
    case kFloat8E4M3FN:
      return small_float(bits, 4, 3, true, false);
    case kFloat8E4M3FNUZ:
      return small_float(bits, 4, 3, true, true);
    case kFloat8E5M2:
      return small_float(bits, 5, 2, false, false);
    case kFloat8E5M2FNUZ:
      return small_float(bits, 5, 2, true, true);
    case kFloat8E8M0:
      return bits == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0F, bits - 127);
    default:
      return small_float(bits, 2, 1, true, false);
  }
}

// How many elements of a type that only stores numbers share a byte.
unsigned per_byte(int32_t type) {
  if (type == kInt2 || type == kUInt2) return 4;
  return type == kInt4 || type == kUInt4 || type == kFloat4E2M1 ? 2 : 1;
}

size_t stored_bytes(int32_t type, size_t count) { return count / per_byte(type) + (count % per_byte(type) != 0); }

// Elements that only store numbers, from bytes: those that share one begin with the lowest bits.
Ref<TensorObject> read_stored(int32_t type, std::span<const uint8_t> bytes, const std::vector<int64_t>& dims) {
  auto result = make_tensor(nullptr, dtype_of(type), dims);
  const size_t count = element_count(dims);
  for (size_t i = 0; i < count; ++i) {
    const unsigned shared = per_byte(type), width = 8 / shared;
    const auto bits = static_cast<uint8_t>(bytes[i / shared] >> (i % shared * width) & ((1U << width) - 1));
    if (type == kInt4 || type == kInt2) {
      const int sign = 1 << (width - 1);
      result->elements<int8_t>()[i] = static_cast<int8_t>(bits >= sign ? bits - 2 * sign : bits);
    } else if (type == kUInt4 || type == kUInt2) {
      result->elements<uint8_t>()[i] = bits;
    } else {
      result->elements<float>()[i] = small_float(type, bits);
    }
  }
  return result;
}

struct External {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// The bytes that a tensor names in another file. Each part of the path is looked at, so that no link leads outside.
External open_external(const onnx::TensorProto& tensor, const std::string& folder, size_t expected) {
  namespace fs = std::filesystem;
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  const auto number = [&](const std::string& text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      fail(ErrorCode::CorruptFile, "tensor '{}': '{}' is no number of bytes", tensor.name(), text);
    return value;
  };
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = number(entry.value());
    if (entry.key() == "length") length = number(entry.value());
  }
  if (folder.empty())
    fail(ErrorCode::NotAllowed, "tensor '{}' has its data in '{}', but the model comes from no folder", tensor.name(),
         location);
  const fs::path relative(location);
  if (location.empty() || relative.is_absolute())
    fail(ErrorCode::NotAllowed, "tensor '{}' has its data in '{}', which is no path inside of the model's folder",
         tensor.name(), location);
  fs::path path(folder);
  for (const auto& part : relative) {
    if (part == "..")
      fail(ErrorCode::NotAllowed, "tensor '{}' has its data in '{}', which leads out of the model's folder",
           tensor.name(), location);
    path /= part;
    if (fs::is_symlink(fs::symlink_status(path)))
      fail(ErrorCode::NotAllowed, "tensor '{}' has its data in '{}', which is or lies behind a link", tensor.name(),
           location);
  }
  if (!fs::is_regular_file(path))
    fail(ErrorCode::Io, "tensor '{}': there is no file '{}' beside the model", tensor.name(), location);
  const FileBytes file = map_file(path);
  const uint64_t size = file.bytes.size();
  if (offset > size || length.value_or(expected) > size - offset)
    fail(ErrorCode::CorruptFile, "tensor '{}': bytes {} to {} of '{}' are needed, it has {}", tensor.name(), offset,
         offset + length.value_or(expected), location, size);
  return {file.bytes.subspan(offset, length.value_or(expected)), file.owner};
}

}  // namespace

Ref<TensorObject> read_tensor(const onnx::TensorProto& tensor, const std::string& folder) {
  const std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  if (dims.size() > kMaxRank)
    fail(ErrorCode::CorruptFile, "tensor '{}' has rank {}, at most {} is possible", tensor.name(), dims.size(),
         kMaxRank);
  const DType dtype = dtype_of(tensor.data_type());
  const size_t count = element_count(dims);
  const auto expect = [&](size_t given, size_t expected, std::string_view unit) {
    if (given != expected)
      fail(ErrorCode::CorruptFile, "tensor '{}' of shape {} needs {} {}, the file has {}", tensor.name(),
           shape_text(dims), expected, unit, given);
  };
  // Checked before memory is asked for: the shape alone is not to be trusted.
  const int32_t type = tensor.data_type();
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    const size_t bytes = stores_only(type) ? stored_bytes(type, count) : byte_size(dtype, dims);
    const External data = open_external(tensor, folder, bytes);
    expect(data.bytes.size(), bytes, "bytes");
    if (stores_only(type)) return read_stored(type, {reinterpret_cast<const uint8_t*>(data.bytes.data()), bytes}, dims);
    if (dtype == DType::String) fail(ErrorCode::Unsupported, "tensor '{}' has strings outside", tensor.name());
    if (reinterpret_cast<uintptr_t>(data.bytes.data()) % dtype_bytes(dtype) == 0) {
      auto mapped = wrap_tensor(nullptr, dtype, dims, const_cast<std::byte*>(data.bytes.data()),
                                std::const_pointer_cast<void>(data.owner));
      mapped->read_only = true;
      return mapped;
    }
    auto copy = make_tensor(nullptr, dtype, dims);
    std::memcpy(copy->data, data.bytes.data(), bytes);
    return copy;
  }
  if (stores_only(type)) {
    const size_t bytes = stored_bytes(type, count);
    if (tensor.has_raw_data()) {
      expect(tensor.raw_data().size(), bytes, "bytes");
      return read_stored(type, {reinterpret_cast<const uint8_t*>(tensor.raw_data().data()), bytes}, dims);
    }
    expect(static_cast<size_t>(tensor.int32_data_size()), bytes, "elements");
    std::vector<uint8_t> values;
    for (const int32_t value : tensor.int32_data()) values.push_back(static_cast<uint8_t>(value));
    return read_stored(type, values, dims);
  }
  if (dtype == DType::String) {
    expect(static_cast<size_t>(tensor.string_data_size()), count, "elements");
    auto result = make_tensor(nullptr, dtype, dims);
    for (int i = 0; i < tensor.string_data_size(); ++i)
      result->elements<StringObject*>()[i] = make_string(nullptr, tensor.string_data(i)).detach();
    return result;
  }
  if (tensor.has_raw_data()) {
    expect(tensor.raw_data().size(), byte_size(dtype, dims), "bytes");
  } else {
    const int typed = dtype == DType::Float32                            ? tensor.float_data_size()
                      : dtype == DType::Float64                          ? tensor.double_data_size()
                      : dtype == DType::Int64                            ? tensor.int64_data_size()
                      : dtype == DType::UInt32 || dtype == DType::UInt64 ? tensor.uint64_data_size()
                                                                         : tensor.int32_data_size();
    expect(static_cast<size_t>(typed), count, "elements");
  }
  auto result = make_tensor(nullptr, dtype, dims);
  if (tensor.has_raw_data()) {
    std::memcpy(result->data, tensor.raw_data().data(), result->bytes);
    return result;
  }
  switch (dtype) {
    case DType::Float32:
      fill<float>(*result, tensor.float_data());
      break;
    case DType::Float64:
      fill<double>(*result, tensor.double_data());
      break;
    case DType::Int64:
      fill<int64_t>(*result, tensor.int64_data());
      break;
    case DType::UInt64:
      fill<uint64_t>(*result, tensor.uint64_data());
      break;
    case DType::UInt32:
      fill<uint32_t>(*result, tensor.uint64_data());
      break;
    case DType::Int32:
      fill<int32_t>(*result, tensor.int32_data());
      break;
    case DType::Int16:
      fill<int16_t>(*result, tensor.int32_data());
      break;
    case DType::Int8:
      fill<int8_t>(*result, tensor.int32_data());
      break;
    case DType::UInt16:
      fill<uint16_t>(*result, tensor.int32_data());
      break;
    case DType::UInt8:
      fill<uint8_t>(*result, tensor.int32_data());
      break;
    case DType::Float16:
    case DType::BFloat16:
      fill_bits(*result, tensor.int32_data());
      break;
    case DType::Bool:
      for (int i = 0; i < tensor.int32_data_size(); ++i)
        result->elements<uint8_t>()[i] = tensor.int32_data(i) != 0 ? 1 : 0;
      break;
    case DType::None:
    case DType::String:
      break;
  }
  return result;
}

// A few bytes of a file can name any number of zeros.
constexpr size_t kMaxDenseBytes = size_t{1} << 30;

Ref<TensorObject> read_sparse_tensor(const onnx::SparseTensorProto& sparse, const std::string& folder) {
  const auto values = read_tensor(sparse.values(), folder);
  const auto indices = read_tensor(sparse.indices(), folder);
  const std::vector<int64_t> dims(sparse.dims().begin(), sparse.dims().end());
  const std::string& name = sparse.values().name();
  const bool flat = indices->rank == 1;
  if (values->rank != 1 || indices->dtype != DType::Int64 || indices->rank < 1 || indices->rank > 2 ||
      indices->dims()[0] != values->dims()[0] || (!flat && static_cast<size_t>(indices->dims()[1]) != dims.size()) ||
      values->dtype == DType::String)
    fail(ErrorCode::CorruptFile, "sparse tensor '{}': {} values and indices of shape {} do not fit", name,
         shape_text(values->dims()), shape_text(indices->dims()));
  if (byte_size(values->dtype, dims) > kMaxDenseBytes)
    fail(ErrorCode::Unsupported,
         "sparse tensor '{}' of shape {} has {} bytes when all elements are there, {} are the most", name,
         shape_text(dims), byte_size(values->dtype, dims), kMaxDenseBytes);
  auto result = make_tensor(nullptr, values->dtype, dims);
  std::memset(result->data, 0, result->bytes);
  const auto count = static_cast<int64_t>(element_count(dims));
  const size_t bytes = dtype_bytes(values->dtype);
  for (int64_t i = 0; i < values->dims()[0]; ++i) {
    int64_t place = 0;
    if (flat) {
      place = indices->elements<int64_t>()[i];
    } else {
      for (size_t d = 0; d < dims.size(); ++d) {
        const int64_t at =
            indices->elements<int64_t>()[i * static_cast<int64_t>(dims.size()) + static_cast<int64_t>(d)];
        if (at < 0 || at >= dims[d])
          fail(ErrorCode::CorruptFile, "sparse tensor '{}': index {} is outside of {}", name, at, dims[d]);
        place = place * dims[d] + at;
      }
    }
    if (place < 0 || place >= count)
      fail(ErrorCode::CorruptFile, "sparse tensor '{}': index {} is outside of {}", name, place, count);
    std::memcpy(result->data + static_cast<size_t>(place) * bytes, values->data + static_cast<size_t>(i) * bytes,
                bytes);
  }
  return result;
}

}  // namespace ingot::onnx_import
