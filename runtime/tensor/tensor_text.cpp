#include "runtime/tensor/tensor_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/element_text.h"

namespace ingot {
namespace {

struct TensorType {
  DType dtype;
  std::vector<int64_t> dims;
};

[[noreturn]] void refuse(std::string_view text, std::string_view reason) {
  constexpr size_t kShown = 40;
  const std::string_view dots = text.size() > kShown ? "..." : "";
  fail(ErrorCode::InvalidArgument, "'{}{}' is not a tensor: {}; wanted is a form like 2x3xf32=1 2 3 4 5 6 or f32=1.5",
       text.substr(0, kShown), dots, reason);
}

TensorType parse_type(std::string_view text, std::string_view whole) {
  TensorType type;
  while (true) {
    const size_t x = text.find('x');
    const std::string_view part = text.substr(0, x);
    const bool is_dim = !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_dim) break;
    int64_t dim = 0;
    if (std::from_chars(part.data(), part.data() + part.size(), dim).ec != std::errc())
      refuse(whole, fmt::format("dimension {} does not fit int64", part));
    type.dims.push_back(dim);
    if (x == std::string_view::npos) refuse(whole, "there is no dtype behind the dimensions");
    text.remove_prefix(x + 1);
  }
  const auto dtype = parse_dtype(text);
  if (!dtype) refuse(whole, fmt::format("'{}' is not a dtype", text));
  type.dtype = *dtype;
  return type;
}

constexpr std::string_view kSeparators = " ,\t\r\n";

// Takes the next element, without the separators around it; empty at the end. A quoted one keeps its quotes.
std::string_view take_token(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSeparators), text.size()));
  size_t end = 0;
  if (text.starts_with('"')) {
    for (end = 1; end < text.size() && text[end] != '"'; ++end)
      if (text[end] == '\\') ++end;
    end = std::min(end + 1, text.size());
  } else {
    end = std::min(text.find_first_of(kSeparators), text.size());
  }
  const std::string_view token = text.substr(0, end);
  text.remove_prefix(end);
  return token;
}

std::string unquoted(std::string_view token) {
  if (token.size() < 2 || !token.starts_with('"') || !token.ends_with('"'))
    fail(ErrorCode::InvalidArgument, "{} is not a string in quotes", token);
  token = token.substr(1, token.size() - 2);
  std::string text;
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '\\') {
      text += token[i];
      continue;
    }
    const char escape = ++i < token.size() ? token[i] : '\0';
    unsigned code = 0;
    if (escape == 'n') {
      text += '\n';
    } else if (escape == 't') {
      text += '\t';
    } else if (escape == '"' || escape == '\\') {
      text += escape;
    } else if (escape == 'x' && i + 2 < token.size() &&
               std::from_chars(token.data() + i + 1, token.data() + i + 3, code, 16).ptr == token.data() + i + 3) {
      text += static_cast<char>(code);
      i += 2;
    } else {
      fail(ErrorCode::InvalidArgument,
           "\"{}\" has an escape that is not known; there are \\n, \\t, \\\\, \\\" and \\xHH", token);
    }
  }
  return text;
}

// Fast, and the same on every machine (SplitMix64; Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

}  // namespace

void fill_random(TensorObject& tensor, uint64_t seed) {
  Random random(seed);
  with_element(tensor.dtype, [&]<typename T>() {
    for (size_t at = 0; at < tensor.bytes; at += sizeof(T)) {
      T element{};
      if constexpr (std::same_as<T, bool>) {
        element = (random.next() >> 63) != 0;
      } else if constexpr (IntElement<T>) {
        element = static_cast<T>(random.next() % 10);
      } else {
        // As many random bits as every float dtype but bfloat16 and float16 holds; those round, and 1 stays out.
        constexpr int kBits = std::same_as<T, BHalf> ? 8 : HalfElement<T> ? 11 : 24;
        element = convert<T>(std::ldexp(static_cast<double>(random.next() >> (64 - kBits)), -kBits));
      }
      store_element(tensor.data + at, element);
    }
  });
}

Ref<TensorObject> parse_tensor(std::string_view text, uint64_t seed) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) refuse(text, "there is no '='");
  const TensorType type = parse_type(text.substr(0, equals), text);
  const std::string type_text = tensor_type_text(type.dtype, type.dims);
  std::string_view elements = text.substr(equals + 1);
  const size_t count = element_count(type.dims);
  if (elements == "random") {
    if (type.dtype == DType::String) fail(ErrorCode::InvalidArgument, "{}: there are no random strings", type_text);
    auto tensor = make_tensor(nullptr, type.dtype, type.dims);
    fill_random(*tensor, seed);
    return tensor;
  }
  std::vector<std::string_view> tokens;
  for (auto token = take_token(elements); !token.empty(); token = take_token(elements)) tokens.push_back(token);
  if (tokens.size() != count)
    fail(ErrorCode::InvalidArgument, "{} has {} elements, but {} are given", type_text, count, tokens.size());
  auto tensor = make_tensor(nullptr, type.dtype, type.dims);
  for (size_t i = 0; i < count; ++i) {
    try {
      if (type.dtype == DType::String) {
        tensor->elements<StringObject*>()[i] = make_string(nullptr, unquoted(tokens[i])).detach();
      } else {
        parse_element(tokens[i], type.dtype, tensor->data + i * dtype_bytes(type.dtype));
      }
    } catch (Error& error) {
      error.add_context(fmt::format("{}: element {}", type_text, i));
      throw;
    }
  }
  return tensor;
}

std::string tensor_type_text(DType dtype, std::span<const int64_t> dims) {
  std::string text;
  for (const int64_t dim : dims) text += fmt::format("{}x", dim);
  return text.append(dtype_info(dtype).brief);
}

std::string tensor_text(const TensorObject& tensor, size_t limit) {
  if (tensor.layout != Layout::RowMajor) return tensor_text(*copy_tensor(nullptr, tensor), limit);
  std::string text = tensor_type_text(tensor.dtype, tensor.dims());
  text += '=';
  const size_t bytes = dtype_bytes(tensor.dtype);
  const size_t count = tensor.bytes / bytes;
  for (size_t i = 0; i < std::min(count, limit); ++i) {
    if (i > 0) text += ' ';
    if (tensor.dtype == DType::String) {
      const StringObject* string = tensor.elements<StringObject*>()[i];
      text += quoted(string != nullptr ? string->text() : "");
    } else {
      append_element(text, tensor.dtype, tensor.data + i * bytes);
    }
  }
  if (count > limit) text += limit > 0 ? " ..." : "...";
  return text;
}

}  // namespace ingot
