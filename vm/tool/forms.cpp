#include "vm/tool/forms.h"

#include <charconv>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/npy.h"
#include "runtime/tensor/npz.h"
#include "runtime/tensor/tensor_text.h"

namespace ingot::tool {
namespace {

// "2x3xf32" or "f32".
bool is_tensor_type(std::string_view text) {
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    const size_t end = text.find('x');
    if (end == std::string_view::npos || text.find_first_not_of("0123456789") != end) return false;
    text.remove_prefix(end + 1);
  }
  const auto dtype = parse_dtype(text);
  return dtype && dtype_info(*dtype).brief == text;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Numbers between commas; nullopt where something else stands there.
std::optional<std::vector<int64_t>> parse_numbers(std::string_view text) {
  std::vector<int64_t> numbers;
  text = trimmed(text);
  while (!text.empty()) {
    const std::string_view item = trimmed(text.substr(0, text.find(',')));
    text.remove_prefix(
        std::min(text.size(), text.find(',') == std::string_view::npos ? text.size() : text.find(',') + 1));
    int64_t number = 0;
    const auto result = std::from_chars(item.data(), item.data() + item.size(), number);
    if (item.empty() || result.ec != std::errc() || result.ptr != item.data() + item.size()) return std::nullopt;
    numbers.push_back(number);
    text = trimmed(text);
  }
  return numbers;
}

// What stands between `opening` and the `)` at the end.
std::optional<std::string_view> inside(std::string_view text, std::string_view opening) {
  if (!text.starts_with(opening) || !text.ends_with(")")) return std::nullopt;
  return text.substr(opening.size(), text.size() - opening.size() - 1);
}

Ref<TensorObject> read_tensor(const std::string& place) {
  const size_t entry = place.find(".npz:");
  if (entry != std::string::npos) return read_npz(place.substr(0, entry + 4), place.substr(entry + 5));
  return read_npy(place);
}

Value parse_prim(std::string_view text) {
  if (text == "True" || text == "true") return Value::prim(true);
  if (text == "False" || text == "false") return Value::prim(false);
  int64_t integer = 0;
  const char* const end = text.data() + text.size();
  const auto whole = std::from_chars(text.data(), end, integer);
  if (whole.ec == std::errc() && whole.ptr == end) return Value::prim(integer);
  double number = 0;
  const auto real = std::from_chars(text.data(), end, number);
  if (real.ec != std::errc() || real.ptr != end)
    fail(ErrorCode::InvalidArgument, "prim({}) is no number and no truth value", text);
  return Value::prim(number);
}

}  // namespace

NamedForm split_form(std::string_view text) {
  const size_t equals = text.find('=');
  const bool positional = text.starts_with('@') || equals == std::string_view::npos ||
                          is_tensor_type(text.substr(0, equals)) || text.find_first_of("(\"") < equals;
  if (positional) return {"", std::string(text)};
  std::string_view name = text.substr(0, equals);
  if (name.starts_with('%')) name.remove_prefix(1);
  return {std::string(name), std::string(text.substr(equals + 1))};
}

std::optional<Value> random_value(std::string_view info, uint64_t seed) {
  const auto inner = info.starts_with("Tensor[(") && info.ends_with("]")
                         ? std::optional(info.substr(8, info.size() - 9))
                         : std::nullopt;
  if (!inner) return std::nullopt;
  const size_t close = inner->rfind("), ");
  if (close == std::string_view::npos) return std::nullopt;
  const auto dims = parse_numbers(inner->substr(0, close));
  const auto dtype = parse_dtype(inner->substr(close + 3));
  if (!dims || !dtype || *dtype == DType::String) return std::nullopt;
  auto tensor = make_tensor(nullptr, *dtype, *dims);
  fill_random(*tensor, seed);
  return to_value(std::move(tensor));
}

Value parse_form(const std::string& form, std::string_view info, uint64_t seed) {
  if (form.starts_with('@')) return to_value(read_tensor(form.substr(1)));
  if (form == "random") {
    auto value = random_value(info, seed);
    if (!value)
      fail(ErrorCode::InvalidArgument, "random needs known dimensions, the parameter is {}; write 2x3xf32=random",
           info);
    return *value;
  }
  if (const auto dims = inside(form, "shape(")) {
    const auto numbers = parse_numbers(*dims);
    if (!numbers) fail(ErrorCode::InvalidArgument, "'{}' is no shape; write shape(2, 3)", form);
    return Value(make_shape(nullptr, *numbers));
  }
  if (const auto number = inside(form, "prim(")) return parse_prim(trimmed(*number));
  if (form.size() >= 2 && form.front() == '"' && form.back() == '"')
    return Value(make_string(nullptr, std::string_view(form).substr(1, form.size() - 2)));
  return to_value(parse_tensor(form, seed));
}

api::Value to_api(const Value& value) {
  switch (value.kind()) {
    case Kind::Tensor: {
      const auto* tensor = value.get<TensorObject>();
      if (tensor->dtype == DType::String)
        fail(ErrorCode::Unsupported, "tensors of strings cannot be given to a run yet");
      const std::span<const std::byte> bytes(tensor->data, tensor->bytes);
      return api::Value::wrap(static_cast<ingot_dtype>(tensor->dtype), bytes.data(), tensor->dims(), [value] {});
    }
    case Kind::Scalar:
      return api::Value::tensor(static_cast<ingot_dtype>(value.slot().dtype), value.slot().payload(), {});
    case Kind::Shape:
      return api::Value::shape(value.get<ShapeObject>()->dims());
    case Kind::Prim:
      if (value.slot().dtype == DType::Float64) return api::Value::prim_float(value.slot().as<double>());
      if (value.slot().dtype == DType::Bool) return api::Value::prim_bool(value.slot().bits != 0);
      return api::Value::prim(value.slot().as<int64_t>());
    case Kind::String:
      return api::Value::text(value.get<StringObject>()->text());
    default:
      fail(ErrorCode::Unsupported, "values of kind {} cannot be given to a run", kind_name(value.kind()));
  }
}

Ref<TensorObject> to_runtime_tensor(const api::Value& value) {
  if (value.kind() != INGOT_TENSOR && value.kind() != INGOT_SCALAR) return {};
  auto owner = std::make_shared<api::Value>(value);
  const api::TensorView view = owner->tensor_view();
  if (view.dtype == INGOT_STRING) return {};
  // wrap_tensor's users only read.
  auto* data = static_cast<std::byte*>(const_cast<void*>(view.data));
  return wrap_tensor(nullptr, static_cast<DType>(view.dtype), view.dims, data, owner);
}

}  // namespace ingot::tool
