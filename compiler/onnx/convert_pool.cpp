#include <numeric>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/spatial.h"
#include "compiler/ops/operands.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

Window pool_window(const Node& node, const Typed& x) {
  if (node.find("kernel_shape") == nullptr) fail(ErrorCode::InvalidArgument, "attribute kernel_shape is missing");
  if (x.rank() < 3) fail(ErrorCode::ShapeMismatch, "the data has rank {}, it must have 3 or more", x.rank());
  return window(node, x, node.integers("kernel_shape", x.rank() - 2, 1, 1, INT32_MAX));
}

ir::Attrs attributes(const Node& node, const Window& w) {
  return {{"pool_size", w.kernel},
          {"strides", w.strides},
          {"dilation", w.dilation},
          {"padding", w.padding},
          {"ceil_mode", node.flag("ceil_mode")}};
}

Typed pooled(const Node& node, const Typed& x, const Window& w, std::string_view kind, double power = 2) {
  ir::Attrs attrs = attributes(node, w);
  if (kind == "avg") attrs["count_include_pad"] = node.flag("count_include_pad");
  const bool plain = kind != "lp" && x.rank() == 4 && is_float(x.dtype());
  if (plain) return node.builder().call(kind == "max" ? "max_pool2d" : "avg_pool2d", {x}, std::move(attrs));
  attrs["kind"] = std::string(kind);
  attrs["p"] = power;
  return node.builder().call("pool_nd", {x}, std::move(attrs));
}

// Along all spatial dimensions, which stay as 1.
Typed global(const Node& node, std::string_view op, const Typed& x) {
  if (x.rank() < 2) fail(ErrorCode::ShapeMismatch, "input 0 has rank {}, it must have 2 or more", x.rank());
  std::vector<int64_t> axes(x.rank() - 2);
  std::iota(axes.begin(), axes.end(), int64_t{2});
  return node.builder().call(op, {x}, {{"axis", axes}, {"keepdims", true}});
}

}  // namespace

Results convert_max_pool(const Node& node) {
  const Window w = pool_window(node, node.input(0));
  const Typed y = pooled(node, node.input(0), w, "max");
  if (!node.wants(1)) return {y};
  ir::Attrs attrs = attributes(node, w);
  attrs["storage_order"] = node.integer("storage_order", 0, 0, 1);
  return {y, node.builder().call("max_pool_indices", {node.input(0), y}, std::move(attrs))};
}

Typed average_pool(const Node& node, const Typed& x) { return pooled(node, x, pool_window(node, x), "avg"); }

Results convert_average_pool(const Node& node) { return {average_pool(node, node.input(0))}; }

Results convert_lp_pool(const Node& node) {
  const Typed& x = node.input(0);
  return {pooled(node, x, pool_window(node, x), "lp", static_cast<double>(node.integer("p", 2, 1)))};
}

Results convert_global_average_pool(const Node& node) {
  if (node.input(0).rank() == 4) return {node.builder().call("global_avg_pool2d", {node.input(0)})};
  return {global(node, "mean", node.input(0))};
}
Results convert_global_max_pool(const Node& node) {
  if (node.input(0).rank() == 4) return {node.builder().call("global_max_pool2d", {node.input(0)})};
  return {global(node, "max", node.input(0))};
}
Results convert_global_lp_pool(const Node& node) {
  auto& b = node.builder();
  const auto p = static_cast<double>(node.integer("p", 2, 1));
  const Typed powers = b.call("power", b.call("abs", {node.input(0)}), p);
  return {b.call("power", global(node, "sum", powers), 1 / p)};
}

// Values of a pool back to where they came from, zeros elsewhere.
Results convert_max_unpool(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &indices = node.input(1);
  const Window w = pool_window(node, x);
  Dims inferred = {x.dim(0), x.dim(1)};
  const size_t spatial = w.kernel.size();
  for (size_t i = 0; i < spatial; ++i)
    inferred.push_back((x.dim(2 + i) - 1) * w.strides[i] + (w.kernel[i] - w.padding[i] - w.padding[spatial + i]));
  const Typed zeros = b.call("full", {b.scalar(x.dtype(), 0), b.shape({ops::product(inferred)})});
  const auto flat = [&](const Typed& t) { return b.reshape(t, {ops::product(t.dims())}); };
  const Typed filled = b.call("scatter_elements", {zeros, flat(indices), flat(x)});
  const Typed result = b.reshape(filled, inferred);
  if (!node.has(2)) return {result};
  // A larger output has its margin behind.
  std::vector<int64_t> before(x.rank(), 0);
  const Typed behind = b.subtract(b.cast(node.input(2), DType::Int64), b.tensor_of(inferred, 1));
  const Typed sides[] = {b.integers(before), behind};
  const Typed pads = b.call_tuple("concat", sides, {{"axis", int64_t{0}}});
  const auto shape = node.known(2);
  return {b.builtin("pad", {result, pads, b.none(), b.none(), b.text("constant")},
                    shape ? tensor_info(x.dtype(), Dims(shape->begin(), shape->end()))
                          : tensor_info(x.dtype(), static_cast<uint32_t>(x.rank())))};
}

}  // namespace ingot::onnx_import
