#include <algorithm>
#include <limits>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/known_elements.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::onnx_import {
namespace {

// Place `at` of a slice with step 1, counted from the end where it is negative; none where its sign is not known.
std::optional<PrimExpr> slice_place(const PrimExpr& at, const PrimExpr& extent) {
  PrimExpr place = at;
  if (prove_less(at, 0) == Proof::Yes) {
    if (at.is_const(std::numeric_limits<int64_t>::min())) return PrimExpr(0);
    place = max(at + extent, 0);
  } else if (prove_less_equal(0, at) != Proof::Yes) {
    return std::nullopt;
  }
  if (const auto far = place.as_const(); far && *far > INT32_MAX) return extent;
  return prove_less_equal(place, extent) == Proof::Yes ? simplify(place) : simplify(min(place, extent));
}

// The dimensions of a slice whose places are dimensions; fresh ones where they cannot be told.
StructInfo sliced_info(const Node& node, const Typed& x) {
  Dims dims = x.dims();
  const auto starts = known_values(node.input(1)), ends = known_values(node.input(2));
  const auto axes = node.has(3) ? node.known(3) : std::nullopt;
  const auto steps = node.has(4) ? node.known(4) : std::nullopt;
  if (node.has(3) && !axes) return tensor_info(x.dtype(), static_cast<uint32_t>(x.rank()));
  const size_t count = axes ? axes->size() : starts ? starts->size() : x.rank();
  for (size_t i = 0; i < count; ++i) {
    PrimExpr& dim = dims.at(axes ? static_cast<size_t>(node.axis((*axes)[i], x.rank())) : i);
    const bool plain = starts && ends && i < starts->size() && i < ends->size() &&
                       (!node.has(4) || (steps && i < steps->size() && (*steps)[i] == 1));
    const auto begin = plain ? slice_place((*starts)[i], dim) : std::nullopt;
    const auto end = plain ? slice_place((*ends)[i], dim) : std::nullopt;
    dim = begin && end ? simplify(max(*end - *begin, 0)) : PrimExpr(make_sym_var("d"));
  }
  return tensor_info(x.dtype(), std::move(dims));
}

// Each part by a slice of its own would be a kernel of its own: more of them are left to the builtin.
constexpr size_t kMaxSlices = 256;

// The parts as elements of a sequence; their sizes where they are known.
Results split_by_builtin(GraphBuilder& b, const Typed& x, const Typed& sizes, size_t axis,
                         const std::vector<std::optional<int64_t>>& known) {
  const Typed list = b.builtin("split", {x, sizes, b.prim(static_cast<int64_t>(axis)), b.prim(1)}, object_info());
  Results results;
  for (size_t i = 0; i < known.size(); ++i) {
    StructInfo info = of_rank(x.dtype(), x.rank());
    if (known[i]) {
      Dims dims = x.dims();
      dims[axis] = *known[i];
      info = tensor_info(x.dtype(), std::move(dims));
    }
    results.push_back(b.builtin("sequence_at", {list, b.prim(static_cast<int64_t>(i))}, std::move(info)));
  }
  return results;
}

}  // namespace

Results convert_slice(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const bool attributes = node.opset() < 10;
  const auto starts = node.integers("starts", 1), ends = node.integers("ends", 2);
  const auto axes = attributes ? node.integers("axes") : node.has(3) ? node.known(3) : std::nullopt;
  const auto steps = !attributes && node.has(4) ? node.known(4) : std::nullopt;
  const bool open = !starts || !ends || (!attributes && ((node.has(3) && !axes) || (node.has(4) && !steps)));
  if (open || !x.info->dims) {
    if (attributes) fail(ErrorCode::InvalidArgument, "starts or ends are missing");
    const StructInfo info = x.info->dims   ? sliced_info(node, x)
                            : x.info->rank ? of_rank(x.dtype(), *x.info->rank)
                                           : tensor_info(x.dtype());
    return {b.builtin(
        "slice",
        {x, b.list(node.input(1)), b.list(node.input(2)), b.list(node.input_or_none(3)), b.list(node.input_or_none(4))},
        info)};
  }
  std::vector<int64_t> begin = *starts, end = *ends;
  // Far beyond is to the end.
  for (auto* list : {&begin, &end})
    for (auto& at : *list) {
      if (at < -INT32_MAX) at = std::numeric_limits<int64_t>::min();
      if (at > INT32_MAX) at = INT32_MAX;
    }
  std::vector<int64_t> stride = steps.value_or(std::vector<int64_t>(begin.size(), 1));
  for (auto& step : stride) step = std::clamp<int64_t>(step, -INT32_MAX, INT32_MAX);
  std::vector<int64_t> along = axes.value_or(std::vector<int64_t>{});
  if (!axes)
    for (size_t d = 0; d < begin.size(); ++d) along.push_back(static_cast<int64_t>(d));
  for (auto& axis : along) axis = node.axis(axis, x.rank());
  // Backwards from before the first element is from the first one: so the standard has it, unlike NumPy.
  for (size_t i = 0; i < along.size(); ++i)
    if (const auto extent = x.dim(static_cast<size_t>(along[i])).as_const();
        stride[i] < 0 && extent && begin[i] < -*extent)
      begin[i] = 0;
  Typed result = b.call("strided_slice", {x}, {{"begin", begin}, {"end", end}, {"strides", stride}, {"axes", along}});
  // The places are those of NumPy's slices; the operator has computed how many.
  return {with_elements_of(b, x, result, [&](auto to, auto at) {
    std::ranges::copy(to, at.begin());
    for (size_t i = 0; i < along.size(); ++i) {
      const auto d = static_cast<size_t>(along[i]);
      const int64_t extent = *x.dim(d).as_const();
      const int64_t low = stride[i] > 0 ? 0 : -1, high = stride[i] > 0 ? extent : extent - 1;
      const int64_t first = begin[i] == std::numeric_limits<int64_t>::min() ? low
                            : begin[i] < 0                                  ? begin[i] + extent
                                                                            : begin[i];
      at[d] = std::clamp(first, low, high) + to[d] * stride[i];
    }
  })};
}

Results convert_split(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t axis = node.axis(node.integer("axis", 0), x.rank());
  const auto sizes = node.integers("split", 1);
  const auto outputs = static_cast<int64_t>(node.outputs());
  if (const int64_t told = node.integer("num_outputs", outputs, 1); told != outputs)
    fail(ErrorCode::ArityMismatch, "attribute num_outputs is {}, the node has {} outputs", told, outputs);
  const auto along = static_cast<size_t>(axis);
  std::vector<int64_t> parts;
  if (sizes) {
    parts = *sizes;
  } else if (const auto extent = x.dim(along).as_const(); extent && !node.has(1)) {
    // Equal parts, the last one smaller where they do not fit.
    const int64_t size = (*extent + outputs - 1) / outputs;
    int64_t rest = *extent;
    for (int64_t i = 0; i < outputs; ++i) {
      parts.push_back(std::min(size, rest));
      rest -= parts.back();
    }
  }
  Results results;
  if (!parts.empty()) {
    if (parts.size() != node.outputs())
      fail(ErrorCode::ArityMismatch, "{} parts for {} outputs", parts.size(), node.outputs());
    int64_t total = 0;
    const auto values = x.rank() == 1 ? known_values(x) : std::nullopt;
    const bool many = parts.size() > kMaxSlices;
    for (const int64_t part : parts) {
      if (part < 0) fail(ErrorCode::InvalidArgument, "a part has {} elements", part);
      if (values && total + part <= static_cast<int64_t>(values->size())) {
        const auto begin = values->begin() + total;
        results.push_back(b.tensor_of(Dims(begin, begin + part), 1, x.dtype()));
      } else if (!many) {
        results.push_back(b.part(x, axis, total, total + part));
      }
      if (part > std::numeric_limits<int64_t>::max() - total)
        fail(ErrorCode::InvalidArgument, "the parts have more elements than int64 holds");
      total += part;
    }
    if (const auto extent = x.dim(along).as_const(); extent && total != *extent)
      fail(ErrorCode::ShapeMismatch, "the parts have {} elements, dimension {} has {}", total, axis, *extent);
    if (results.empty()) return split_by_builtin(b, x, b.integers(parts), along, {parts.begin(), parts.end()});
    return results;
  }
  if (!node.has(1)) {
    for (int64_t i = 0; i < outputs; ++i) {
      const PrimExpr size = floor_div(x.dim(along) + (outputs - 1), outputs);
      const PrimExpr from = size * i;
      Dims dims = x.dims();
      dims[along] = i == 0 ? size : simplify(max(min(size, x.dim(along) - from), 0));
      const Typed begin = b.prim(from), end = b.prim(size * (i + 1));
      results.push_back(
          b.builtin("slice", {x, begin, end, b.integers({axis}), b.none()}, tensor_info(x.dtype(), std::move(dims))));
    }
    return results;
  }
  return split_by_builtin(b, x, b.list(node.input(1)), along, std::vector<std::optional<int64_t>>(node.outputs()));
}

}  // namespace ingot::onnx_import
