#include <algorithm>

#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "runtime/symbolic/simplify.h"

// Operators whose numbers are tensors, Relay's dyn.*: as those with attributes where the numbers are known, by builtins
// of the VM otherwise.
namespace ingot::ops {

using namespace ir;

namespace {

// A shape, or an integer tensor of rank 0 or 1, as a list of numbers.
struct Numbers {
  std::optional<Dims> known;
  Expr values;  // a shape, or a tensor of int64
  std::optional<size_t> count;

  size_t known_count(const CallSite& call, size_t i) const {
    if (!count)
      call.fail(ErrorCode::TypeError, "the number of elements of {} must be known; bind it with match_cast",
                call.name_of(i));
    return *count;
  }

  std::vector<int64_t> constants(const CallSite& call, std::string_view what) const {
    std::vector<int64_t> result;
    for (const PrimExpr& value : *known) {
      if (!value.as_const())
        call.fail(ErrorCode::TypeError, "{} has {}, which is known only when the program runs; give a tensor", what,
                  to_text(value));
      result.push_back(*value.as_const());
    }
    return result;
  }
};

Expr cast_to(const Expr& x, DType dtype) { return make_call("cast", {x}, {{"dtype", dtype}}); }

Expr list_of(std::vector<Expr> parts) {
  return make_call("concat", {ops::make_tuple(std::move(parts))}, {{"axis", int64_t{0}}});
}

Expr constant_list(Dims values) { return make_call("shape_to_tensor", {make_shape(std::move(values))}); }

Numbers numbers_at(const CallSite& call, size_t i) {
  if (!call.has(i)) call.fail(ErrorCode::ArityMismatch, "argument {} is missing", i);
  Numbers numbers{constant_integers(call, i), call.arg(i), std::nullopt};
  const auto& info = call.info(i);
  if (info != nullptr && info->kind == InfoKind::Shape && !numbers.known) {
    if (info->rank) numbers.count = *info->rank;
    numbers.values = make_call("shape_to_tensor", {call.arg(i)});
    return numbers;
  }
  if (numbers.known) {
    numbers.count = numbers.known->size();
    return numbers;
  }
  const auto x = operand(call, i);
  require_integer(call, x);
  if (x.rank() > 1) call.fail(ErrorCode::ShapeMismatch, "{} must have rank 0 or 1, it has rank {}", x.name, x.rank());
  const auto count = x.rank() == 0 ? std::optional<int64_t>(1) : x.dims()[0].as_const();
  if (count) numbers.count = static_cast<size_t>(*count);
  numbers.values = x.dtype() == DType::Int64 ? call.arg(i) : cast_to(call.arg(i), DType::Int64);
  return numbers;
}

// A tensor of so many dimensions, where that is known.
StructInfo of_rank(const CallSite& call, DType dtype, std::optional<size_t> rank) {
  if (!rank) return tensor_info(dtype);
  if (*rank > kMaxRank)
    call.fail(ErrorCode::ShapeMismatch, "the result has rank {}, the greatest is {}", *rank, kMaxRank);
  return tensor_info(dtype, static_cast<uint32_t>(*rank));
}

}  // namespace

Meaning define_dynamic_broadcast_to(const CallSite& call) {
  const auto x = operand(call, 0);
  const Numbers shape = numbers_at(call, 1);
  if (shape.known) return make_call("broadcast_to", {call.arg(0), make_shape(*shape.known)});
  if (shape.count && *shape.count < x.rank())
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, the shape has {} dimensions", x.name, x.rank(), *shape.count);
  if (!shape.count) (void)exceeds(call, static_cast<int64_t>(x.rank()), operand(call, 1).dims()[0]);
  return make_builtin("expand", {call.arg(0), shape.values}, of_rank(call, x.dtype(), shape.count));
}

// Of "dynamic_zeros" and "dynamic_ones".
Meaning define_dynamic_zeros(const CallSite& call) {
  const bool ones = call.op().name == "dynamic_ones";
  const DType dtype = dtype_of(call, "dtype") == DType::None ? DType::Float32 : dtype_of(call, "dtype");
  const Numbers shape = numbers_at(call, 0);
  if (shape.known) return make_call(ones ? "ones" : "zeros", {make_shape(*shape.known)}, {{"dtype", dtype}});
  return make_builtin("fill", {shape.values, scalar(dtype, ones ? 1 : 0)}, of_rank(call, dtype, shape.count));
}

Meaning define_dynamic_full(const CallSite& call) {
  const auto value = operand(call, 0);
  require_rank(call, value, 0);
  const DType dtype = dtype_of(call, "dtype") == DType::None ? value.dtype() : dtype_of(call, "dtype");
  const Expr fill = dtype == value.dtype() ? call.arg(0) : cast_to(call.arg(0), dtype);
  const Numbers shape = numbers_at(call, 1);
  if (shape.known) return make_call("full", {fill, make_shape(*shape.known)});
  return make_builtin("fill", {shape.values, fill}, of_rank(call, dtype, shape.count));
}

Meaning define_dynamic_tile(const CallSite& call) {
  const auto x = operand(call, 0);
  const Numbers reps = numbers_at(call, 1);
  if (reps.known) return make_call("tile", {call.arg(0)}, {{"reps", reps.constants(call, "reps")}});
  const size_t count = reps.known_count(call, 1), rank = std::max(x.rank(), count);
  Dims dims(rank - x.rank(), PrimExpr(1));
  dims.insert(dims.end(), x.dims().begin(), x.dims().end());
  const Expr data =
      rank == x.rank() ? call.arg(0) : make_call("reshape", {call.arg(0), make_shape(dims)}, {{"allowzero", true}});
  const Expr times =
      rank == count ? reps.values : list_of({constant_list(Dims(rank - count, PrimExpr(1))), reps.values});
  return make_builtin("tile", {data, times}, of_rank(call, x.dtype(), rank));
}

// pad_width [rank, 2]: before and after each dimension.
Meaning define_dynamic_pad(const CallSite& call) {
  const auto x = operand(call, 0), width = operand(call, 1);
  require_integer(call, width);
  require_rank(call, width, 2);
  const Expr sides = make_call("flatten", {make_call("transpose", {cast_to(call.arg(1), DType::Int64)})});
  const Expr value = given(call, 2) ? cast_to(call.arg(2), x.dtype()) : make_none();
  return make_builtin("pad", {call.arg(0), sides, value, make_none(), make_text(call.text("pad_mode"))},
                      of_rank(call, x.dtype(), x.rank()));
}

Meaning define_dynamic_squeeze(const CallSite& call) {
  const auto x = operand(call, 0);
  const Numbers axis = numbers_at(call, 1);
  if (axis.known) return make_call("squeeze", {call.arg(0)}, {{"axis", axis.constants(call, "axis")}});
  if (axis.count && *axis.count > x.rank())
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, {} axes are given", x.name, x.rank(), *axis.count);
  if (!axis.count) (void)exceeds(call, operand(call, 1).dims()[0], static_cast<int64_t>(x.rank()));
  const auto rank = axis.count ? std::optional(x.rank() - *axis.count) : std::nullopt;
  return make_builtin("squeeze", {call.arg(0), axis.values}, of_rank(call, x.dtype(), rank));
}

Meaning define_dynamic_expand_dims(const CallSite& call) {
  const auto x = operand(call, 0);
  const Numbers axis = numbers_at(call, 1);
  const int64_t added = call.integer("num_newaxis");
  if (const size_t count = axis.known_count(call, 1); count != 1)
    call.fail(ErrorCode::ShapeMismatch, "axis has {} numbers, 1 is wanted", count);
  if (axis.known)
    return make_call("expand_dims", {call.arg(0)}, {{"axis", axis.constants(call, "axis")}, {"num_newaxis", added}});
  if (added != 1)
    call.fail(ErrorCode::Unsupported, "num_newaxis is {}; with an axis that is not known only 1 is there", added);
  return make_builtin("unsqueeze", {call.arg(0), axis.values}, of_rank(call, x.dtype(), x.rank() + 1));
}

Meaning define_dynamic_one_hot(const CallSite& call) {
  const Numbers depth = numbers_at(call, 3);
  if (const size_t count = depth.known_count(call, 3); count != 1)
    call.fail(ErrorCode::ShapeMismatch, "the depth has {} numbers, 1 is wanted", count);
  if (!depth.known || !depth.known->front().as_const()) {
    const auto indices = operand(call, 0), on = operand(call, 1), off = operand(call, 2);
    require_integer(call, indices);
    for (const auto* x : {&on, &off}) require_rank(call, *x, 0);
    const int64_t axis = normalize_axis(call, call.integer("axis"), indices.rank() + 1);
    const DType dtype = dtype_of(call, "dtype") == DType::None ? on.dtype() : dtype_of(call, "dtype");
    if (!depth.known)
      return make_builtin(
          "one_hot",
          {call.arg(0), cast_to(call.arg(1), dtype), cast_to(call.arg(2), dtype), depth.values, make_prim(axis)},
          of_rank(call, dtype, indices.rank() + 1));
    Dims dims(indices.rank() + 1, PrimExpr(1));
    dims[static_cast<size_t>(axis)] = depth.known->front();
    const Expr places = make_call("arange", {make_prim(depth.known->front())}, {{"dtype", indices.dtype()}});
    const Expr hit = make_call("equal", {make_call("expand_dims", {call.arg(0)}, {{"axis", axis}}),
                                         make_call("reshape", {places, make_shape(dims)}, {{"allowzero", true}})});
    return make_call("where", {hit, cast_to(call.arg(1), dtype), cast_to(call.arg(2), dtype)});
  }
  Attrs attrs = call.attrs();
  attrs["depth"] = depth.constants(call, "depth")[0];
  return make_call("one_hot", {call.arg(0), call.arg(1), call.arg(2)}, std::move(attrs));
}

Meaning define_dynamic_reshape(const CallSite& call) {
  const auto x = operand(call, 0);
  const Numbers shape = numbers_at(call, 1);
  const bool is_shape = call.info(1)->kind == InfoKind::Shape;
  if (shape.known) return make_call("reshape", {call.arg(0), is_shape ? call.arg(1) : make_shape(*shape.known)});
  return make_builtin("reshape_like", {call.arg(0), shape.values, make_prim(0)}, of_rank(call, x.dtype(), shape.count));
}

// The shape last.
Meaning define_dynamic_sparse_to_dense(const CallSite& call) {
  const auto places = operand(call, 0), values = operand(call, 1);
  require_integer(call, places);
  const Numbers shape = numbers_at(call, 3);
  const Expr fill = given(call, 2) ? call.arg(2) : scalar(values.dtype(), 0);
  if (given(call, 2)) require_same_dtype(call, values, operand(call, 2));
  return make_builtin("sparse_to_dense", {call.arg(0), call.arg(1), fill, shape.values},
                      of_rank(call, values.dtype(), shape.count));
}

// slice_mode "size": sizes instead of ends; a negative one is all that remains.
Meaning define_dynamic_slice(const CallSite& call) {
  const auto x = operand(call, 0);
  std::vector<Expr> places;
  for (size_t i = 1; i < 4; ++i) {
    if (!given(call, i)) continue;
    require_integer(call, operand(call, i));
    places.push_back(cast_to(call.arg(i), DType::Int64));
  }
  if (places.size() < 2) call.fail(ErrorCode::ArityMismatch, "begin and end are needed");
  const std::string mode = call.text("slice_mode");
  if (mode != "end" && mode != "size")
    call.fail(ErrorCode::InvalidArgument, "slice_mode is \"{}\", possible are \"end\" and \"size\"", mode);
  if (mode == "size")
    places[1] = make_call("where", {make_call("less", {places[1], scalar(DType::Int64, 0)}),
                                    scalar(DType::Int64, INT32_MAX), make_call("add", {places[0], places[1]})});
  std::vector<Expr> args = {call.arg(0), places[0], places[1], make_none()};
  if (places.size() > 2) args.push_back(places[2]);
  return make_builtin("slice", std::move(args), of_rank(call, x.dtype(), x.rank()));
}

// Of "dynamic_upsampling" and "dynamic_upsampling3d": sizes times the factors, rounded.
Meaning define_dynamic_upsampling(const CallSite& call) {
  const size_t spatial = call.size() - 1;
  const std::string layout = call.text("layout");
  if (const std::string_view plain = spatial == 2 ? "NCHW" : "NCDHW"; !std::ranges::is_permutation(layout, plain))
    call.fail(ErrorCode::Unsupported, "layout is \"{}\", possible are the orders of \"{}\"; use layout_transform",
              layout, plain);
  const auto x = operand(call, 0);
  require_rank(call, x, spatial + 2);
  std::vector<Expr> factors;
  for (size_t i = 1; i < call.size(); ++i) {
    const auto factor = operand(call, i);
    require_float(call, factor);
    require_rank(call, factor, 0);
    factors.push_back(cast_to(call.arg(i), DType::Float64));
  }
  Dims dims;
  for (const char letter : std::string_view(spatial == 2 ? "HW" : "DHW")) dims.push_back(x.dims()[layout.find(letter)]);
  const Expr product = make_call("multiply", {cast_to(constant_list(dims), DType::Float64),
                                              make_call("stack", {ops::make_tuple(std::move(factors))})});
  const Expr sizes = make_call("floor", {make_call("add", {product, scalar(DType::Float64, 0.5)})});
  std::string method = call.text("method"), coordinates = "asymmetric";
  if (spatial == 2 && call.flag("align_corners")) coordinates = "align_corners";
  if (spatial == 3 && method != "nearest_neighbor") coordinates = call.text("coordinate_transformation_mode");
  if (method == "bilinear" || method == "trilinear") method = "linear";
  if (method == "bicubic") method = "cubic";
  return make_call(spatial == 2 ? "resize2d" : "resize3d", {call.arg(0), cast_to(sizes, DType::Int64)},
                   {{"method", method}, {"coordinate_transformation_mode", coordinates}, {"layout", layout}});
}

}  // namespace ingot::ops
