#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

// Parts at places that other inputs name, places of elements, and tensors made from positions.
namespace ingot::onnx_import {

Results convert_gather(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &indices = node.input(1);
  const int64_t axis = node.axis(node.integer("axis", 0), x.rank());
  const auto values = x.rank() == 1 ? known_values(x) : std::nullopt;
  const auto places = values && indices.rank() <= 1 ? known_integers(indices) : std::nullopt;
  if (places) {
    Dims picked;
    const auto extent = static_cast<int64_t>(values->size());
    for (const int64_t at : *places) {
      if (at < -extent || at >= extent)
        fail(ErrorCode::IndexOutOfRange, "index {} is outside of {} elements", at, extent);
      picked.push_back((*values)[static_cast<size_t>(at < 0 ? at + extent : at)]);
    }
    return {b.tensor_of(std::move(picked), indices.rank(), x.dtype())};
  }
  if (x.dtype() == DType::String)
    return {b.builtin("take_strings", {x, indices, b.prim(axis)}, of_rank(x.dtype(), x.rank() + indices.rank() - 1))};
  return {b.gather(x, indices, axis)};
}

Results convert_gather_elements(const Node& node) {
  return {node.builder().call("gather_elements", {node.input(0), node.input(1)}, {{"axis", node.integer("axis", 0)}})};
}

Results convert_gather_nd(const Node& node) {
  return {node.builder().call("gather_nd", {node.input(0), node.input(1)},
                              {{"batch_dims", node.integer("batch_dims", 0)}})};
}

Results convert_scatter_elements(const Node& node) {
  return {node.builder().call("scatter_elements", {node.input(0), node.input(1), node.input(2)},
                              {{"axis", node.integer("axis", 0)},
                               {"reduction", node.choice("reduction", "none", {"none", "add", "mul", "max", "min"})}})};
}

Results convert_scatter_nd(const Node& node) {
  return {node.builder().call("scatter_nd", {node.input(0), node.input(1), node.input(2)},
                              {{"reduction", node.choice("reduction", "none", {"none", "add", "mul", "max", "min"})}})};
}

// Writes `update` into `cache` at the positions of each batch.
Results convert_tensor_scatter(const Node& node) {
  auto& b = node.builder();
  const Typed &cache = node.input(0), &update = node.input(1);
  const int64_t axis = node.axis(node.integer("axis", -2), cache.rank());
  const auto along = static_cast<size_t>(axis);
  Typed place = b.positions(update.dim(along));
  for (size_t d = along + 1; d < cache.rank(); ++d) place = b.unsqueeze(place, static_cast<int64_t>(place.rank()));
  while (place.rank() < cache.rank()) place = b.unsqueeze(place, 0);
  if (node.has(2)) {
    Typed start = node.input(2);
    while (start.rank() < cache.rank()) start = b.unsqueeze(start, static_cast<int64_t>(start.rank()));
    place = b.add(place, b.cast(start, DType::Int64));
  }
  if (node.choice("mode", "linear", {"linear", "circular"}) == "circular") {
    const Typed extent = b.tensor_of({cache.dim(along)}, 0);
    place = b.call("floor_mod", {place, extent});
  }
  const Typed places = b.call("broadcast_to", {place, b.shape(update.dims())});
  return {b.call("scatter_elements", {cache, places, update}, {{"axis", axis}, {"reduction", std::string("none")}})};
}

Results convert_non_zero(const Node& node) {
  const Typed& x = node.input(0);
  const StructInfo info =
      tensor_info(DType::Int64, Dims{PrimExpr(static_cast<int64_t>(x.rank())), make_sym_var("found")});
  return {node.builder().builtin("non_zero", {x}, info)};
}

Results convert_compress(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  if (node.find("axis") == nullptr) return {b.builtin("compress", {x, node.input(1)}, of_rank(x.dtype(), 1))};
  const int64_t axis = node.axis(node.integer("axis", 0), x.rank());
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = make_sym_var("kept");
  return {b.builtin("compress", {x, node.input(1), b.prim(axis)}, tensor_info(x.dtype(), dims))};
}

Results convert_unique(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const bool flat = node.find("axis") == nullptr;
  const Typed axis = flat ? b.none() : b.prim(node.axis(node.integer("axis", 0), x.rank()));
  const Typed all = b.builtin("unique", {x, axis, b.prim(node.flag("sorted", true))}, object_info());
  const auto field = [&](int64_t i, const StructInfo& info) {
    return b.builtin("sequence_at", {all, b.prim(i)}, info);
  };
  return {field(0, of_rank(x.dtype(), flat ? 1 : x.rank())), field(1, of_rank(DType::Int64, 1)),
          field(2, of_rank(DType::Int64, 1)), field(3, of_rank(DType::Int64, 1))};
}

Results convert_top_k(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t axis = node.axis(node.integer("axis", -1), x.rank());
  const Typed k = node.find("k") != nullptr ? b.integers({node.integer("k", 1, 0)}) : node.input(1);
  const auto count = known_values(k);
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = count && count->size() == 1 ? count->front() : PrimExpr(make_sym_var("k"));
  const Typed both =
      b.builtin("top_k", {x, k, b.prim(axis), b.prim(node.flag("largest", true)), b.prim(node.flag("sorted", true))},
                object_info());
  const Typed values = b.builtin("sequence_at", {both, b.prim(0)}, tensor_info(x.dtype(), dims));
  return {values, b.builtin("sequence_at", {both, b.prim(1)}, tensor_info(DType::Int64, values.dims()))};
}

Results convert_non_max_suppression(const Node& node) {
  auto& b = node.builder();
  return {b.builtin("non_max_suppression",
                    {node.input(0), node.input(1), node.input_or_none(2), node.input_or_none(3), node.input_or_none(4),
                     b.prim(node.flag("center_point_box"))},
                    tensor_info(DType::Int64, Dims{make_sym_var("selected"), PrimExpr(3)}))};
}

// Negative indices count from the end; those outside of the depth have no element that is on.
Results convert_one_hot(const Node& node) {
  auto& b = node.builder();
  const Typed indices = b.cast(node.input(0), DType::Int64);
  const Typed& values = node.input(2);
  const auto known =
      node.input(1).is_tensor() && !is_float(node.input(1).dtype()) ? known_values(node.input(1)) : std::nullopt;
  const Typed depth = b.reshape(b.cast(node.input(1), DType::Int64), {});
  const Typed places =
      known && known->size() == 1
          ? b.positions(known->front())
          : b.builtin("range", {b.scalar(DType::Int64, 0), depth, b.scalar(DType::Int64, 1)}, of_rank(DType::Int64, 1));
  const int64_t axis = node.axis(node.integer("axis", -1), indices.rank() + 1);
  const Typed wrapped = b.call("where", {b.call("less", indices, 0.0), b.add(indices, depth), indices});
  Typed row = places;
  for (size_t d = static_cast<size_t>(axis); d < indices.rank(); ++d)
    row = b.unsqueeze(row, static_cast<int64_t>(row.rank()));
  const Typed hit = b.call("equal", {b.unsqueeze(wrapped, axis), row});
  const auto value = [&](int64_t i) { return b.reshape(b.part(values, 0, i, i + 1), {}); };
  return {b.call("where", {hit, value(1), value(0)})};
}

Results convert_range(const Node& node) {
  auto& b = node.builder();
  const DType dtype = node.input(0).dtype();
  if (is_integer(dtype)) {
    const auto start = known_values(node.input(0)), limit = known_values(node.input(1)),
               step = known_values(node.input(2));
    if (start && limit && step && start->size() == 1 && limit->size() == 1 && step->size() == 1 &&
        step->front().as_const() && !step->front().is_const(0)) {
      return {b.call("arange", {b.prim(start->front()), b.prim(limit->front()), b.prim(step->front())},
                     {{"dtype", dtype}})};
    }
  }
  const auto scalar = [&](size_t i) { return b.reshape(node.input(i), {}); };
  return {b.builtin("range", {scalar(0), scalar(1), scalar(2)}, of_rank(dtype, 1))};
}

Results convert_eye_like(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  if (x.rank() != 2) fail(ErrorCode::ShapeMismatch, "input 0 has rank {}, it must have rank 2", x.rank());
  const auto* type = node.find("dtype");
  const Typed rows = b.call("add", b.unsqueeze(b.positions(x.dim(0)), 1), static_cast<double>(node.integer("k", 0)));
  const Typed hit = b.call("equal", {rows, b.positions(x.dim(1))});
  return {b.cast(hit, type != nullptr ? dtype_of(static_cast<int32_t>(type->i())) : x.dtype())};
}

Results convert_trilu(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  if (x.rank() < 2) fail(ErrorCode::ShapeMismatch, "input 0 has rank {}, it must have rank 2 or more", x.rank());
  const Typed rows = b.unsqueeze(b.positions(x.dim(x.rank() - 2)), 1);
  const Typed diagonal = b.subtract(b.positions(x.dim(x.rank() - 1)), rows);
  const Typed k = node.has(1) ? b.reshape(node.input(1), {}) : b.scalar(DType::Int64, 0);
  const Typed kept = b.call(node.flag("upper", true) ? "greater_equal" : "less_equal", {diagonal, k});
  return {b.call("where", {kept, x, b.scalar(x.dtype(), 0)})};
}

namespace {

PrimExpr divided(const PrimExpr& dim, int64_t by) {
  if (dim.as_const() && *dim.as_const() % by != 0)
    fail(ErrorCode::ShapeMismatch, "blocks of {} do not divide a dimension of {}", by, *dim.as_const());
  return simplify(floor_div(dim, by));
}

int64_t block_size(const Node& node) {
  constexpr int64_t kLargestBlock = 1 << 20;
  if (node.find("blocksize") == nullptr) fail(ErrorCode::InvalidArgument, "attribute blocksize is missing");
  const int64_t size = node.integer("blocksize", 1, 1, kLargestBlock);
  if (node.input(0).rank() != 4)
    fail(ErrorCode::ShapeMismatch, "input 0 has rank {}, it must have rank 4", node.input(0).rank());
  return size;
}

}  // namespace

Results convert_depth_to_space(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t size = block_size(node);
  const PrimExpr depth = divided(x.dim(1), size * size);
  const bool columns = node.choice("mode", "DCR", {"DCR", "CRD"}) == "CRD";
  const Typed blocks = columns ? b.reshape(x, {x.dim(0), depth, size, size, x.dim(2), x.dim(3)})
                               : b.reshape(x, {x.dim(0), size, size, depth, x.dim(2), x.dim(3)});
  const Typed sorted =
      b.transpose(blocks, columns ? std::vector<int64_t>{0, 1, 4, 2, 5, 3} : std::vector<int64_t>{0, 3, 4, 1, 5, 2});
  return {b.reshape(sorted, {x.dim(0), depth, x.dim(2) * size, x.dim(3) * size})};
}

Results convert_space_to_depth(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t size = block_size(node);
  const PrimExpr rows = divided(x.dim(2), size), columns = divided(x.dim(3), size);
  const Typed blocks = b.reshape(x, {x.dim(0), x.dim(1), rows, size, columns, size});
  return {b.reshape(b.transpose(blocks, {0, 3, 5, 1, 2, 4}), {x.dim(0), x.dim(1) * (size * size), rows, columns})};
}

// Position t of a sequence becomes length - 1 - t within its length, and stays behind it.
Results convert_reverse_sequence(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t batch = node.integer("batch_axis", 1, 0, 1), time = node.integer("time_axis", 0, 0, 1);
  if (batch == time) fail(ErrorCode::InvalidArgument, "attributes batch_axis and time_axis are both {}", batch);
  return {reverse_sequences(b, x, node.input(1), time)};
}

Typed reverse_sequences(GraphBuilder& b, const Typed& x, const Typed& lengths, int64_t time) {
  const auto t = static_cast<size_t>(time);
  const Typed step = b.unsqueeze(b.positions(x.dim(t)), 1 - time);
  const Typed length = b.unsqueeze(b.cast(lengths, DType::Int64), time);
  const Typed mirrored = b.call("subtract", b.subtract(length, step), 1.0);
  Typed place = b.call("where", {b.call("less", {step, length}), mirrored, step});
  for (size_t d = 2; d < x.rank(); ++d) place = b.unsqueeze(place, static_cast<int64_t>(d));
  place = b.call("broadcast_to", {place, b.shape(x.dims())});
  return b.call("gather_elements", {x, place}, {{"axis", time}});
}

Results convert_einsum(const Node& node) {
  return {node.builder().call("einsum", node.all_inputs(), {{"equation", node.text("equation", "")}})};
}

}  // namespace ingot::onnx_import
