#include "vm/executable/text_constant.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/base/checked.h"
#include "runtime/base/file.h"
#include "runtime/tensor/element_text.h"
#include "vm/executable/text_info.h"

namespace ingot::vm {
namespace {

// More elements than this are printed as bytes.
constexpr size_t kMaxListed = 16;

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(bytes.size() / 3 * 4 + 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? std::to_integer<uint32_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::vector<std::byte> from_base64(std::string_view text, const TextScanner& in, size_t place) {
  std::array<int8_t, 256> values;
  values.fill(-1);
  for (size_t i = 0; i < kDigits.size(); ++i) values[static_cast<uint8_t>(kDigits[i])] = static_cast<int8_t>(i);
  if (text.size() % 4 != 0) in.fail_at(place, "base64 comes in groups of four");
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool is_last = i + 4 == text.size();
    size_t digits = 4;
    while (is_last && digits > 2 && text[i + digits - 1] == '=') --digits;
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int value = k < digits ? values[static_cast<uint8_t>(text[i + k])] : 0;
      if (value < 0) in.fail_at(place, fmt::format("character {} is no base64", i + k + 1));
      group = group << 6 | static_cast<uint32_t>(value);
    }
    for (size_t k = 0; k + 1 < digits; ++k) bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * k)));
  }
  return bytes;
}

std::string numbers(std::span<const int64_t> values) {
  return fmt::format("({}{})", fmt::join(values, ", "), values.size() == 1 ? "," : "");
}

// The element as text; empty where that would not give the same bits back.
std::string element_text(DType dtype, const std::byte* element) {
  std::string text;
  append_element(text, dtype, element);
  std::array<std::byte, 8> back{};
  parse_element(text, dtype, back.data());
  return std::memcmp(back.data(), element, dtype_bytes(dtype)) == 0 ? text : std::string();
}

std::string elements_text(const Constant& constant) {
  const size_t size = dtype_bytes(constant.dtype);
  if (size == 0 || constant.bytes.size() > kMaxListed * size || constant.bytes.size() % size != 0) return {};
  std::string all = "{";
  for (size_t i = 0; i < constant.bytes.size(); i += size) {
    const std::string text = element_text(constant.dtype, constant.bytes.data() + i);
    if (text.empty()) return {};
    all += (i == 0 ? "" : ", ") + text;
  }
  return all + "}";
}

std::string payload_text(const Constant& constant) {
  std::array<std::byte, 8> bytes;
  std::memcpy(bytes.data(), &constant.bits, sizeof constant.bits);
  const size_t size = constant.dtype == DType::String ? 0 : dtype_bytes(constant.dtype);
  const bool is_plain = size != 0 && (size == 8 || constant.bits >> (8 * size) == 0);
  const std::string text = is_plain ? element_text(constant.dtype, bytes.data()) : std::string();
  return text.empty() ? fmt::format("bits {:#x}", constant.bits) : text;
}

std::vector<int64_t> parse_numbers(TextScanner& in) {
  std::vector<int64_t> values;
  in.expect("(");
  while (!in.comes(")")) {
    values.push_back(in.integer());
    if (!in.accept(",")) break;
  }
  in.expect(")");
  return values;
}

// `text` stands at `place`.
void parse_element_at(const TextScanner& in, size_t place, std::string_view text, DType dtype, void* element) {
  try {
    parse_element(text, dtype, element);
  } catch (const Error& error) {
    in.fail_at(place, error.what());
  }
}

std::vector<std::byte> parse_elements(TextScanner& in, DType dtype) {
  const size_t place = in.offset();
  if (in.accept("base64")) {
    const std::string text = in.string();
    return from_base64(text, in, place);
  }
  std::vector<std::byte> bytes;
  in.expect("{");
  while (!in.comes("}")) {
    const size_t at = in.offset();
    const std::string_view text = in.number();
    bytes.resize(bytes.size() + dtype_bytes(dtype));
    parse_element_at(in, at, text, dtype, bytes.data() + bytes.size() - dtype_bytes(dtype));
    if (!in.accept(",")) break;
  }
  in.expect("}");
  return bytes;
}

std::vector<std::string> parse_strings(TextScanner& in) {
  std::vector<std::string> strings;
  in.expect("{");
  while (!in.comes("}")) {
    strings.push_back(in.string());
    if (!in.accept(",")) break;
  }
  in.expect("}");
  return strings;
}

}  // namespace

std::string print_constant(const Constant& constant) {
  switch (constant.kind) {
    case Kind::None:
      return "none";
    case Kind::Scalar:
      return fmt::format("scalar {} {}", dtype_name(constant.dtype), payload_text(constant));
    case Kind::Prim:
      return fmt::format("prim {} {}", dtype_name(constant.dtype), payload_text(constant));
    case Kind::DType:
      if (constant.bits < kDTypeCount) return fmt::format("dtype {}", dtype_name(static_cast<DType>(constant.bits)));
      break;
    case Kind::Shape:
      return fmt::format("shape {}", numbers(constant.dims));
    case Kind::String:
      return fmt::format("string {}", ingot::quoted(constant.text));
    case Kind::Tensor: {
      const std::string head = fmt::format("tensor {} {}", dtype_name(constant.dtype), numbers(constant.dims));
      if (constant.dtype == DType::String) {
        std::string all;
        for (const std::string& text : constant.strings) all += (all.empty() ? "" : ", ") + ingot::quoted(text);
        return fmt::format("{} {{{}}}", head, all);
      }
      const std::string listed = elements_text(constant);
      if (!listed.empty()) return fmt::format("{} {}", head, listed);
      return fmt::format("{} base64 \"{}\"", head, to_base64(constant.bytes));
    }
    default:
      break;
  }
  fail(ErrorCode::CorruptFile, "there are no constants of kind {}", static_cast<int>(constant.kind));
}

Constant parse_constant(TextScanner& in, std::vector<std::shared_ptr<const void>>& owners) {
  Constant constant;
  const size_t start = in.offset();
  const std::string_view kind = in.word("a constant's kind");
  InfoParser infos(in);
  if (kind == "none") return constant;
  if (kind == "shape") {
    constant.kind = Kind::Shape;
    constant.dims = parse_numbers(in);
  } else if (kind == "string") {
    constant.kind = Kind::String;
    constant.text = in.string();
  } else if (kind == "dtype") {
    constant.kind = Kind::DType;
    constant.bits = static_cast<uint64_t>(infos.dtype());
  } else if (kind == "scalar" || kind == "prim") {
    constant.kind = kind == "scalar" ? Kind::Scalar : Kind::Prim;
    constant.dtype = infos.dtype();
    if (in.accept("bits")) {
      constant.bits = in.hex();
    } else {
      const size_t at = in.offset();
      parse_element_at(in, at, in.number(), constant.dtype, &constant.bits);
    }
  } else if (kind == "tensor") {
    constant.kind = Kind::Tensor;
    constant.dtype = infos.dtype();
    constant.dims = parse_numbers(in);
    if (constant.dtype == DType::String) {
      constant.strings = parse_strings(in);
    } else {
      const FileBytes bytes = copy_bytes(parse_elements(in, constant.dtype));
      constant.bytes = bytes.bytes;
      owners.push_back(bytes.owner);
    }
  } else {
    in.fail_at(start, fmt::format("there are no constants of kind {}", kind));
  }
  return constant;
}

}  // namespace ingot::vm
