#include "compiler/onnx/conversions.h"
#include "compiler/onnx/spatial.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {

Results convert_grid_sample(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &grid = node.input(1);
  Dims dims = {x.dim(0), x.dim(1)};
  for (size_t d = 1; d + 1 < grid.rank(); ++d) dims.push_back(grid.dim(d));
  return {b.builtin(
      "grid_sample",
      {x, grid, b.text(node.choice("mode", "bilinear", {"bilinear", "linear", "nearest", "bicubic", "cubic"})),
       b.text(node.choice("padding_mode", "zeros", {"zeros", "border", "reflection"})),
       b.prim(node.flag("align_corners"))},
      tensor_info(x.dtype(), dims))};
}

Results convert_roi_align(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &regions = node.input(1);
  const int64_t rows = node.integer("output_height", 1, 1), columns = node.integer("output_width", 1, 1);
  const bool half = node.opset() >= 16 && node.choice("coordinate_transformation_mode", "half_pixel",
                                                      {"half_pixel", "output_half_pixel"}) == "half_pixel";
  return {b.builtin(
      "roi_align",
      {x, regions, node.input(2), b.prim(rows), b.prim(columns), b.prim(node.integer("sampling_ratio", 0, 0, 4096)),
       b.scalar(DType::Float64, node.number("spatial_scale", 1)), b.prim(half),
       b.prim(node.choice("mode", "avg", {"avg", "max"}) == "max")},
      tensor_info(x.dtype(), Dims{regions.dim(0), x.dim(1), PrimExpr(rows), PrimExpr(columns)}))};
}

Results convert_max_roi_pool(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &regions = node.input(1);
  if (node.find("pooled_shape") == nullptr) fail(ErrorCode::InvalidArgument, "attribute pooled_shape is missing");
  const auto shape = node.integers("pooled_shape", 2, 1, 1);
  return {b.builtin(
      "max_roi_pool",
      {x, regions, b.prim(shape[0]), b.prim(shape[1]), b.scalar(DType::Float64, node.number("spatial_scale", 1))},
      tensor_info(x.dtype(), Dims{regions.dim(0), x.dim(1), PrimExpr(shape[0]), PrimExpr(shape[1])}))};
}

Results convert_col2im(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const size_t spatial = node.length(1);
  return {b.builtin(
      "col2im",
      {x, node.input(1), node.input(2), b.integers(node.integers("dilations", spatial, 1, 1)),
       b.integers(node.integers("pads", 2 * spatial, 0, 0)), b.integers(node.integers("strides", spatial, 1, 1))},
      of_rank(x.dtype(), 2 + spatial))};
}

Results convert_deform_conv(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &w = node.input(1), &offset = node.input(2);
  if (x.rank() != 4) fail(ErrorCode::Unsupported, "the data has rank {}; only rank 4 is supported", x.rank());
  kernel_shape(node, w);
  const Typed result =
      b.builtin("deform_conv",
                {x, w, offset, node.input_or_none(4), b.integers(node.integers("strides", 2, 1, 1)),
                 b.integers(node.integers("pads", 4, 0, 0)), b.integers(node.integers("dilations", 2, 1, 1)),
                 b.prim(node.integer("group", 1, 1)), b.prim(node.integer("offset_group", 1, 1))},
                tensor_info(x.dtype(), Dims{x.dim(0), w.dim(0), offset.dim(2), offset.dim(3)}));
  if (!node.has(3)) return {result};
  return {b.call("bias_add", {result, node.input(3)}, {{"axis", int64_t{1}}})};
}

// theta [N, 2, 3] or [N, 3, 4] applied to the places of a grid between -1 and 1.
Results convert_affine_grid(const Node& node) {
  auto& b = node.builder();
  const Typed& theta = node.input(0);
  const size_t spatial = node.length(1) - 2;
  const bool align = node.flag("align_corners");
  const auto sizes = known_values(node.input(1));
  // Rows of (x, y, 1) or (x, y, z, 1), in row-major order of the places.
  std::vector<Typed> axes;
  Dims extents;
  for (size_t d = 0; d < spatial; ++d) {
    const Typed size = b.reshape(
        b.part(b.cast(node.input(1), DType::Int64), 0, static_cast<int64_t>(2 + d), static_cast<int64_t>(3 + d)), {});
    Typed steps;
    if (sizes) {
      const PrimExpr& count = (*sizes)[2 + d];
      steps = b.positions(count);
    } else {
      steps = b.builtin("range", {b.scalar(DType::Int64, 0), size, b.scalar(DType::Int64, 1)},
                        tensor_info(DType::Int64, uint32_t{1}));
    }
    extents.push_back(steps.dim(0));
    const Typed at = b.cast(steps, theta.dtype()), count = b.cast(size, theta.dtype());
    // From end to end, or from the middle of the first to that of the last.
    axes.push_back(align
                       ? b.call("subtract", b.divide(b.call("multiply", at, 2.0), b.call("subtract", count, 1.0)), 1.0)
                       : b.call("subtract", b.divide(b.call("add", b.call("multiply", at, 2.0), 1.0), count), 1.0));
  }
  std::vector<Typed> columns;
  for (size_t d = spatial; d > 0; --d) {
    Typed axis = axes[d - 1];
    for (size_t i = d; i < spatial; ++i) axis = b.unsqueeze(axis, static_cast<int64_t>(axis.rank()));
    columns.push_back(b.unsqueeze(b.call("broadcast_to", {axis, b.shape(extents)}), static_cast<int64_t>(spatial)));
  }
  columns.push_back(
      b.unsqueeze(b.call("full", {b.scalar(theta.dtype(), 1), b.shape(extents)}), static_cast<int64_t>(spatial)));
  const Typed places = b.call_tuple("concat", columns, {{"axis", static_cast<int64_t>(spatial)}});
  PrimExpr points = 1;
  for (const auto& extent : extents) points = points * extent;
  const Typed rows = b.reshape(places, {points, PrimExpr(static_cast<int64_t>(spatial + 1))});
  const Typed moved = b.call("matmul", {rows, theta}, {{"transpose_b", true}});
  Dims dims = {theta.dim(0)};
  dims.insert(dims.end(), extents.begin(), extents.end());
  dims.emplace_back(static_cast<int64_t>(spatial));
  return {b.reshape(moved, dims)};
}

// Each axis cut or padded on both sides to a size; the middle stays.
Results convert_center_crop_pad(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const size_t count = node.length(1);
  std::vector<int64_t> axes = node.integers("axes").value_or(std::vector<int64_t>{});
  if (axes.empty())
    for (size_t d = 0; d < count; ++d) axes.push_back(static_cast<int64_t>(d));
  if (axes.size() != count)
    fail(ErrorCode::ShapeMismatch, "attribute axes has {} values, input 1 has {}", axes.size(), count);
  Dims extents;
  for (auto& axis : axes) {
    axis = node.axis(axis, x.rank());
    extents.push_back(x.dim(static_cast<size_t>(axis)));
  }
  node.require_distinct(axes);
  const Typed have = b.tensor_of(extents, 1), wanted = b.cast(node.input(1), DType::Int64), along = b.integers(axes);
  const auto half = [&](const Typed& value) { return b.call("floor_divide", b.call("maximum", value, 0.0), 2.0); };
  const Typed cut = half(b.subtract(have, wanted));
  const Typed end = b.add(cut, b.call("minimum", {have, wanted}));
  const Typed part = b.builtin("slice", {x, cut, end, along, b.none()}, of_rank(x.dtype(), x.rank()));
  const Typed missing = b.call("maximum", b.subtract(wanted, have), 0.0);
  const Typed before = half(missing);
  const Typed sides[] = {before, b.subtract(missing, before)};
  const Typed pads = b.call_tuple("concat", sides, {{"axis", int64_t{0}}});
  StructInfo info = of_rank(x.dtype(), x.rank());
  if (const auto sizes = node.known(1)) {
    Dims dims = x.dims();
    for (size_t i = 0; i < axes.size(); ++i) dims[static_cast<size_t>(axes[i])] = sizes->at(i);
    info = tensor_info(x.dtype(), dims);
  }
  return {b.builtin("pad", {part, pads, b.none(), along, b.text("constant")}, info)};
}

}  // namespace ingot::onnx_import
