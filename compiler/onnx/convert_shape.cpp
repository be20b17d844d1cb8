#include <algorithm>
#include <cstring>
#include <limits>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/known_elements.h"
#include "compiler/onnx/tensor.h"
#include "compiler/ops/operands.h"
#include "compiler/ops/ops.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::onnx_import {
namespace {

// `to` has the elements of `from` under another shape: in rank 0 and 1 they are computed only where a tensor is read.
Typed with_values(GraphBuilder& b, const Typed& from, Typed to) {
  if (!to.info->rank || *to.info->rank > 1 || !is_integer(to.dtype())) return to;
  auto values = known_values(from);
  return values ? b.tensor_of(*std::move(values), *to.info->rank, to.dtype()) : to;
}

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

StructInfo of_rank(const Typed& x, size_t rank) { return tensor_info(x.dtype(), static_cast<uint32_t>(rank)); }

}  // namespace

Results convert_shape(const Node& node) {
  const Typed& x = node.input(0);
  const auto rank = static_cast<int64_t>(x.rank());
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t begin = place(node.integer("start", 0));
  const int64_t end = std::max(begin, place(node.integer("end", rank)));
  return {node.builder().tensor_of(Dims(x.dims().begin() + begin, x.dims().begin() + end), 1)};
}

Results convert_size(const Node& node) { return {node.builder().tensor_of({ops::product(node.input(0).dims())}, 0)}; }

Results convert_reshape(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const bool allowzero = node.flag("allowzero");
  std::optional<Dims> shape;
  if (const auto attribute = node.integers("shape")) {
    shape = Dims(attribute->begin(), attribute->end());
  } else {
    shape = known_values(node.input(1));
  }
  if (!shape || !x.info->dims) {
    Typed target = shape ? b.tensor_of(*shape, 1) : node.input(1);
    const size_t rank = shape ? shape->size() : node.length(1);
    return {b.builtin("reshape_like", {x, b.list(target), b.prim(allowzero ? 1 : 0)}, of_rank(x, rank))};
  }
  // What -1 and 0 stand for is worked out here, so that the program has dimensions only.
  const ir::Op& op = *ops::find("reshape");
  const Typed wanted = b.shape(*shape);
  const ir::Expr args[] = {x.expr, wanted.expr};
  const StructInfo infos[] = {x.info, wanted.info};
  const ir::Attrs attrs = {{"allowzero", allowzero}};
  Typed result = b.reshape(x, *op.infer(ir::CallSite(op, args, infos, attrs, {}))->dims);
  if (auto elements = known_elements(x)) return {with_elements(b, std::move(result), *std::move(elements))};
  return {with_values(b, x, std::move(result))};
}

Results convert_flatten(const Node& node) {
  const auto rank = static_cast<int64_t>(node.input(0).rank());
  const int64_t given = node.integer("axis", 1);
  if (given < -rank || given > rank) fail(ErrorCode::IndexOutOfRange, "axis {} is outside of rank {}", given, rank);
  return {node.builder().call("flatten", {node.input(0)}, {{"axis", given < 0 ? given + rank : given}})};
}

Results convert_transpose(const Node& node) {
  auto& b = node.builder();
  Typed x = node.input(0);
  const auto perm = node.integers("perm");
  if (perm && x.is_tensor() && !x.info->rank) x = b.match(x, of_rank(x, perm->size()));
  ir::Attrs attrs;
  if (perm) attrs["axes"] = *perm;
  return {with_elements_of(b, x, b.call("transpose", {x}, std::move(attrs)), [&](auto to, auto at) {
    for (size_t d = 0; d < to.size(); ++d)
      at[perm ? static_cast<size_t>(node.axis((*perm)[d], to.size())) : to.size() - 1 - d] = to[d];
  })};
}

namespace {

constexpr int64_t kMaxPartlyKnown = 64;

// The elements of a concatenation of rank 1, each where it is known; empty where their number is not.
std::vector<std::optional<PrimExpr>> partly_known(std::span<const Typed> inputs) {
  std::vector<std::optional<PrimExpr>> all;
  for (const auto& input : inputs) {
    if (!input.is_tensor() || !is_integer(input.dtype()) || input.info->rank != 1u) return {};
    const auto count = input.info->dims ? input.dim(0).as_const() : std::nullopt;
    if (!count || *count < 0 || *count > kMaxPartlyKnown) return {};
    auto part = partly_known_values(input);
    part.resize(static_cast<size_t>(*count));
    all.insert(all.end(), part.begin(), part.end());
    if (all.size() > static_cast<size_t>(kMaxPartlyKnown)) return {};
  }
  return all;
}

}  // namespace

Results convert_concat(const Node& node) {
  const int64_t fallback = node.opset() < 4 ? 1 : 0;
  auto inputs = node.all_inputs();
  if (inputs.empty()) fail(ErrorCode::ArityMismatch, "it has no inputs");
  Dims values;
  bool known = true;
  for (const auto& input : inputs) {
    const auto part = known && input.info->rank == 1u && is_integer(input.dtype()) ? known_values(input) : std::nullopt;
    known = known && part;
    if (part) values.insert(values.end(), part->begin(), part->end());
  }
  if (known) return {node.builder().tensor_of(std::move(values), 1, inputs[0].dtype())};
  if (inputs[0].dtype() == DType::String) {
    const Typed sequence = node.builder().tuple(inputs);
    return {node.builder().builtin(
        "concat_sequence", {sequence, node.builder().prim(node.integer("axis", fallback)), node.builder().prim(0)},
        of_rank(inputs[0], inputs[0].rank()))};
  }
  Typed result = node.builder().call_tuple("concat", inputs, {{"axis", node.integer("axis", fallback)}});
  result.partly = partly_known(inputs);
  return {std::move(result)};
}

Results convert_unsqueeze(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  auto list = node.integers("axes", 1);
  if (!list && !node.has(1)) fail(ErrorCode::InvalidArgument, "axes are missing");
  if (!list || !x.info->dims) {
    if (!x.info->dims)
      return {b.builtin("unsqueeze", {x, list ? b.integers(*list) : node.input(1)}, tensor_info(x.dtype()))};
    return {b.builtin("unsqueeze", {x, node.input(1)}, of_rank(x, x.rank() + node.length(1)))};
  }
  Typed result = x;
  const size_t rank = result.rank() + list->size();
  for (auto& axis : *list) axis = node.axis(axis, rank);
  node.require_distinct(*list);
  std::ranges::sort(*list);
  for (const int64_t axis : *list) result = b.unsqueeze(result, axis);
  return {with_values(b, x, result)};
}

namespace {

// Squeezes the last of these dimensions where it is 1 as the model runs, then the others: what follows is built for
// each rank. No results where it has been.
Results squeeze_open(GraphBuilder& b, const Typed& x, std::vector<size_t> open) {
  const auto rest = b.take_offer();
  const size_t d = open.back();
  open.pop_back();
  b.offer_rest([&b, rest, open](Results branch) {
    if (open.empty()) return rest(std::move(branch));
    b.offer_rest(rest);
    Results results = squeeze_open(b, branch[0], open);
    if (auto taken = b.take_rest()) return *std::move(taken);
    return rest(std::move(results));
  });
  const Typed is_one = b.call("equal", {b.tensor_of({x.dim(d)}, 0), b.scalar(DType::Int64, 1)});
  Dims dims = x.dims();
  dims[d] = 1;
  return b.branch(
      is_one, [&] { return Results{b.squeeze(b.match(x, tensor_info(x.dtype(), dims)), static_cast<int64_t>(d))}; },
      [&] { return Results{x}; });
}

constexpr size_t kMaxOpenDims = 3;

}  // namespace

Results convert_squeeze(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  auto list = node.integers("axes", 1);
  if (!x.info->dims || (!list && node.has(1))) {
    const Typed axes = list ? b.integers(*list) : node.input_or_none(1);
    if (!x.info->dims) return {b.builtin("squeeze", {x, axes}, tensor_info(x.dtype()))};
    if (node.length(1) > x.rank()) fail(ErrorCode::ShapeMismatch, "{} axes for rank {}", node.length(1), x.rank());
    return {b.builtin("squeeze", {x, axes}, of_rank(x, x.rank() - node.length(1)))};
  }
  ir::Attrs attrs;
  if (list) {
    attrs["axis"] = *std::move(list);
  } else {
    // Which dimensions are 1 decides the rank.
    std::vector<size_t> open;
    std::vector<int64_t> ones;
    for (size_t d = 0; d < x.rank(); ++d) {
      const Proof is_one = prove_equal(x.dim(d), 1);
      if (is_one == Proof::Unknown) open.push_back(d - ones.size());
      if (is_one == Proof::Yes) ones.push_back(static_cast<int64_t>(d));
    }
    if (!open.empty()) {
      if (open.size() > kMaxOpenDims || !b.takes_rests(open.size()))
        return {b.builtin("squeeze", {x}, tensor_info(x.dtype()))};
      return squeeze_open(b, ones.empty() ? x : b.call("squeeze", {x}, {{"axis", ones}}), std::move(open));
    }
  }
  return {with_values(b, x, b.call("squeeze", {x}, std::move(attrs)))};
}

namespace {

// Few known integers that are repeated, or stay as they are.
std::optional<Typed> expanded_values(GraphBuilder& b, const Typed& x, const Dims& shape) {
  constexpr int64_t kMostValues = 64;
  if (!x.values || !is_integer(x.dtype()) || x.rank() > 1 || shape.size() > 1) return std::nullopt;
  const auto count = shape.empty() ? int64_t{1} : shape.front().as_const().value_or(0);
  if (count == 1) return b.tensor_of(*x.values, std::max(x.rank(), shape.size()), x.dtype());
  if (x.values->size() != 1 || count < 1 || count > kMostValues) return std::nullopt;
  return b.tensor_of(Dims(static_cast<size_t>(count), x.values->front()), 1, x.dtype());
}

// What is known of x under a shape of `count` elements, of which some are told.
StructInfo expanded_info(const Typed& x, std::span<const std::optional<PrimExpr>> shape, size_t count) {
  const size_t rank = std::max(x.rank(), count);
  Dims dims;
  for (size_t d = 0; d < rank; ++d) {
    const std::optional<PrimExpr> own = d + x.rank() >= rank ? std::optional(x.dim(d + x.rank() - rank)) : PrimExpr(1);
    const std::optional<PrimExpr> wanted = d + count < rank                  ? PrimExpr(1)
                                           : d + count - rank < shape.size() ? shape[d + count - rank]
                                                                             : std::nullopt;
    const bool keeps = wanted && wanted->is_const(1), fills = own->is_const(1);
    const bool decides = wanted && wanted->as_const() && *wanted->as_const() > 1;
    const bool known = own->as_const() && *own->as_const() != 1;
    dims.push_back(keeps || known ? *own : (wanted && fills) || decides ? *wanted : PrimExpr(make_sym_var("d")));
  }
  return tensor_info(x.dtype(), std::move(dims));
}

}  // namespace

Results convert_expand(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const auto shape = known_values(node.input(1));
  if (shape) {
    if (auto result = expanded_values(b, x, *shape)) return {*std::move(result)};
    Dims target = *shape;
    while (target.size() < x.rank()) target.insert(target.begin(), PrimExpr(1));
    bool clear = true;
    for (size_t d = 0; d < x.rank(); ++d) {
      PrimExpr& wanted = target[target.size() - x.rank() + d];
      if (wanted.is_const(1)) {
        wanted = x.dim(d);
      } else if (!x.dim(d).is_const(1) && prove_equal(wanted, x.dim(d)) != Proof::Yes) {
        clear = clear && wanted.as_const() && x.dim(d).as_const();
      }
    }
    if (clear) return {b.call("broadcast_to", {x, b.shape(std::move(target))})};
  }
  const auto wanted = partly_known_values(node.input(1));
  const size_t count = shape ? shape->size() : node.length(1);
  return {b.builtin("expand", {x, b.list(node.input(1))}, expanded_info(x, wanted, count))};
}

// Before opset 6 the repeats of one axis, which is another input.
Results convert_tile(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  if (node.opset() < 6 && node.inputs() == 3) {
    const auto tiles = node.constant_integers(1), axis = node.constant_integers(2);
    std::vector<int64_t> reps(x.rank(), 1);
    reps.at(static_cast<size_t>(node.axis(axis.at(0), x.rank()))) = tiles.at(0);
    return {b.call("tile", {x}, {{"reps", reps}})};
  }
  if (const auto reps = node.known(1)) {
    if (reps->size() != x.rank())
      fail(ErrorCode::ShapeMismatch, "input 1 has {} elements, input 0 has rank {}", reps->size(), x.rank());
    return {b.call("tile", {x}, {{"reps", *reps}})};
  }
  return {b.builtin("tile", {x, b.list(node.input(1))}, of_rank(x, x.rank()))};
}

Results convert_pad(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const std::string mode = node.choice("mode", "constant", {"constant", "reflect", "edge", "wrap"});
  const bool attributes = node.opset() < 11;
  const auto pads = node.integers(node.opset() < 2 ? "paddings" : "pads", 1);
  const double value = node.number("value", 0.0);
  const auto axes = !attributes && node.has(3) ? node.known(3) : std::nullopt;
  const bool axes_open = !attributes && node.has(3) && !axes;
  bool simple = pads && !axes_open && mode != "wrap";
  if (simple) {
    const size_t count = axes ? axes->size() : x.rank();
    if (pads->size() != 2 * count)
      fail(ErrorCode::ShapeMismatch, "pads has {} values for {} axes", pads->size(), count);
    std::vector<int64_t> width(2 * x.rank(), 0);
    for (size_t i = 0; i < count; ++i) {
      const auto d = axes ? static_cast<size_t>(node.axis((*axes)[i], x.rank())) : i;
      width[2 * d] = (*pads)[i];
      width[2 * d + 1] = (*pads)[count + i];
      const auto extent = x.dim(d).as_const();
      const int64_t most = std::max(width[2 * d], width[2 * d + 1]);
      if (mode != "constant") simple = simple && std::min(width[2 * d], width[2 * d + 1]) >= 0;
      if (mode == "reflect" && extent) simple = simple && most < *extent;
    }
    if (simple) {
      const ir::Attrs attrs = {{"pad_width", width}, {"pad_mode", mode}, {"pad_value", value}};
      if (!attributes && node.has(2)) return {b.call("pad", {x, b.reshape(node.input(2), {})}, attrs)};
      return {b.call("pad", {x}, attrs)};
    }
  }
  StructInfo info = of_rank(x, x.rank());
  if (const auto sides = attributes ? std::nullopt : known_values(node.input(1)); sides && !axes_open) {
    const size_t count = axes ? axes->size() : x.rank();
    Dims dims = x.dims();
    for (size_t i = 0; i < count && sides->size() == 2 * count; ++i) {
      PrimExpr& dim = dims.at(axes ? static_cast<size_t>(node.axis((*axes)[i], x.rank())) : i);
      dim = simplify(dim + (*sides)[i] + (*sides)[count + i]);
    }
    info = tensor_info(x.dtype(), std::move(dims));
  }
  const Typed margin = attributes ? b.integers(*pads) : b.list(node.input(1));
  const Typed fill = attributes ? b.scalar(x.dtype(), value) : node.input_or_none(2);
  return {b.builtin("pad", {x, margin, fill, attributes ? b.none() : node.input_or_none(3), b.text(mode)},
                    std::move(info))};
}

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
                            : x.info->rank ? of_rank(x, *x.info->rank)
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

namespace {

// Each part by a slice of its own would be a kernel of its own: more of them are left to the builtin.
constexpr size_t kMaxSlices = 256;

// The parts as elements of a sequence; their sizes where they are known.
Results split_by_builtin(GraphBuilder& b, const Typed& x, const Typed& sizes, size_t axis,
                         const std::vector<std::optional<int64_t>>& known) {
  const Typed list = b.builtin("split", {x, sizes, b.prim(static_cast<int64_t>(axis)), b.prim(1)}, object_info());
  Results results;
  for (size_t i = 0; i < known.size(); ++i) {
    StructInfo info = of_rank(x, x.rank());
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

Results convert_constant(const Node& node) {
  auto& b = node.builder();
  if (const auto* value = node.find("value")) {
    Typed result = b.constant(read_tensor(value->t()));
    if (stores_only(value->t().data_type())) result.stored = value->t().data_type();
    return {result};
  }
  if (const auto* value = node.find("sparse_value")) return {b.constant(read_sparse_tensor(value->sparse_tensor()))};
  if (const auto* value = node.find("value_int")) return {b.tensor_of({PrimExpr(value->i())}, 0)};
  if (const auto list = node.integers("value_ints")) return {b.integers(*list)};
  if (node.find("value_float") != nullptr) return {b.scalar(DType::Float32, node.number("value_float", 0))};
  onnx::TensorProto tensor;
  if (const auto list = node.numbers("value_floats")) {
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(static_cast<int64_t>(list->size()));
    for (const double value : *list) tensor.add_float_data(static_cast<float>(value));
    return {b.constant(read_tensor(tensor))};
  }
  tensor.set_data_type(onnx::TensorProto::STRING);
  if (node.find("value_string") != nullptr) {
    tensor.add_string_data(node.text("value_string", ""));
    return {b.constant(read_tensor(tensor))};
  }
  if (node.find("value_strings") != nullptr) {
    const auto list = node.texts("value_strings");
    tensor.add_dims(static_cast<int64_t>(list.size()));
    for (const auto& text : list) tensor.add_string_data(text);
    return {b.constant(read_tensor(tensor))};
  }
  fail(ErrorCode::InvalidArgument, "it has no value");
}

Results convert_constant_of_shape(const Node& node) {
  auto& b = node.builder();
  const auto* value = node.find("value");
  Typed element = value != nullptr ? b.constant(read_tensor(value->t())) : b.scalar(DType::Float32, 0);
  if (element.constant()->bytes != dtype_bytes(element.dtype()))
    fail(ErrorCode::ShapeMismatch, "value must have one element, it has shape {}",
         shape_text(element.constant()->dims()));
  element =
      b.constant(make_view(nullptr, Ref<TensorObject>::copy_of(const_cast<TensorObject*>(element.constant())), {}));
  const auto shape = known_values(node.input(0));
  if (!shape) return {b.builtin("fill", {b.list(node.input(0)), element}, of_rank(element, node.length(0)))};
  const auto number = known_number(element);
  if (shape->size() == 1 && shape->front().as_const() && number && is_integer(element.dtype()) &&
      *shape->front().as_const() >= 0 && *shape->front().as_const() <= 64)
    return {b.tensor_of(Dims(static_cast<size_t>(*shape->front().as_const()), PrimExpr(static_cast<int64_t>(*number))),
                        1, element.dtype())};
  return {b.call("full", {element, b.shape(*shape)})};
}

}  // namespace ingot::onnx_import
