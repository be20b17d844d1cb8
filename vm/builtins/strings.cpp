#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

#include <utf8proc.h>

#include <re2/re2.h>

#include "vm/builtins/builtins.h"

// Tensors of strings.
namespace ingot::vm::builtins {
namespace {

std::string_view text_of(const TensorObject& x, size_t at) {
  const auto* string = x.elements<StringObject*>()[at];
  return string == nullptr ? std::string_view() : string->text();
}

void set_text(const Args& args, TensorObject& x, size_t at, std::string_view text) {
  x.elements<StringObject*>()[at] = make_string(args.pool(), text).detach();
}

// NumPy's broadcasting of two operands.
Dims broadcast_dims(const Args& args, const TensorObject& a, const TensorObject& b) {
  Dims dims(std::max(a.rank, b.rank), 1);
  for (const auto* x : {&a, &b})
    for (size_t d = 0; d < x->rank; ++d) {
      int64_t& dim = dims[dims.size() - x->rank + d];
      if (x->dims()[d] == 1) continue;
      if (dim != 1 && dim != x->dims()[d])
        args.fail(ErrorCode::ShapeMismatch, "shapes {} and {} do not broadcast", shape_text(a.dims()),
                  shape_text(b.dims()));
      dim = x->dims()[d];
    }
  return dims;
}

size_t broadcast_place(const TensorObject& x, const Dims& index) {
  int64_t place = 0;
  for (size_t d = 0; d < x.rank; ++d)
    place = place * x.dims()[d] + (x.dims()[d] == 1 ? 0 : index[index.size() - x.rank + d]);
  return static_cast<size_t>(place);
}

// By Unicode's simple mapping of each code point; bytes that are no UTF-8 stay.
std::string in_case(std::string_view text, bool upper) {
  std::string result;
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), std::ssize(text), &code);
    if (size <= 0) {
      result += text.front();
      text.remove_prefix(1);
      continue;
    }
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto written = utf8proc_encode_char(upper ? utf8proc_toupper(code) : utf8proc_tolower(code), bytes.data());
    result.append(bytes.begin(), bytes.begin() + written);
    text.remove_prefix(static_cast<size_t>(size));
  }
  return result;
}

}  // namespace

Value string_equal(const Args& args) {
  const auto a = args.tensor(0, DType::String), b = args.tensor(1, DType::String);
  const Dims dims = broadcast_dims(args, *a, *b);
  auto result = args.make(DType::Bool, dims);
  for_each_index(dims, [&](const Dims& index, size_t at) {
    result->elements<uint8_t>()[at] =
        text_of(*a, broadcast_place(*a, index)) == text_of(*b, broadcast_place(*b, index));
  });
  return to_value(std::move(result));
}

Value string_concat(const Args& args) {
  const auto a = args.tensor(0, DType::String), b = args.tensor(1, DType::String);
  const Dims dims = broadcast_dims(args, *a, *b);
  auto result = args.make(DType::String, dims);
  for_each_index(dims, [&](const Dims& index, size_t at) {
    std::string joined(text_of(*a, broadcast_place(*a, index)));
    joined += text_of(*b, broadcast_place(*b, index));
    set_text(args, *result, at, joined);
  });
  return to_value(std::move(result));
}

// Parts of each string, padded with empty ones, and how many each has.
Value string_split(const Args& args) {
  const auto x = args.tensor(0, DType::String);
  const std::string_view delimiter = args.text(1);
  const int64_t limit = args.integer(2);
  std::vector<std::vector<std::string>> all;
  size_t most = 0;
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  for (size_t at = 0; at < count_of(*x); ++at) {
    std::string_view rest = text_of(*x, at);
    auto& parts = all.emplace_back();
    const auto open = [&] { return limit < 0 || static_cast<int64_t>(parts.size()) < limit; };
    if (delimiter.empty()) {
      const auto strip = [&] { rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(kSpace))); };
      for (strip(); !rest.empty(); strip()) {
        const size_t end = open() ? rest.find_first_of(kSpace) : std::string_view::npos;
        std::string_view part = rest.substr(0, end);
        if (!open()) part = part.substr(0, part.find_last_not_of(kSpace) + 1);
        parts.emplace_back(part);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
      }
    } else if (!rest.empty()) {
      for (size_t end = rest.find(delimiter); open() && end != std::string_view::npos; end = rest.find(delimiter)) {
        parts.emplace_back(rest.substr(0, end));
        rest = rest.substr(end + delimiter.size());
      }
      parts.emplace_back(rest);
    }
    most = std::max(most, parts.size());
  }
  Dims dims = dims_of(*x);
  auto counts = args.make(DType::Int64, dims);
  dims.push_back(static_cast<int64_t>(most));
  auto result = args.make(DType::String, dims);
  for (size_t at = 0; at < all.size(); ++at) {
    counts->elements<int64_t>()[at] = static_cast<int64_t>(all[at].size());
    for (size_t i = 0; i < most; ++i)
      set_text(args, *result, at * most + i, i < all[at].size() ? all[at][i] : std::string());
  }
  return tuple_value(args.pool(), {Value(std::move(result)), to_value(std::move(counts))});
}

// RE2 takes time in proportion to the text, whatever the pattern, and does not recurse.
Value regex_full_match(const Args& args) {
  const auto x = args.tensor(0, DType::String);
  auto result = args.make(DType::Bool, x->dims());
  const std::string_view text = args.text(1);
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 pattern(re2::StringPiece(text.data(), text.size()), options);
  if (!pattern.ok()) args.fail(ErrorCode::InvalidArgument, "'{}' is no pattern: {}", text, pattern.error());
  for (size_t at = 0; at < count_of(*x); ++at) {
    const auto whole = text_of(*x, at);
    result->elements<uint8_t>()[at] = RE2::FullMatch(re2::StringPiece(whole.data(), whole.size()), pattern);
  }
  return to_value(std::move(result));
}

// (x, upper: -1 lower, 0 as it is, 1 upper; case sensitive; stop words)
Value string_normalize(const Args& args) {
  const auto x = args.tensor(0, DType::String);
  const int64_t to = args.integer(1);
  const bool sensitive = args.flag(2);
  if (x->rank == 0 || x->rank > 2 || (x->rank == 2 && x->dims()[0] != 1))
    args.fail(ErrorCode::ShapeMismatch, "strings of shape {}, (C) or (1, C) is wanted", shape_text(x->dims()));
  const auto key = [&](std::string_view text) { return sensitive ? std::string(text) : in_case(text, false); };
  std::set<std::string> stop;
  if (args.has(3)) {
    const auto words = args.tensor(3, DType::String);
    for (size_t i = 0; i < count_of(*words); ++i) stop.insert(key(text_of(*words, i)));
  }
  std::vector<std::string> kept;
  for (size_t at = 0; at < count_of(*x); ++at) {
    const auto text = text_of(*x, at);
    if (stop.contains(key(text))) continue;
    kept.push_back(to == 0 ? std::string(text) : in_case(text, to > 0));
  }
  if (kept.empty()) kept.emplace_back();
  Dims dims = dims_of(*x);
  dims.back() = static_cast<int64_t>(kept.size());
  auto result = args.make(DType::String, dims);
  for (size_t at = 0; at < kept.size(); ++at) set_text(args, *result, at, kept[at]);
  return Value(std::move(result));
}

Value take_strings(const Args& args) {
  const auto x = args.tensor(0);
  const size_t axis = args.axis(2, x->rank);
  const auto indices = args.tensor(1);
  Dims dims(x->dims().begin(), x->dims().begin() + static_cast<ptrdiff_t>(axis));
  dims.insert(dims.end(), indices->dims().begin(), indices->dims().end());
  dims.insert(dims.end(), x->dims().begin() + static_cast<ptrdiff_t>(axis) + 1, x->dims().end());
  auto result = args.make(x->dtype, dims);
  const int64_t inner = product(x->dims().subspan(axis + 1)), outer = product(x->dims().first(axis));
  const int64_t extent = x->dims()[axis];
  size_t to = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (size_t k = 0; k < count_of(*indices); ++k) {
      const int64_t given = get_integer(*indices, k);
      const int64_t place = given < 0 ? given + extent : given;
      if (place < 0 || place >= extent)
        args.fail(ErrorCode::IndexOutOfRange, "index {} is outside of {} elements", given, extent);
      for (int64_t i = 0; i < inner; ++i)
        copy_element(*result, to++, *x, static_cast<size_t>((o * extent + place) * inner + i));
    }
  return to_value(std::move(result));
}

// (x, prototype, to strings): numbers as texts, or texts as numbers of the prototype's dtype.
Value cast_string(const Args& args) {
  const auto x = args.tensor(0);
  if (args.flag(2)) {
    auto result = args.make(DType::String, x->dims());
    for (size_t at = 0; at < count_of(*x); ++at) {
      std::string text;
      if (x->dtype == DType::Bool) {
        text = get_integer(*x, at) != 0 ? "True" : "False";
      } else if (is_integer(x->dtype)) {
        text = x->dtype == DType::UInt64 ? fmt::format("{}", x->elements<uint64_t>()[at])
                                         : fmt::format("{}", get_integer(*x, at));
      } else if (x->dtype == DType::Float64) {
        text = fmt::format("{}", x->elements<double>()[at]);
      } else {
        text = fmt::format("{}", static_cast<float>(get_number(*x, at)));
      }
      set_text(args, *result, at, text);
    }
    return to_value(std::move(result));
  }
  if (x->dtype != DType::String) args.fail_kind(0, "strings");
  const DType dtype = args.tensor(1)->dtype;
  auto result = args.make(dtype, x->dims());
  for (size_t at = 0; at < count_of(*x); ++at) {
    std::string text(text_of(*x, at));
    double value = 0;
    if (is_integer(dtype)) {
      int64_t whole = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
      if (error == std::errc() && end == text.data() + text.size()) {
        std::memcpy(result->data + at * dtype_bytes(dtype), &whole, dtype_bytes(dtype));
        continue;
      }
    }
    const auto [end, error] =
        std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), text.data() + text.size(), value);
    if ((error != std::errc() && error != std::errc::result_out_of_range) || end != text.data() + text.size())
      args.fail(ErrorCode::CastFailed, "'{}' is no number", text);
    set_number(*result, at, value);
  }
  return to_value(std::move(result));
}

}  // namespace ingot::vm::builtins
