#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "runtime/tensor/interpolation.h"
#include "vm/builtins/builtins.h"

// Interpolation along each axis in turn.
namespace ingot::vm::builtins {
namespace {

struct Options : Interpolation {
  std::string policy;
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
  return {{words["mode"], words["coordinates"], words["nearest"], number("cubic", -0.75), number("outside", 0),
           number("exclude", 0) != 0, number("antialias", 0) != 0},
          words["policy"]};
}

void along(const Options& o, const InterpolatedAxis& a, const std::vector<double>& from, std::vector<double>& to,
           size_t outer, size_t inner) {
  const auto in = static_cast<size_t>(a.in), out = static_cast<size_t>(a.out);
  to.assign(outer * out * inner, 0);
  for (size_t i = 0; i < out; ++i) {
    const Mix mix = mix_of(o, a, static_cast<int64_t>(i));
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
  std::vector<InterpolatedAxis> plan;
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
      InterpolatedAxis& axis = plan[axes[i]];
      axis.out = keeps ? static_cast<int64_t>(std::floor(common * static_cast<double>(axis.in) + 0.5)) : sizes[i];
      axis.scale = keeps ? common : static_cast<double>(sizes[i]) / static_cast<double>(axis.in);
    }
  } else {
    const auto scales = args.numbers(2);
    if (scales.size() != axes.size())
      args.fail(ErrorCode::ShapeMismatch, "{} scales for {} axes", scales.size(), axes.size());
    for (size_t i = 0; i < axes.size(); ++i) {
      InterpolatedAxis& axis = plan[axes[i]];
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
  for (const InterpolatedAxis& axis : plan) {
    if (axis.out < 0 || (axis.in == 0 && axis.out != 0))
      args.fail(ErrorCode::ShapeMismatch, "a dimension of {} would become {}", axis.in, axis.out);
    dims.push_back(axis.out);
  }
  auto result = args.make(x->dtype, dims);
  std::vector<double> now = args.numbers(0), next;
  for (size_t d = x->rank; d > 0; --d) {
    const InterpolatedAxis& axis = plan[d - 1];
    const bool crops = o.coordinates == "tf_crop_and_resize" && (axis.begin != 0 || axis.end != 1);
    if (axis.in == axis.out && axis.scale == 1 && !crops) continue;
    size_t outer = 1, inner = 1;
    for (size_t i = 0; i + 1 < d; ++i) outer *= static_cast<size_t>(plan[i].in);
    for (size_t i = d; i < plan.size(); ++i) inner *= static_cast<size_t>(plan[i].out);
    along(o, axis, now, next, outer, inner);
    now.swap(next);
  }
  // Integers keep what is before the point, and are rounded only behind a filter.
  const bool rounds = o.antialias && !is_float(x->dtype);
  for (size_t at = 0; at < now.size(); ++at) set_number(*result, at, rounds ? std::nearbyint(now[at]) : now[at]);
  return to_value(std::move(result));
}

}  // namespace ingot::vm::builtins
