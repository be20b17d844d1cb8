#include <array>

#include <fmt/format.h>

#include "tests/compiler/generated_programs/writer.h"

namespace ingot::generated {
namespace {

std::string_view suffix(DType dtype) { return dtype_info(dtype).brief; }

}  // namespace

std::string Writer::literal(DType dtype) {
  if (dtype == DType::Bool) return choices_.chance(50) ? "True" : "False";
  if (is_float(dtype)) {
    static constexpr std::array kValues = {"1.0", "0.0", "2.0", "-1.0", "3.0", "-2.0", "0.5", "-1.5", "2.5"};
    const std::string value = kValues[choices_.pick(dtype == DType::BFloat16 ? 6 : kValues.size())];
    const bool bare = dtype == DType::Float32 && choices_.chance(30);
    if (bare && choices_.chance(5)) return choices_.chance(50) ? "inf" : "nan";
    const std::string text = bare ? value : fmt::format("{}{}", value, suffix(dtype));
    return value[0] == '-' ? fmt::format("({})", text) : text;
  }
  const int bits = static_cast<int>(8 * dtype_bytes(dtype));
  static constexpr std::array kSmall = {1, 0, 2, 3, 7, -1, -3};
  const bool is_signed = is_signed_int(dtype);
  const size_t which = choices_.pick(is_signed ? 9 : 6);
  if (which < (is_signed ? 7 : 5)) {
    const bool bare = dtype == DType::Int32 && choices_.chance(30);
    const std::string text = fmt::format("{}{}", kSmall[which], bare ? "" : suffix(dtype));
    return kSmall[which] < 0 ? fmt::format("({})", text) : text;
  }
  const uint64_t most = ~uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  if (!is_signed || which == 7) return fmt::format("{}{}", most, suffix(dtype));
  return fmt::format("(-{0}{1} - 1{1})", most, suffix(dtype));
}

std::string Writer::literal_zero(DType dtype) { return fmt::format("0{}", dtype_info(dtype).brief); }

std::string Writer::tensor_literal(const Type& type) {
  if (type.dims.empty()) return literal(type.dtype);
  bool known = true;
  size_t count = 1;
  for (const auto& dim : type.dims) {
    known = known && dim.size() == 1 && dim[0] >= '0' && dim[0] <= '9';
    if (known) count *= static_cast<size_t>(dim[0] - '0');
  }
  if (known && count > 0 && count <= 12 && choices_.chance(70)) {
    const std::function<std::string(size_t)> nest = [&](size_t axis) {
      std::vector<std::string> parts;
      for (int i = 0; i < type.dims[axis][0] - '0'; ++i) {
        if (axis + 1 < type.dims.size()) {
          parts.push_back(nest(axis + 1));
        } else if (type.dtype == DType::Bool) {
          parts.push_back(choices_.chance(50) ? "1" : "0");
        } else {
          const auto value = static_cast<int>(choices_.pick(6));
          parts.push_back(std::to_string(is_unsigned_int(type.dtype) ? value : value - 2));
        }
      }
      return fmt::format("[{}]", join(parts));
    };
    return fmt::format("Constant({}, {}, {})", nest(0), tuple_text(type.dims), dtype_name(type.dtype));
  }
  const std::string shape = fmt::format("shape({})", join(type.dims));
  switch (choices_.pick(3)) {
    case 0:
      return fmt::format("full({}, {})", literal(type.dtype), shape);
    case 1:
      return fmt::format("zeros({}, dtype=\"{}\")", shape, dtype_name(type.dtype));
    default:
      return fmt::format("ones({}, dtype=\"{}\")", shape, dtype_name(type.dtype));
  }
}

}  // namespace ingot::generated
