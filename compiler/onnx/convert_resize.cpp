#include <algorithm>
#include <cmath>

#include "compiler/onnx/conversions.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"
#include "runtime/tensor/interpolation.h"

// Interpolation to other sizes. Where the sizes are known it becomes sums of parts with weights, which are fused with
// what is around them; otherwise it is a builtin.
namespace ingot::onnx_import {
namespace {

// More parts for each element are left to the builtin.
constexpr size_t kMostParts = 6;
// Longer axes are as well, and sizes beyond these are left to it: their tables would be larger than the model.
constexpr int64_t kLongestAxis = 1 << 20;

struct Plan {
  Interpolation how;
  std::string policy = "stretch";
  // Operands as the builtin takes them, none where they are not given.
  std::optional<Typed> region, scales, sizes;
  std::optional<std::vector<int64_t>> axes;
};

std::string words_of(const Plan& plan) {
  const Interpolation& h = plan.how;
  return fmt::format("mode={} coordinates={} nearest={} policy={} cubic={} outside={} exclude={} antialias={}", h.mode,
                     h.coordinates, h.nearest, plan.policy, h.cubic, h.outside, h.exclude_outside ? 1 : 0,
                     h.antialias ? 1 : 0);
}

std::optional<std::vector<double>> known_numbers(const Typed& x) {
  const TensorObject* tensor = x.constant();
  if (tensor == nullptr || tensor->rank != 1 || !is_float(tensor->dtype)) return std::nullopt;
  std::vector<double> numbers;
  with_element(tensor->dtype, [&]<typename T>() {
    for (size_t i = 0; i < tensor->bytes / sizeof(T); ++i)
      numbers.push_back(convert<double>(load_element<T>(tensor->data + i * sizeof(T))));
  });
  return numbers;
}

// A dimension that is resized: what it becomes, where that is known, and the ratio, 0 where it is not.
struct Resized {
  size_t axis;
  std::optional<PrimExpr> out;
  double scale = 0;
};

std::vector<Resized> resized_axes(const Node& node, const Typed& x, const Plan& plan) {
  std::vector<Resized> result;
  const auto axis_of = [&](size_t i) {
    return plan.axes ? static_cast<size_t>(node.axis(plan.axes->at(i), x.rank())) : i;
  };
  const auto require_count = [&](const char* what, size_t count) {
    const size_t expected = plan.axes ? plan.axes->size() : x.rank();
    if (count != expected)
      fail(ErrorCode::ShapeMismatch, "{} has {} elements for {} dimensions", what, count, expected);
  };
  if (plan.axes) {
    auto axes = *plan.axes;
    for (auto& axis : axes) axis = node.axis(axis, x.rank());
    node.require_distinct(std::move(axes));
  }
  if (plan.sizes) {
    const auto sizes = plan.policy == "stretch" ? known_values(*plan.sizes) : std::nullopt;
    const size_t count = sizes ? sizes->size() : plan.axes ? plan.axes->size() : x.rank();
    require_count("sizes", count);
    for (size_t i = 0; i < count; ++i) {
      Resized one{axis_of(i), std::nullopt, 0};
      if (sizes) {
        one.out = (*sizes)[i];
        const auto in = x.dim(one.axis).as_const(), out = one.out->as_const();
        if (in && out && *in > 0) one.scale = static_cast<double>(*out) / static_cast<double>(*in);
      }
      result.push_back(std::move(one));
    }
    return result;
  }
  const auto scales = plan.scales ? known_numbers(*plan.scales) : std::nullopt;
  const size_t count = scales ? scales->size() : plan.axes ? plan.axes->size() : x.rank();
  require_count("scales", count);
  for (size_t i = 0; i < count; ++i) {
    if (scales && !((*scales)[i] > 0))
      fail(ErrorCode::InvalidArgument, "scale {} is {}, it must be greater than 0", i, (*scales)[i]);
    Resized one{axis_of(i), std::nullopt, 0};
    if (scales && (*scales)[i] > 0 && (*scales)[i] < 1e9) {
      one.scale = (*scales)[i];
      const PrimExpr& in = x.dim(one.axis);
      if (const auto known = in.as_const(); known && static_cast<double>(*known) * one.scale < 0x1p62) {
        one.out = static_cast<int64_t>(std::floor(static_cast<double>(*known) * one.scale));
      } else if (!known && one.scale == std::floor(one.scale)) {
        one.out = simplify(in * static_cast<int64_t>(one.scale));
      }
    }
    result.push_back(std::move(one));
  }
  return result;
}

// Does each element of the result that is a multiple as large stand for the one it is nearest to, so that elements are
// repeated?
bool repeats(const Interpolation& how, double scale) {
  if (how.mode != "nearest" || scale != std::floor(scale) || scale < 1) return false;
  if (how.coordinates == "asymmetric") return how.nearest == "floor";
  return how.coordinates == "half_pixel" && (how.nearest == "round_prefer_floor" || how.nearest == "round_prefer_ceil");
}

// One axis, by weights that are known now; nullopt where it takes too many parts, or some lie outside.
std::optional<Typed> mixed(GraphBuilder& b, const Typed& x, const Interpolation& how, const InterpolatedAxis& axis,
                           size_t d) {
  std::vector<std::vector<int64_t>> places;
  std::vector<std::vector<double>> weights;
  for (int64_t i = 0; i < axis.out; ++i) {
    const Mix mix = mix_of(how, axis, i);
    if (mix.outside) return std::nullopt;
    // Parts that count for nothing are left out; some elements have fewer than others then.
    size_t used = 0;
    for (const auto& [place, weight] : mix.parts) {
      if (weight == 0) continue;
      if (used == kMostParts) return std::nullopt;
      if (used == places.size()) {
        places.emplace_back(static_cast<size_t>(axis.out), 0);
        weights.emplace_back(static_cast<size_t>(axis.out), 0.0);
      }
      places[used][static_cast<size_t>(i)] = place;
      weights[used][static_cast<size_t>(i)] = weight;
      ++used;
    }
  }
  std::optional<Typed> sum;
  for (size_t part = 0; part < places.size(); ++part) {
    Typed term = b.call("take", {x, b.integers(places[part])},
                        {{"axis", static_cast<int64_t>(d)}, {"mode", std::string("clip")}});
    if (std::ranges::any_of(weights[part], [](double weight) { return weight != 1; })) {
      std::vector<int64_t> dims(x.rank() - d, 1);
      dims[0] = axis.out;
      auto data = make_tensor(nullptr, DType::Float32, dims);
      std::ranges::transform(weights[part], data->elements<float>(), [](double w) { return static_cast<float>(w); });
      term = b.multiply(term, b.cast(b.constant(std::move(data)), x.dtype()));
    }
    sum = sum ? b.add(*sum, term) : term;
  }
  return sum;
}

std::optional<Typed> composed(GraphBuilder& b, const Typed& x, const Plan& plan, const std::vector<Resized>& axes) {
  if (plan.how.coordinates == "tf_crop_and_resize" || plan.policy != "stretch") return std::nullopt;
  const bool nearest = plan.how.mode == "nearest";
  if (!nearest && !is_float(x.dtype())) return std::nullopt;
  const bool widens = !nearest && dtype_bytes(x.dtype()) < 4;
  Typed result = widens ? b.cast(x, DType::Float32) : x;
  for (auto at = axes.rbegin(); at != axes.rend(); ++at) {
    if (at->scale == 1 && at->out && prove_equal(*at->out, x.dim(at->axis)) == Proof::Yes) continue;
    if (at->out && repeats(plan.how, at->scale)) {
      result = b.call("repeat", {result},
                      {{"repeats", static_cast<int64_t>(at->scale)}, {"axis", static_cast<int64_t>(at->axis)}});
      continue;
    }
    const int64_t in = x.dim(at->axis).as_const().value_or(0);
    const int64_t out = at->out ? at->out->as_const().value_or(0) : 0;
    if (in < 1 || out < 1 || out > kLongestAxis || at->scale <= 0) return std::nullopt;
    auto next = mixed(b, result, plan.how, {in, out, at->scale}, at->axis);
    if (!next) return std::nullopt;
    result = *std::move(next);
  }
  return widens ? b.cast(result, x.dtype()) : result;
}

Results resize(const Node& node, const Plan& plan) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const auto axes = resized_axes(node, x, plan);
  if (auto result = composed(b, x, plan, axes)) return {*std::move(result)};
  Dims dims = x.dims();
  for (const auto& axis : axes) dims.at(axis.axis) = axis.out ? *axis.out : PrimExpr(make_sym_var("d"));
  const auto given = [&](const std::optional<Typed>& x_) { return x_ ? *x_ : b.none(); };
  return {b.builtin("resize",
                    {x, given(plan.region), given(plan.scales), b.list(given(plan.sizes)),
                     plan.axes ? b.integers(*plan.axes) : b.none(), b.text(words_of(plan))},
                    tensor_info(x.dtype(), std::move(dims)))};
}

}  // namespace

Results convert_resize(const Node& node) {
  const auto operand = [&](size_t i) -> std::optional<Typed> {
    if (!node.has(i) || (node.input(i).rank() == 1 && node.input(i).dim(0).is_const(0))) return std::nullopt;
    return node.input(i);
  };
  Plan plan;
  plan.how = {
      node.choice("mode", "nearest", {"nearest", "linear", "cubic"}),
      node.choice("coordinate_transformation_mode", "half_pixel",
                  {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                   "tf_half_pixel_for_nn", "tf_crop_and_resize"}),
      node.choice("nearest_mode", "round_prefer_floor", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}),
      node.number("cubic_coeff_a", -0.75),
      node.number("extrapolation_value", 0),
      node.flag("exclude_outside"),
      node.flag("antialias")};
  if (node.opset() < 11) {
    plan.how.coordinates = "asymmetric";
    plan.how.nearest = "floor";
    plan.scales = node.input(1);
    return resize(node, plan);
  }
  plan.policy = node.choice("keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"});
  plan.axes = node.integers("axes");
  plan.region = operand(1);
  plan.scales = operand(2);
  plan.sizes = operand(3);
  return resize(node, plan);
}

Results convert_upsample(const Node& node) {
  auto& b = node.builder();
  Plan plan;
  const std::string mode = node.choice("mode", "nearest", {"nearest", "linear", "bilinear"});
  plan.how.mode = mode == "bilinear" ? "linear" : mode;
  plan.how.coordinates = "asymmetric";
  plan.how.nearest = "floor";
  if (node.inputs() > 1) {
    plan.scales = node.input(1);
  } else {
    auto list = node.numbers("scales").value_or(std::vector<double>{});
    if (list.empty()) list = {1, 1, node.number("height_scale", 1), node.number("width_scale", 1)};
    const auto count = static_cast<int64_t>(list.size());
    auto data = make_tensor(nullptr, DType::Float64, {&count, 1});
    std::copy(list.begin(), list.end(), data->elements<double>());
    plan.scales = b.constant(std::move(data));
  }
  return resize(node, plan);
}

}  // namespace ingot::onnx_import
