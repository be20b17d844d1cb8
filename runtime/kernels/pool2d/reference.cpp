#include "runtime/kernels/reference.h"

#include <cmath>
#include <limits>

#include "runtime/kernels/check.h"
#include "runtime/kernels/pool2d/pool2d.h"
#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

template <typename T>
class Pool2dReference final : public Kernel {
 public:
  explicit Pool2dReference(const Problem& problem)
      : attributes_(pool2d_attributes(*problem.call)),
        data_dims_(problem.inputs[0].dims),
        output_dims_(problem.outputs[0].dims),
        data_strides_(strides_of(problem.inputs[0])),
        output_strides_(strides_of(problem.outputs[0])) {}

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    auto* output = reinterpret_cast<T*>(args.outputs[0]);
    const auto* data = reinterpret_cast<const T*>(args.inputs[0]);
    const int64_t cost =
        std::min(attributes_.window[0], data_dims_[2]) * std::min(attributes_.window[1], data_dims_[3]) + 1;
    return reference::for_each_index(output_dims_, args, cost, [&](const reference::Index& at) {
      output[at.offset(output_strides_)] = attributes_.average ? average(data, at) : maximum(data, at);
    });
  }
  std::string_view implementation() const override { return "reference"; }
  uint64_t work() const override {
    return saturating_product(
        {static_cast<int64_t>(count_elements(output_dims_)), attributes_.window[0], attributes_.window[1]});
  }

 private:
  // The window's taps k in [first, last) of dimension 2 + d whose positions lie in [low, high).
  struct Taps {
    int64_t first, last;
  };
  Taps taps(size_t d, int64_t out, int64_t low, int64_t high) const {
    const int64_t start = out * attributes_.strides[d] - attributes_.padding[d];
    const int64_t step = attributes_.dilation[d];
    const int64_t first = start >= low ? 0 : (low - start + step - 1) / step;
    const int64_t last = start >= high ? 0 : std::min(attributes_.window[d], (high - start + step - 1) / step);
    return {first, std::max(first, last)};
  }

  template <typename Body>
  void for_each_tap(const T* data, const reference::Index& at, Body&& body) const {
    const Taps rows = taps(0, at[2], 0, data_dims_[2]);
    const Taps columns = taps(1, at[3], 0, data_dims_[3]);
    for (int64_t y = rows.first; y < rows.last; ++y)
      for (int64_t x = columns.first; x < columns.last; ++x) {
        const int64_t row = at[2] * attributes_.strides[0] - attributes_.padding[0] + y * attributes_.dilation[0];
        const int64_t column = at[3] * attributes_.strides[1] - attributes_.padding[1] + x * attributes_.dilation[1];
        body(data[at[0] * data_strides_[0] + at[1] * data_strides_[1] + row * data_strides_[2] +
                  column * data_strides_[3]]);
      }
  }

  T maximum(const T* data, const reference::Index& at) const {
    if constexpr (std::is_integral_v<T>) {
      T best = std::numeric_limits<T>::lowest();
      for_each_tap(data, at, [&](T element) { best = std::max(best, element); });
      return best;
    } else {
      double best = -std::numeric_limits<double>::infinity();
      for_each_tap(data, at, [&](T element) {
        const double value = reference::to_sum(element);
        if (std::isnan(value) || value > best) best = value;
      });
      return reference::from_sum<T>(best);
    }
  }

  T average(const T* data, const reference::Index& at) const {
    if constexpr (std::is_integral_v<T>) {
      return T{0};
    } else {
      double sum = 0;
      for_each_tap(data, at, [&](T element) { sum += reference::to_sum(element); });
      double count = 1;
      for (size_t d = 0; d < 2; ++d) {
        const bool padded = attributes_.count_include_pad;
        const Taps counted = taps(d, at[2 + d], padded ? -attributes_.padding[d] : 0,
                                  data_dims_[2 + d] + (padded ? attributes_.padding[2 + d] : 0));
        count *= static_cast<double>(counted.last - counted.first);
      }
      return reference::from_sum<T>(count > 0 ? sum / count : 0);
    }
  }

  Pool2dAttributes attributes_;
  std::vector<int64_t> data_dims_, output_dims_, data_strides_, output_strides_;
};

}  // namespace

std::unique_ptr<Kernel> make_pool2d_reference(const Problem& problem) {
  return reference::with_type(problem.outputs[0].dtype, [&]<typename T>(std::type_identity<T>) {
    return std::unique_ptr<Kernel>(std::make_unique<Pool2dReference<T>>(problem));
  });
}

}  // namespace ingot
