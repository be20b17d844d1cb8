#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "vm/builtins/builtins.h"

// Interpolation along each axis in turn.
namespace ingot::vm::builtins {
namespace {

struct Options {
  std::string mode, coordinates, nearest, policy;
  double cubic = -0.75, outside = 0;
  bool exclude_outside = false, antialias = false;
};

// "key=value" words.
Options options_of(const Args& args, std::string_view text) {
  std::map<std::string, std::string, std::less<>> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) args.fail(ErrorCode::InvalidArgument, "the option '{}' has no value", word);
    words.emplace(word.substr(0, equals), word.substr(equals + 1));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  const auto number = [&](const char* key, double fallback) {
    const auto found = words.find(key);
    return found == words.end() ? fallback : std::strtod(found->second.c_str(), nullptr);
  };
  return {words["mode"],          words["coordinates"], words["nearest"],          words["policy"],
          number("cubic", -0.75), number("outside", 0), number("exclude", 0) != 0, number("antialias", 0) != 0};
}

struct Axis {
  int64_t in, out;
  double scale;
  double begin = 0, end = 1;  // the region of tf_crop_and_resize
};

double source_of(const Args& args, const Options& o, const Axis& a, double i) {
  const double in = static_cast<double>(a.in), out = static_cast<double>(a.out);
  if (o.coordinates == "half_pixel") return (i + 0.5) / a.scale - 0.5;
  if (o.coordinates == "half_pixel_symmetric") {
    const double adjustment = out / (a.scale * in);
    return in / 2 * (1 - adjustment) + (i + 0.5) / a.scale - 0.5;
  }
  if (o.coordinates == "pytorch_half_pixel") return a.out > 1 ? (i + 0.5) / a.scale - 0.5 : 0;
  if (o.coordinates == "align_corners") return a.out > 1 ? i * (in - 1) / (out - 1) : 0;
  if (o.coordinates == "asymmetric") return i / a.scale;
  if (o.coordinates == "tf_half_pixel_for_nn") return (i + 0.5) / a.scale;
  if (o.coordinates == "tf_crop_and_resize")
    return a.out > 1 ? a.begin * (in - 1) + i * (a.end - a.begin) * (in - 1) / (out - 1)
                     : 0.5 * (a.begin + a.end) * (in - 1);
  args.fail(ErrorCode::InvalidArgument, "the coordinates are '{}'", o.coordinates);
}

double cubic(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

// Which elements make up one of the result, and with which weights.
struct Mix {
  bool outside = false;
  std::vector<std::pair<int64_t, double>> parts;
};

Mix mix_of(const Args& args, const Options& o, const Axis& a, int64_t i) {
  const double at = source_of(args, o, a, static_cast<double>(i));
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
  if (!is_cubic && o.mode != "linear") args.fail(ErrorCode::InvalidArgument, "the mode is '{}'", o.mode);
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

void along(const Args& args, const Options& o, const Axis& a, const std::vector<double>& from, std::vector<double>& to,
           size_t outer, size_t inner) {
  const auto in = static_cast<size_t>(a.in), out = static_cast<size_t>(a.out);
  to.assign(outer * out * inner, 0);
  for (size_t i = 0; i < out; ++i) {
    const Mix mix = mix_of(args, o, a, static_cast<int64_t>(i));
    for (size_t n = 0; n < outer; ++n)
      for (size_t k = 0; k < inner; ++k) {
        double value = mix.outside ? o.outside : 0;
        for (const auto& [place, weight] : mix.parts)
          if (weight != 0) value += weight * from[(n * in + static_cast<size_t>(place)) * inner + k];
        to[(n * out + i) * inner + k] = value;
      }
  }
}

}  // namespace

// (x, region?, scales?, sizes?, axes?, options)
Value resize(const Args& args) {
  const auto x = args.tensor(0);
  const Options o = options_of(args, args.text(5));
  const auto axes = args.axes(4, x->rank);
  std::vector<Axis> plan;
  for (const int64_t dim : x->dims()) plan.push_back({dim, dim, 1});
  const auto region = args.has(1) ? args.numbers(1) : std::vector<double>();
  if (args.has(3) && !args.integers(3).empty()) {
    const Dims sizes = args.integers(3);
    if (sizes.size() != axes.size())
      args.fail(ErrorCode::ShapeMismatch, "{} sizes for {} axes", sizes.size(), axes.size());
    double common = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      const double scale = static_cast<double>(sizes[i]) / static_cast<double>(plan[axes[i]].in);
      if (i == 0 || (o.policy == "not_larger" ? scale < common : scale > common)) common = scale;
    }
    const bool keeps = o.policy == "not_larger" || o.policy == "not_smaller";
    for (size_t i = 0; i < axes.size(); ++i) {
      Axis& axis = plan[axes[i]];
      axis.out = keeps ? static_cast<int64_t>(std::floor(common * static_cast<double>(axis.in) + 0.5)) : sizes[i];
      axis.scale = keeps ? common : static_cast<double>(sizes[i]) / static_cast<double>(axis.in);
    }
  } else {
    const auto scales = args.numbers(2);
    if (scales.size() != axes.size())
      args.fail(ErrorCode::ShapeMismatch, "{} scales for {} axes", scales.size(), axes.size());
    for (size_t i = 0; i < axes.size(); ++i) {
      Axis& axis = plan[axes[i]];
      if (!(scales[i] > 0 && scales[i] < 1e9)) args.fail(ErrorCode::InvalidArgument, "a scale is {}", scales[i]);
      axis.scale = scales[i];
      axis.out = static_cast<int64_t>(std::floor(static_cast<double>(axis.in) * scales[i]));
    }
  }
  if (!region.empty() && region.size() == 2 * axes.size())
    for (size_t i = 0; i < axes.size(); ++i) {
      plan[axes[i]].begin = region[i];
      plan[axes[i]].end = region[axes.size() + i];
    }
  Dims dims;
  for (const Axis& axis : plan) {
    if (axis.out < 0 || (axis.in == 0 && axis.out != 0))
      args.fail(ErrorCode::ShapeMismatch, "a dimension of {} would become {}", axis.in, axis.out);
    dims.push_back(axis.out);
  }
  auto result = args.make(x->dtype, dims);
  std::vector<double> now = args.numbers(0), next;
  for (size_t d = x->rank; d > 0; --d) {
    const Axis& axis = plan[d - 1];
    const bool crops = o.coordinates == "tf_crop_and_resize" && (axis.begin != 0 || axis.end != 1);
    if (axis.in == axis.out && axis.scale == 1 && !crops) continue;
    size_t outer = 1, inner = 1;
    for (size_t i = 0; i + 1 < d; ++i) outer *= static_cast<size_t>(plan[i].in);
    for (size_t i = d; i < plan.size(); ++i) inner *= static_cast<size_t>(plan[i].out);
    along(args, o, axis, now, next, outer, inner);
    now.swap(next);
  }
  for (size_t at = 0; at < now.size(); ++at)
    set_number(*result, at, is_float(x->dtype) ? now[at] : std::nearbyint(now[at]));
  return to_value(std::move(result));
}

}  // namespace ingot::vm::builtins
