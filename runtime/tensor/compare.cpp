#include "runtime/tensor/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/element_text.h"

namespace ingot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<int64_t> index_of(size_t element, std::span<const int64_t> dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    const auto dim = static_cast<size_t>(dims[d]);
    index[d] = static_cast<int64_t>(element % dim);
    element /= dim;
  }
  return index;
}

class Comparer {
 public:
  Comparer(const TensorObject& actual, const TensorObject& expected, Tolerance tolerance)
      : actual_(actual), expected_(expected), tolerance_(tolerance) {}

  Comparison run() {
    result_.elements = element_count(actual_.dims());
    if (actual_.dtype == DType::String) {
      compare_strings();
    } else {
      with_element(actual_.dtype, [this]<typename T>() { compare<T>(); });
    }
    return std::move(result_);
  }

 private:
  template <typename T>
  void compare() {
    for (size_t i = 0; i < result_.elements; ++i) {
      const T actual = load_element<T>(actual_.data + i * sizeof(T));
      const T expected = load_element<T>(expected_.data + i * sizeof(T));
      if (!matches(actual, expected)) count_mismatch(i);
    }
  }

  bool matches(bool actual, bool expected) const { return actual == expected; }

  template <IntElement T>
  bool matches(T actual, T expected) {
    if (actual == expected) return true;
    const auto distance = actual > expected ? static_cast<uint64_t>(actual) - static_cast<uint64_t>(expected)
                                            : static_cast<uint64_t>(expected) - static_cast<uint64_t>(actual);
    note_error(static_cast<double>(distance), std::fabs(static_cast<double>(expected)));
    return false;
  }

  template <FloatElement T>
  bool matches(T actual, T expected) {
    const auto a = static_cast<double>(widen(actual));
    const auto e = static_cast<double>(widen(expected));
    if (a == e || (std::isnan(a) && std::isnan(e))) return true;
    if (!std::isfinite(a) || !std::isfinite(e)) {
      note_error(kInfinity, 1);
      return false;
    }
    const double distance = std::fabs(a - e);
    note_error(distance, std::fabs(e));
    return distance <= tolerance_.atol + tolerance_.rtol * std::fabs(e);
  }

  void compare_strings() {
    const auto text = [](const TensorObject& tensor, size_t i) {
      const StringObject* string = tensor.elements<StringObject*>()[i];
      return string != nullptr ? string->text() : std::string_view();
    };
    for (size_t i = 0; i < result_.elements; ++i)
      if (text(actual_, i) != text(expected_, i)) count_mismatch(i);
  }

  void note_error(double distance, double magnitude) {
    result_.max_abs = std::max(result_.max_abs, distance);
    if (magnitude > 0) result_.max_rel = std::max(result_.max_rel, distance / magnitude);
  }

  void count_mismatch(size_t i) {
    if (result_.mismatches++ > 0) return;
    result_.first = index_of(i, actual_.dims());
    result_.first_actual = text_of(actual_, i);
    result_.first_expected = text_of(expected_, i);
  }

  static std::string text_of(const TensorObject& tensor, size_t i) {
    if (tensor.dtype == DType::String) {
      const StringObject* string = tensor.elements<StringObject*>()[i];
      return quoted(string != nullptr ? string->text() : "");
    }
    std::string text;
    append_element(text, tensor.dtype, tensor.data + i * dtype_bytes(tensor.dtype));
    return text;
  }

  const TensorObject& actual_;
  const TensorObject& expected_;
  const Tolerance tolerance_;
  Comparison result_;
};

}  // namespace

Comparison compare_tensors(const TensorObject& actual, const TensorObject& expected, Tolerance tolerance) {
  if (actual.dtype != expected.dtype)
    fail(ErrorCode::TypeError, "the dtypes differ: the result is {}, expected is {}", dtype_name(actual.dtype),
         dtype_name(expected.dtype));
  if (!std::ranges::equal(actual.dims(), expected.dims()))
    fail(ErrorCode::ShapeMismatch, "the shapes differ: the result is {}, expected is {}", shape_text(actual.dims()),
         shape_text(expected.dims()));
  if (actual.layout != Layout::RowMajor) return compare_tensors(*copy_tensor(nullptr, actual), expected, tolerance);
  if (expected.layout != Layout::RowMajor) return compare_tensors(actual, *copy_tensor(nullptr, expected), tolerance);
  return Comparer(actual, expected, tolerance).run();
}

std::string comparison_text(const Comparison& comparison) {
  if (comparison.matches())
    return fmt::format("all {} elements match (largest error {:.3g}, relative {:.3g})", comparison.elements,
                       comparison.max_abs, comparison.max_rel);
  return fmt::format(
      "{} of {} elements differ: the first at {} is {} and should be {}; largest error {:.3g}, relative {:.3g}",
      comparison.mismatches, comparison.elements, shape_text(comparison.first), comparison.first_actual,
      comparison.first_expected, comparison.max_abs, comparison.max_rel);
}

}  // namespace ingot
