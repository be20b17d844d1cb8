#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/half.h"
#include "runtime/kernels/kernel.h"

// What the reference variants share: the obvious loops over every dtype, the oracle of all other variants. Floats of
// every width are computed in double and rounded once, at the store; integers wrap.
namespace ingot::reference {

// What elements of type T are computed in.
template <typename T>
using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

template <typename T>
Sum<T> to_sum(T element) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BHalf>)
    return static_cast<double>(static_cast<float>(element));
  else
    return static_cast<Sum<T>>(element);
}

template <typename T>
T from_sum(Sum<T> value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BHalf>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

// The number that an attribute gives, as an element's sum: integers saturate, NaN gives 0.
template <typename T>
Sum<T> sum_of(double value) {
  if constexpr (std::is_integral_v<T>) {
    if (value != value) return 0;
    if (value >= static_cast<double>(std::numeric_limits<T>::max())) return to_sum(std::numeric_limits<T>::max());
    if (value <= static_cast<double>(std::numeric_limits<T>::min())) return to_sum(std::numeric_limits<T>::min());
    return to_sum(static_cast<T>(value));
  } else {
    return value;
  }
}

// Calls body(std::type_identity<T>{}) with the C++ type of a numeric dtype's elements.
template <typename Body>
decltype(auto) with_type(DType dtype, Body&& body) {
  switch (dtype) {
#define X(name, text, brief, type, bytes, cls) \
  case DType::name:                            \
    return body(std::type_identity<type>{});
    INGOT_FOR_EACH_NUMERIC_DTYPE(X)
#undef X
    default:
      return body(std::type_identity<float>{});
  }
}

// The same for the float dtypes.
template <typename Body>
decltype(auto) with_float(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::Float16:
      return body(std::type_identity<Half>{});
    case DType::BFloat16:
      return body(std::type_identity<BHalf>{});
    case DType::Float64:
      return body(std::type_identity<double>{});
    default:
      return body(std::type_identity<float>{});
  }
}

// A multi-index over dimensions, the last one fastest.
class Index {
 public:
  explicit Index(std::span<const int64_t> dims) : dims_(dims) {}
  int64_t operator[](size_t d) const { return at_[d]; }
  int64_t offset(std::span<const int64_t> strides) const {
    int64_t sum = 0;
    for (size_t d = 0; d < strides.size(); ++d) sum += at_[d] * strides[d];
    return sum;
  }
  // False after the last one.
  bool next() {
    for (size_t d = dims_.size(); d-- > 0;) {
      if (++at_[d] < dims_[d]) return true;
      at_[d] = 0;
    }
    return false;
  }

 private:
  std::span<const int64_t> dims_;
  std::array<int64_t, kMaxRank> at_{};
};

double activate(const PostOp& op, double value);

// The post-ops of a call, one element at a time.
class PostOps {
 public:
  // The inputs of Add start at input `first_input`.
  PostOps(const Problem& problem, size_t first_input);

  // `index` is the place in the output.
  template <typename T>
  Sum<T> apply(Sum<T> value, const Index& index, const KernelArgs& args) const {
    for (const Step& step : steps_) {
      if (step.op.kind == PostOpKind::Add)
        value += to_sum(reinterpret_cast<const T*>(args.inputs[step.input])[index.offset(step.strides)]);
      else if constexpr (std::is_integral_v<T>)
        value = activate_integer<T>(step.op, static_cast<T>(value));
      else
        value = activate(step.op, value);
    }
    return value;
  }

 private:
  struct Step {
    PostOp op;
    size_t input = 0;
    std::vector<int64_t> strides;
  };

  template <typename T>
  static Sum<T> activate_integer(const PostOp& op, T value) {
    if (op.kind == PostOpKind::Relu) return to_sum(std::max(value, T{0}));
    const T raised = std::max(value, static_cast<T>(sum_of<T>(op.alpha)));
    return to_sum(std::min(raised, static_cast<T>(sum_of<T>(op.beta))));
  }

  std::vector<Step> steps_;
};

// Calls element(index) for each index of `dims`; polls now and then. Nothing where a dimension is 0.
template <typename Body>
tir::RunStatus for_each_index(std::span<const int64_t> dims, const KernelArgs& args, int64_t cost, Body&& element) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return {};
  constexpr int64_t kPollEvery = int64_t{1} << 20;
  int64_t done = 0;
  Index index(dims);
  do {
    done += cost;
    if (done >= kPollEvery) {
      done = 0;
      if (args.poll.poll && args.poll.poll(args.poll.context))
        return {.code = ErrorCode::Cancelled, .failed = true, .message = "stopped"};
    }
    element(index);
  } while (index.next());
  return {};
}

}  // namespace ingot::reference
