#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ingot {

//   X(Name, name in programs, short name of literals and of --input, C++ type of one element, bytes, class)
// The numbers are part of the file format: append only.
#define INGOT_FOR_EACH_NUMERIC_DTYPE(X)             \
  X(Int8, "int8", "i8", int8_t, 1, Signed)          \
  X(Int16, "int16", "i16", int16_t, 2, Signed)      \
  X(Int32, "int32", "i32", int32_t, 4, Signed)      \
  X(Int64, "int64", "i64", int64_t, 8, Signed)      \
  X(UInt8, "uint8", "u8", uint8_t, 1, Unsigned)     \
  X(UInt16, "uint16", "u16", uint16_t, 2, Unsigned) \
  X(UInt32, "uint32", "u32", uint32_t, 4, Unsigned) \
  X(UInt64, "uint64", "u64", uint64_t, 8, Unsigned) \
  X(Float16, "float16", "f16", Half, 2, Float)      \
  X(BFloat16, "bfloat16", "bf16", BHalf, 2, Float)  \
  X(Float32, "float32", "f32", float, 4, Float)     \
  X(Float64, "float64", "f64", double, 8, Float)

#define INGOT_FOR_EACH_DTYPE(X)             \
  X(Bool, "bool", "bool", bool, 1, Boolean) \
  INGOT_FOR_EACH_NUMERIC_DTYPE(X)

// The type of a tensor's elements. `None` stands for "not known" in StructInfo and for "no elements" in values that are
// not tensors. A `Bool` is one byte, written 0 or 1 and read as != 0. A `String` element is a reference to a
// StringObject.
enum class DType : uint8_t {
  None,
#define X(name, text, brief, type, bytes, cls) name,
  INGOT_FOR_EACH_DTYPE(X)
#undef X
      String,
};

inline constexpr size_t kDTypeCount = static_cast<size_t>(DType::String) + 1;

enum class DTypeClass : uint8_t { None, Boolean, Signed, Unsigned, Float, String };

struct DTypeInfo {
  std::string_view name;
  std::string_view brief;
  uint8_t bytes;
  DTypeClass cls;
};

inline constexpr std::array<DTypeInfo, kDTypeCount> kDTypes = {{
    {"none", "none", 0, DTypeClass::None},
#define X(name, text, brief, type, bytes, cls) {text, brief, bytes, DTypeClass::cls},
    INGOT_FOR_EACH_DTYPE(X)
#undef X
        {"string", "str", 8, DTypeClass::String},
}};

constexpr const DTypeInfo& dtype_info(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }
constexpr size_t dtype_bytes(DType dtype) { return dtype_info(dtype).bytes; }
constexpr std::string_view dtype_name(DType dtype) { return dtype_info(dtype).name; }
constexpr bool is_float(DType dtype) { return dtype_info(dtype).cls == DTypeClass::Float; }
constexpr bool is_signed_int(DType dtype) { return dtype_info(dtype).cls == DTypeClass::Signed; }
constexpr bool is_unsigned_int(DType dtype) { return dtype_info(dtype).cls == DTypeClass::Unsigned; }
constexpr bool is_integer(DType dtype) { return is_signed_int(dtype) || is_unsigned_int(dtype); }

// Accepts the name in programs ("float32") and the short one ("f32"); nullopt for anything else and for "none".
constexpr std::optional<DType> parse_dtype(std::string_view text) {
  for (size_t i = 1; i < kDTypeCount; ++i)
    if (kDTypes[i].name == text || kDTypes[i].brief == text) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace ingot
