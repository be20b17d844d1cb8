#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/layouts.h"
#include "compiler/ops/resizing.h"
#include "runtime/symbolic/simplify.h"

// Convolution and pooling of one and three dimensions, and transposed convolution, by the operators of any rank.
// Padding: one number for all sides, one for each dimension, or those before each dimension and then those behind.
namespace ingot::ops {

using namespace ir;

namespace {

using Numbers = std::vector<int64_t>;

size_t spatial_rank(const CallSite& call) {
  for (const char c : call.op().name)
    if (c >= '1' && c <= '3') return static_cast<size_t>(c - '0');
  call.fail(ErrorCode::Internal, "the name does not tell the rank");
}

Numbers per_dimension(const CallSite& call, std::string_view name, size_t count) {
  Numbers values = call.integers(name);
  if (values.size() == 1) values.resize(count, values[0]);
  // Relay's default of output_padding has two zeros whatever the rank.
  if (name == "output_padding" && values == Numbers{0, 0}) values.resize(count, 0);
  if (values.size() != count)
    call.fail(ErrorCode::InvalidArgument, "{} has {} numbers, 1 or {} are wanted", name, values.size(), count);
  return values;
}

Numbers padding(const CallSite& call, size_t count) {
  const Numbers given = call.integers("padding");
  if (given.size() == 2 * count && count != 0) return given;
  const Numbers sides = per_dimension(call, "padding", count);
  Numbers result = sides;
  result.insert(result.end(), sides.begin(), sides.end());
  return result;
}

std::string_view data_layout(size_t spatial) { return spatial == 1 ? "NCW" : spatial == 2 ? "NCHW" : "NCDHW"; }

// `known`: the operator needs numbers. A dimension that is not known is 0.
Numbers kernel_dims(const CallSite& call, const Operand& w, bool known) {
  Numbers result;
  for (size_t d = 2; d < w.rank(); ++d) {
    const auto size = w.dims()[d].as_const();
    if (exceeds(call, 1, w.dims()[d]))
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of the kernel {} is {}", d, w.name, to_text(w.dims()[d]));
    if ((known && !size) || (size && *size > INT32_MAX))
      call.fail(ErrorCode::Unsupported, "dimension {} of the kernel {} must be known, it is {}", d, w.name,
                to_text(w.dims()[d]));
    result.push_back(size.value_or(0));
  }
  const bool all_known = std::find(result.begin(), result.end(), 0) == result.end();
  if (all_known && call.has_attr("kernel_size") && per_dimension(call, "kernel_size", result.size()) != result)
    call.fail(ErrorCode::ShapeMismatch, "kernel_size is ({}), {} is {}", fmt::join(call.integers("kernel_size"), ", "),
              w.name, dims_text(w.dims()));
  return result;
}

void require_channels(const CallSite& call, const Operand& w, const PrimExpr& channels) {
  if (call.has_attr("channels") && differ(call, channels, call.integer("channels")))
    call.fail(ErrorCode::ShapeMismatch, "channels is {}, {} gives {}", call.integer("channels"), w.name,
              to_text(channels));
}

struct Problem {
  size_t spatial;
  Operand x, w;
  Numbers kernel;
};

Problem problem(const CallSite& call, bool known_kernel) {
  Problem p{spatial_rank(call), operand(call, 0), operand(call, 1), {}};
  require_rank(call, p.x, p.spatial + 2);
  require_rank(call, p.w, p.spatial + 2);
  require_same_dtype(call, p.x, p.w);
  p.kernel = kernel_dims(call, p.w, known_kernel);
  return p;
}

std::string layout_of(std::string_view channels, size_t spatial) {
  return std::string(channels) + std::string(data_layout(spatial).substr(2));
}

}  // namespace

// Of "conv1d" and "conv3d".
Meaning define_conv(const CallSite& call) {
  const size_t spatial = spatial_rank(call);
  if (auto plain = in_plain_form(call, data_layout(spatial), layout_of("OI", spatial))) return *std::move(plain);
  const Problem p = problem(call, false);
  require_channels(call, p.w, p.w.dims()[0]);
  return make_call("conv_nd", {call.arg(0), call.arg(1)},
                   {{"strides", per_dimension(call, "strides", spatial)},
                    {"padding", padding(call, spatial)},
                    {"dilation", per_dimension(call, "dilation", spatial)},
                    {"groups", call.integer("groups")}});
}

// A convolution of the data with zeros between its elements, with the mirrored kernel of (inputs, outputs / groups,
// ...).
Meaning define_conv_transpose(const CallSite& call) {
  const size_t spatial = spatial_rank(call);
  if (auto plain = in_plain_form(call, data_layout(spatial), layout_of("IO", spatial))) return *std::move(plain);
  const Problem p = problem(call, true);
  const int64_t groups = call.integer("groups");
  if (groups < 1) call.fail(ErrorCode::InvalidArgument, "groups is {}, it must be 1 or more", groups);
  demand_equal(call, "input channels", p.x, p.x.dims()[1], p.w, p.w.dims()[0]);
  require_channels(call, p.w, simplify(p.w.dims()[1] * groups));
  const Numbers strides = per_dimension(call, "strides", spatial), dilation = per_dimension(call, "dilation", spatial),
                extra = per_dimension(call, "output_padding", spatial), sides = padding(call, spatial);
  Numbers steps = {1, 1}, before = {0, 0}, after = {0, 0}, mirrored;
  Numbers order = {0, 2, 1};
  const PrimExpr per_group = simplify(floor_div(p.w.dims()[0], groups)), outputs = p.w.dims()[1];
  Dims grouped = {PrimExpr(groups), per_group, outputs}, joined = {simplify(outputs * groups), per_group};
  for (size_t i = 0; i < spatial; ++i) {
    if (strides[i] < 1 || dilation[i] < 1 || extra[i] < 0 || extra[i] >= std::max(strides[i], dilation[i]))
      call.fail(ErrorCode::InvalidArgument, "dimension {} has stride {}, dilation {} and output padding {}", i,
                strides[i], dilation[i], extra[i]);
    const int64_t reach = dilation[i] * (p.kernel[i] - 1);
    steps.push_back(strides[i]);
    before.push_back(reach - sides[i]);
    after.push_back(reach - sides[spatial + i] + extra[i]);
    mirrored.push_back(static_cast<int64_t>(2 + i));
    grouped.push_back(p.w.dims()[2 + i]);
    joined.push_back(p.w.dims()[2 + i]);
    order.push_back(static_cast<int64_t>(3 + i));
  }
  Expr w = make_call("flip", {call.arg(1)}, {{"axis", mirrored}});
  w = make_call("transpose", {make_call("reshape", {w, make_shape(grouped)}, {{"allowzero", true}})},
                {{"axes", order}});
  w = make_call("reshape", {w, make_shape(joined)}, {{"allowzero", true}});
  const Expr spread =
      make_call("insert_zeros", {call.arg(0)}, {{"steps", steps}, {"before", before}, {"after", after}});
  return make_call("conv_nd", {spread, w}, {{"dilation", dilation}, {"groups", groups}});
}

// Of "max_pool1d", "max_pool3d", "avg_pool1d" and "avg_pool3d".
Meaning define_pool(const CallSite& call) {
  const size_t spatial = spatial_rank(call);
  if (auto plain = in_plain_layouts(call, data_layout(spatial))) return *std::move(plain);
  require_rank(call, operand(call, 0), spatial + 2);
  const bool mean = call.op().name.starts_with("avg");
  Attrs attrs = {{"pool_size", per_dimension(call, "pool_size", spatial)},
                 {"strides", per_dimension(call, "strides", spatial)},
                 {"padding", padding(call, spatial)},
                 {"dilation", per_dimension(call, "dilation", spatial)},
                 {"ceil_mode", call.flag("ceil_mode")},
                 {"kind", std::string(mean ? "avg" : "max")}};
  if (mean) attrs["count_include_pad"] = call.flag("count_include_pad");
  return make_call("pool_nd", {call.arg(0)}, std::move(attrs));
}

// strides - 1 zeros, or other values, between neighbours.
Meaning define_dilate(const CallSite& call) {
  const auto x = operand(call, 0);
  const Numbers steps = per_dimension(call, "strides", x.rank());
  const Expr spread = make_call("insert_zeros", {call.arg(0)}, {{"steps", steps}});
  if (call.number("dilation_value") == 0) return spread;
  const Expr there = make_call("insert_zeros", {make_call("ones_like", {call.arg(0)}, {{"dtype", DType::Float32}})},
                               {{"steps", steps}});
  return make_call("where", {make_call("not_equal", {there, scalar(DType::Float32, 0)}), spread,
                             scalar(x.dtype(), call.number("dilation_value"))});
}

namespace {

// Of integers where numbers in between arise: computed in float32. Of an out_dtype: the result is cast.
std::optional<Expr> in_float(const CallSite& call, bool between) {
  const DType dtype = operand(call, 0).dtype();
  const DType out = dtype_of(call, "out_dtype") == DType::None ? dtype : dtype_of(call, "out_dtype");
  const bool widened = between && !is_float(dtype);
  if (!widened && out == dtype) return std::nullopt;
  std::vector<Expr> args;
  for (size_t i = 0; i < call.size(); ++i) args.push_back(call.arg(i));
  if (widened) args[0] = make_call("cast", {args[0]}, {{"dtype", DType::Float32}});
  Attrs attrs = call.attrs();
  attrs.erase("out_dtype");
  return make_call("cast", {make_call(call.op().name, std::move(args), std::move(attrs))}, {{"dtype", out}});
}

// The part that roi names, where each dimension begins and then where each ends, for all dimensions.
Expr region_of(const CallSite& call, size_t spatial) {
  if (!call.has_attr("roi"))
    call.fail(ErrorCode::InvalidArgument, "coordinate_transformation_mode \"tf_crop_and_resize\" needs a roi");
  const std::vector<double> roi = numbers_of(call, "roi");
  if (roi.size() != 2 * spatial)
    call.fail(ErrorCode::InvalidArgument, "roi has {} numbers, {} are wanted", roi.size(), 2 * spatial);
  std::vector<Expr> parts;
  for (size_t i = 0; i < 2 * spatial; ++i) {
    if (i % spatial == 0) parts.insert(parts.end(), 2, scalar(DType::Float64, i == 0 ? 0 : 1));
    parts.push_back(scalar(DType::Float64, roi[i]));
  }
  return make_call("stack", {make_tuple(std::move(parts))});
}

// The sizes of a layout's dimensions: of N and C as they are, of the others those asked for, which are in the order D,
// H, W.
Expr sizes_in_order(std::string_view layout, const Dims& dims, const Expr& asked) {
  const int64_t depth = layout.find('D') == layout.npos ? 0 : 1;
  const auto place = [&](char letter) { return letter == 'W' ? 1 + depth : letter == 'H' ? depth : int64_t{0}; };
  std::vector<Expr> sizes;
  for (size_t d = 0; d < layout.size(); ++d)
    if (const char letter = layout[d]; letter == 'N' || letter == 'C')
      sizes.push_back(make_call("shape_to_tensor", {make_shape({dims[d]})}));
    else
      sizes.push_back(make_call(
          "strided_slice", {asked},
          {{"begin", std::vector<int64_t>{place(letter)}}, {"end", std::vector<int64_t>{place(letter) + 1}}}));
  return make_call("concat", {make_tuple(std::move(sizes))}, {{"axis", int64_t{0}}});
}

}  // namespace

// Of "upsampling3d", and of what "upsampling" does beyond whole factors: sizes times factors, rounded.
Expr upsampled(const CallSite& call, std::span<const std::string_view> factors, std::string_view coordinates) {
  const auto x = operand(call, 0);
  require_rank(call, x, factors.size() + 2);
  Dims sizes;
  for (size_t d = 0; d < factors.size(); ++d) {
    const double factor = call.number(factors[d]);
    if (!(factor > 0 && factor <= 65536))
      call.fail(ErrorCode::InvalidArgument, "{} is {}, it must be above 0 and at most 65536", factors[d], factor);
    const PrimExpr& dim = x.dims()[2 + d];
    if (factor == std::floor(factor)) {
      sizes.push_back(simplify(dim * static_cast<int64_t>(factor)));
      continue;
    }
    if (!dim.as_const())
      call.fail(ErrorCode::Unsupported,
                "{} is {} and dimension {} of {} is {}; one of them must be a whole number that is known", factors[d],
                factor, 2 + d, x.name, to_text(dim));
    sizes.emplace_back(static_cast<int64_t>(std::floor(static_cast<double>(*dim.as_const()) * factor + 0.5)));
  }
  std::string method = call.text("method");
  if (method == "bilinear" || method == "trilinear") method = "linear";
  if (method == "bicubic") method = "cubic";
  return make_call(factors.size() == 2 ? "resize2d" : "resize3d", {call.arg(0), make_shape(sizes)},
                   {{"method", method},
                    {"coordinate_transformation_mode", std::string(coordinates)},
                    {"rounding_method", std::string("floor")},
                    {"cubic_alpha", -0.5}});
}

Meaning define_upsampling3d(const CallSite& call) {
  if (auto plain = in_plain_layouts(call, "NCDHW")) return *std::move(plain);
  constexpr std::string_view kFactors[] = {"scale_d", "scale_h", "scale_w"};
  const std::string coordinates = call.text("coordinate_transformation_mode");
  return upsampled(call, kFactors, call.text("method") == "nearest_neighbor" ? "asymmetric" : coordinates);
}

// Sizes to those given; modes as of ONNX's Resize, whose arithmetic it is.
Meaning define_resize(const CallSite& call) {
  const size_t spatial = spatial_rank(call);
  const bool open = given(call, 1) && !constant_integers(call, 1);
  const bool any_order = open && std::ranges::is_permutation(call.text("layout"), data_layout(spatial));
  if (!any_order)
    if (auto plain = in_plain_layouts(call, data_layout(spatial))) return *std::move(plain);
  const auto x = operand(call, 0);
  require_rank(call, x, spatial + 2);
  const std::string method = call.text("method");
  if (method != "nearest_neighbor" && method != "linear" && method != "cubic")
    call.fail(ErrorCode::InvalidArgument,
              "method is \"{}\", possible are \"nearest_neighbor\", \"linear\" and \"cubic\"", method);
  if (auto result = in_float(call, method != "nearest_neighbor")) return *std::move(result);
  std::string rounding = call.text("rounding_method");
  const std::string coordinates = call.text("coordinate_transformation_mode");
  if (rounding.empty()) rounding = coordinates == "align_corners" ? "round_prefer_ceil" : "floor";
  if (rounding == "round") rounding = "round_prefer_ceil";
  const std::string options =
      fmt::format("mode={} coordinates={} nearest={} policy=stretch cubic={} outside={} exclude={} antialias=0",
                  method == "nearest_neighbor" ? "nearest" : method, coordinates, rounding, call.number("cubic_alpha"),
                  call.number("extrapolation_value"), call.integer("cubic_exclude"));
  const Expr region = coordinates == "tf_crop_and_resize" ? region_of(call, spatial) : make_none();
  const auto resized = [&](const Expr& sizes, const StructInfo& info) {
    return make_builtin("resize", {call.arg(0), region, make_none(), sizes, make_none(), make_text(options)}, info);
  };
  if (open) {
    const auto size = operand(call, 1);
    require_integer(call, size);
    require_rank(call, size, 1);
    demand_equal(call, "numbers of sizes", size, size.dims()[0], x, static_cast<int64_t>(spatial));
    const Expr asked = make_call("cast", {call.arg(1)}, {{"dtype", DType::Int64}});
    return resized(sizes_in_order(call.text("layout"), x.dims(), asked),
                   tensor_info(x.dtype(), static_cast<uint32_t>(x.rank())));
  }
  Dims dims = {x.dims()[0], x.dims()[1]};
  Dims sizes = dims_of(call, "size", 1);
  if (sizes.size() == 1) sizes.resize(spatial, sizes[0]);
  if (sizes.size() != spatial)
    call.fail(ErrorCode::InvalidArgument, "size has {} numbers, {} are wanted", sizes.size(), spatial);
  dims.insert(dims.end(), sizes.begin(), sizes.end());
  return resized(make_call("shape_to_tensor", {make_shape(dims)}), tensor_like(x, dims));
}

}  // namespace ingot::ops
