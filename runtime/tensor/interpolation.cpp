#include "runtime/tensor/interpolation.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/error.h"

namespace ingot {
namespace {

// In float32, as other implementations have it: at ties the nearest element depends on it.
float source_of(const Interpolation& o, const InterpolatedAxis& a, float i) {
  const auto in = static_cast<float>(a.in), out = static_cast<float>(a.out), scale = static_cast<float>(a.scale);
  if (o.coordinates == "half_pixel") return (i + 0.5F) / scale - 0.5F;
  if (o.coordinates == "half_pixel_symmetric") {
    const float adjustment = out / (scale * in);
    return in / 2 * (1 - adjustment) + (i + 0.5F) / scale - 0.5F;
  }
  if (o.coordinates == "pytorch_half_pixel") return a.out > 1 ? (i + 0.5F) / scale - 0.5F : 0;
  if (o.coordinates == "align_corners") return a.out > 1 ? i * (in - 1) / (out - 1) : 0;
  if (o.coordinates == "asymmetric") return i / scale;
  if (o.coordinates == "tf_half_pixel_for_nn") return (i + 0.5F) / scale;
  if (o.coordinates == "tf_crop_and_resize") {
    const auto begin = static_cast<float>(a.begin), end = static_cast<float>(a.end);
    return a.out > 1 ? begin * (in - 1) + i * (end - begin) * (in - 1) / (out - 1) : 0.5F * (begin + end) * (in - 1);
  }
  fail(ErrorCode::InvalidArgument, "the coordinates are '{}'", o.coordinates);
}

double cubic(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

}  // namespace

Mix mix_of(const Interpolation& o, const InterpolatedAxis& a, int64_t i) {
  const double at = static_cast<double>(source_of(o, a, static_cast<float>(i)));
  Mix mix;
  if (o.coordinates == "tf_crop_and_resize" && (at < 0 || at > static_cast<double>(a.in - 1))) {
    mix.outside = true;
    return mix;
  }
  const auto inside = [&](int64_t place) { return std::clamp<int64_t>(place, 0, a.in - 1); };
  if (o.mode == "nearest") {
    double place = std::floor(at);
    if (o.nearest == "ceil") place = std::ceil(at);
    if (o.nearest == "round_prefer_floor") place = std::ceil(at - 0.5);
    if (o.nearest == "round_prefer_ceil") place = std::floor(at + 0.5);
    mix.parts.emplace_back(inside(static_cast<int64_t>(place)), 1);
    return mix;
  }
  const bool is_cubic = o.mode == "cubic";
  if (!is_cubic && o.mode != "linear") fail(ErrorCode::InvalidArgument, "the mode is '{}'", o.mode);
  const double scale = o.antialias ? std::min(a.scale, 1.0) : 1;
  const int64_t reach = is_cubic ? 2 : 1;
  const auto first = static_cast<int64_t>(std::floor(-static_cast<double>(reach) / scale)) + 1;
  const double base = std::floor(at);
  const double ratio = at - base;
  double total = 0;
  for (int64_t k = first; k <= 1 - first; ++k) {
    const double distance = (static_cast<double>(k) - ratio) * scale;
    double weight = is_cubic ? cubic(distance, o.cubic) : std::max(0.0, 1 - std::fabs(distance));
    const int64_t place = static_cast<int64_t>(base) + k;
    if (o.exclude_outside && (place < 0 || place >= a.in)) weight = 0;
    total += weight;
    mix.parts.emplace_back(inside(place), weight);
  }
  if ((o.exclude_outside || o.antialias) && total != 0)
    for (auto& part : mix.parts) part.second /= total;
  return mix;
}

}  // namespace ingot
