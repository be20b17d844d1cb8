#include <algorithm>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/known_elements.h"
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
    return {b.builtin("reshape_like", {x, b.list(target), b.prim(allowzero ? 1 : 0)}, of_rank(x.dtype(), rank))};
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
  if (perm && x.is_tensor() && !x.info->rank) x = b.match(x, of_rank(x.dtype(), perm->size()));
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
        of_rank(inputs[0].dtype(), inputs[0].rank()))};
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
    return {b.builtin("unsqueeze", {x, node.input(1)}, of_rank(x.dtype(), x.rank() + node.length(1)))};
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
    return {b.builtin("squeeze", {x, axes}, of_rank(x.dtype(), x.rank() - node.length(1)))};
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
  return {b.builtin("tile", {x, b.list(node.input(1))}, of_rank(x.dtype(), x.rank()))};
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
  StructInfo info = of_rank(x.dtype(), x.rank());
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

}  // namespace ingot::onnx_import
