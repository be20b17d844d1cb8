#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/layouts.h"
#include "compiler/ops/op_func.h"
#include "compiler/ops/resizing.h"
#include "runtime/symbolic/simplify.h"

// Operators that copy a part of a tensor, or a tensor several times, or into a larger one.
namespace ingot::ops {

using namespace ir;
using tir::Indices;

namespace {

struct Slice {
  PrimExpr begin = 0;
  int64_t step = 1;
  PrimExpr count;
};

// NumPy's slice: negative places count from the end, places beyond an end are brought to it. `dims`: what is not known
// is a dimension, so not negative.
Slice slice_of(const PrimExpr& extent, const PrimExpr& begin, const PrimExpr& end, int64_t step, bool dims) {
  const auto place = [&](const PrimExpr& given) -> PrimExpr {
    const int64_t low = step > 0 ? 0 : -1;
    const PrimExpr high = step > 0 ? extent : extent - 1;
    if (!given.as_const()) {
      const PrimExpr from_begin = min(given, high);
      if (dims || prove_less(given, 0) == Proof::No) return from_begin;
      return PrimExpr::make(PrimOp::Select,
                            {PrimExpr::make(PrimOp::Less, {given, 0}), max(extent + given, low), from_begin});
    }
    const int64_t at = *given.as_const();
    if (at == INT64_MIN) return PrimExpr(low);
    if (at < 0) return max(extent + at, low);
    if (at >= INT32_MAX) return high;
    return min(given, high);
  };
  const PrimExpr first = place(begin);
  const PrimExpr last = place(end);
  const PrimExpr span = step > 0 ? last - first + (step - 1) : first - last + (-step - 1);
  return {simplify(first), step, simplify(max(floor_div(span, step > 0 ? step : -step), 0))};
}

struct Places {
  Dims begin, end;
  std::vector<int64_t> steps, axes;
  bool dims = true;
};

// The slice of each dimension; those that no axis names are whole, and so is a dimension on the side that has no place.
std::vector<Slice> slices_at(const CallSite& call, const Operand& x, const Places& places) {
  const auto& [begin, end, steps, along, dims] = places;
  const bool listed = call.has_attr("axes") && (begin.size() != along.size() || end.size() != along.size());
  if (listed || along.size() > x.rank() || steps.size() > along.size())
    call.fail(ErrorCode::InvalidArgument, "begin has {} numbers, end {}, axes {}, strides {}; {} has rank {}",
              begin.size(), end.size(), along.size(), steps.size(), x.name, x.rank());
  std::vector<Slice> slices;
  for (const auto& dim : x.dims()) slices.push_back({0, 1, dim});
  for (size_t i = 0; i < along.size(); ++i) {
    const int64_t step = i < steps.size() ? steps[i] : steps.size() == 1 ? steps[0] : 1;
    if (step == 0 || step < -INT32_MAX || step > INT32_MAX)
      call.fail(ErrorCode::InvalidArgument, "a stride is {}, it must not be 0 or beyond {}", step, INT32_MAX);
    const auto axis = static_cast<size_t>(along[i]);
    const PrimExpr lowest = step > 0 ? 0 : INT64_MIN, greatest = INT32_MAX;
    slices[axis] = slice_of(x.dims()[axis],
                            i < begin.size() ? begin[i]
                            : step > 0       ? lowest
                                             : greatest,
                            i < end.size() ? end[i]
                            : step > 0     ? greatest
                                           : lowest,
                            step, dims);
  }
  return slices;
}

std::vector<int64_t> first_axes(size_t count) {
  std::vector<int64_t> result;
  for (size_t d = 0; d < count; ++d) result.push_back(static_cast<int64_t>(d));
  return result;
}

// An attribute, or else a constant argument.
std::vector<int64_t> numbers_of(const CallSite& call, std::string_view name, size_t argument) {
  std::vector<int64_t> result;
  if (!call.has_attr(name) && !given(call, argument)) return result;
  for (const PrimExpr& value : dims_of(call, name, argument)) {
    if (!value.as_const())
      call.fail(ErrorCode::TypeError, "{} is {}, it must be known at compile time", name, to_text(value));
    result.push_back(*value.as_const());
  }
  return result;
}

// Prims that are not known could be negative; dimensions are not, be it of a shape or, in a prim's expression, of `x`.
bool is_dimension(const CallSite& call, size_t argument, const PrimExpr& place, const Operand& x) {
  if (place.as_const() || call.info(argument)->kind == InfoKind::Shape) return true;
  bool known = true;
  for_each_var(place, [&](const SymVar& var) {
    known = known && std::ranges::any_of(x.dims(), [&](const PrimExpr& dim) { return same_expr(dim, PrimExpr(var)); });
  });
  return known;
}

Dims places_of(const CallSite& call, std::string_view name, size_t argument, bool& dims) {
  Dims places = dims_of(call, name, argument);
  for (const PrimExpr& place : places)
    dims = dims && (place.as_const() || call.info(argument)->kind == InfoKind::Shape);
  return places;
}

// Numbers as a tensor, also negative ones that only the run tells.
Expr tensor_of(const Dims& values) {
  std::vector<Expr> parts;
  for (const PrimExpr& value : values)
    parts.push_back(make_builtin("prim_to_tensor", {make_prim(value)}, tensor_info(DType::Int64, Dims{})));
  return make_call("stack", {make_tuple(std::move(parts))}, {{"axis", int64_t{0}}});
}

// Is the sum of two places small enough to be one?
bool fits(const PrimExpr& begin, const PrimExpr& size) {
  return !begin.as_const() || !size.as_const() || *begin.as_const() <= INT32_MAX - *size.as_const();
}

// The slice at places that may turn out to be negative, as the run tells; nullopt where none may.
std::optional<Expr> by_values(const CallSite& call) {
  const auto x = operand(call, 0);
  bool dims = true, known = true;
  const Dims begin = places_of(call, "begin", 1, dims), end = places_of(call, "end", 2, dims);
  for (const PrimExpr& place : begin) known = known && is_dimension(call, 1, place, x);
  for (const PrimExpr& place : end) known = known && is_dimension(call, 2, place, x);
  if (known) return std::nullopt;
  if (call.text("slice_mode") != "end")
    call.fail(ErrorCode::TypeError,
              "a place or size is not known and may be negative; give begin and end as shape(...)");
  const auto along = call.has_attr("axes") ? axes(call, "axes", x.rank()) : first_axes(begin.size());
  const auto steps = numbers_of(call, "strides", 3);
  if (begin.size() != along.size() || end.size() != along.size() || along.size() > x.rank() ||
      steps.size() > along.size())
    call.fail(ErrorCode::InvalidArgument, "begin has {} numbers, end {}, axes {}, strides {}; {} has rank {}",
              begin.size(), end.size(), along.size(), steps.size(), x.name, x.rank());
  Dims strides(steps.begin(), steps.end());
  strides.resize(along.size(), steps.size() == 1 ? PrimExpr(steps[0]) : PrimExpr(1));
  return make_builtin(
      "slice",
      {call.arg(0), tensor_of(begin), tensor_of(end), tensor_of(Dims(along.begin(), along.end())), tensor_of(strides)},
      tensor_info(x.dtype(), static_cast<uint32_t>(x.rank())));
}

// `x` in the variables of `f` where it is given.
std::vector<Slice> slices_of(const CallSite& call, const Operand& x, const OpFunc* f = nullptr) {
  bool dims = true;
  Dims begin = places_of(call, "begin", 1, dims), end = places_of(call, "end", 2, dims);
  if (f != nullptr)
    for (auto* list : {&begin, &end})
      for (PrimExpr& place : *list) place = f->local(place);
  const std::string mode = call.text("slice_mode");
  if (mode != "end" && mode != "size")
    call.fail(ErrorCode::InvalidArgument, "slice_mode is \"{}\", possible are \"end\" and \"size\"", mode);
  if (mode == "size" && !dims)
    call.fail(ErrorCode::TypeError,
              "a place or size is not known and may be negative; give begin and end as shape(...)");
  // Sizes instead of ends; -1 is all that remains.
  if (mode == "size")
    for (size_t i = 0; i < std::min(begin.size(), end.size()); ++i)
      end[i] = prove_less(end[i], 0) == Proof::Yes || !fits(begin[i], end[i]) ? PrimExpr(INT32_MAX) : begin[i] + end[i];
  const auto steps = numbers_of(call, "strides", 3);
  const auto along =
      call.has_attr("axes") ? axes(call, "axes", x.rank()) : first_axes(std::max(begin.size(), end.size()));
  return slices_at(call, x, {begin, end, steps, along, dims});
}

std::vector<Slice> slices_to_set(const CallSite& call, const Operand& x) {
  const auto listed = [&](std::string_view name, size_t argument) {
    const auto numbers = numbers_of(call, name, argument);
    return Dims(numbers.begin(), numbers.end());
  };
  const Dims begin = listed("begin", 2), end = listed("end", 3);
  return slices_at(call, x,
                   {begin, end, numbers_of(call, "strides", 4), first_axes(std::max(begin.size(), end.size()))});
}

}  // namespace

StructInfo infer_strided_slice(const CallSite& call) {
  if (by_values(call)) return infer_composed(call);
  const auto x = operand(call, 0);
  Dims dims;
  for (const auto& slice : slices_of(call, x)) dims.push_back(slice.count);
  return tensor_like(x, dims);
}

Effect strided_slice_effect(const CallSite& call) { return by_values(call) ? composed_effect(call) : Effect::Total; }

Meaning define_strided_slice(const CallSite& call) {
  if (auto open = by_values(call)) return *std::move(open);
  OpFunc f(call);
  const auto slices = slices_of(call, f.operand(0), &f);
  f.compute(f.out(), [&](const Indices& i) {
    Indices at;
    for (size_t d = 0; d < i.size(); ++d) at.push_back(slices[d].begin + i[d] * slices[d].step);
    return f.load(f.in(), at);
  });
  return f.finish();
}

StructInfo infer_strided_set(const CallSite& call) {
  const auto x = operand(call, 0), updates = operand(call, 1);
  require_same_dtype(call, x, updates);
  require_rank(call, updates, x.rank());
  const auto slices = slices_to_set(call, x);
  for (size_t d = 0; d < x.rank(); ++d)
    require_equal(call, "sizes of the places and updates", x, slices[d].count, updates, updates.dims()[d]);
  return x.info;
}

Meaning define_strided_set(const CallSite& call) {
  OpFunc f(call);
  const auto slices = slices_to_set(call, f.operand(0));
  for (size_t d = 0; d < slices.size(); ++d)
    if (const PrimExpr& dim = f.dims(f.in(1))[d]; prove_equal(slices[d].count, dim) != Proof::Yes)
      f.require(fmt::format("updates_{}", d), PrimExpr::make(PrimOp::Equal, {slices[d].count, dim}));
  f.compute(f.out(), [&](const Indices& i) {
    Indices at;
    PrimExpr inside = 1;
    for (size_t d = 0; d < i.size(); ++d) {
      const auto& [begin, step, count] = slices[d];
      const PrimExpr way = step > 0 ? i[d] - begin : begin - i[d];
      const PrimExpr place = floor_div(way, std::abs(step));
      const PrimExpr within = PrimExpr::make(
          PrimOp::And, {PrimExpr::make(PrimOp::LessEqual, {PrimExpr(0), way}),
                        PrimExpr::make(PrimOp::And, {PrimExpr::make(PrimOp::Less, {place, count}),
                                                     PrimExpr::make(PrimOp::Equal, {place * std::abs(step), way})})});
      inside = inside.is_const(1) ? within : PrimExpr::make(PrimOp::And, {inside, within});
      at.push_back(place);
    }
    if (inside.is_const(1)) return f.load(f.in(1), at);
    return select(truth(element(DType::Int64, inside)), f.load(f.in(1), at), f.load(f.in(), i));
  });
  return f.finish();
}

namespace {

enum class Fill : uint8_t { Constant, Edge, Reflect, Symmetric };

Fill fill_of(const CallSite& call) {
  const std::string mode = call.text("pad_mode");
  if (mode == "constant") return Fill::Constant;
  if (mode == "edge" || mode == "replicate") return Fill::Edge;
  if (mode == "reflect") return Fill::Reflect;
  if (mode == "symmetric") return Fill::Symmetric;
  call.fail(ErrorCode::InvalidArgument,
            "pad_mode is \"{}\", possible are \"constant\", \"edge\", \"reflect\" and \"symmetric\"", mode);
}

}  // namespace

// pad_width: before and after, for each dimension in turn.
StructInfo infer_pad(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto width = call.integers("pad_width");
  if (width.size() != 2 * x.rank())
    call.fail(ErrorCode::InvalidArgument, "pad_width has {} numbers, {} of rank {} needs {}", width.size(), x.name,
              x.rank(), 2 * x.rank());
  if (given(call, 1)) {
    require_rank(call, operand(call, 1), 0);
    require_same_dtype(call, x, operand(call, 1));
  }
  Dims dims;
  for (size_t d = 0; d < x.rank(); ++d) {
    for (const int64_t side : {width[2 * d], width[2 * d + 1]})
      if (side < -INT32_MAX || side > INT32_MAX)
        call.fail(ErrorCode::InvalidArgument, "pad_width has {}, which is beyond {}", side, INT32_MAX);
    dims.push_back(simplify(x.dims()[d] + (width[2 * d] + width[2 * d + 1])));
    const int64_t most = std::max(width[2 * d], width[2 * d + 1]);
    const int64_t beyond = fill_of(call) == Fill::Reflect ? 1 : 0;
    const PrimExpr& extent = x.dims()[d];
    if ((beyond == 1 || fill_of(call) == Fill::Symmetric) && exceeds(call, most + beyond, max(extent, beyond)))
      call.fail(ErrorCode::ShapeMismatch, "pad_width has {}, reflection of dimension {} with {} elements allows {}",
                most, d, to_text(extent), to_text(simplify(extent - beyond)));
    if (exceeds(call, 0, dims.back()))
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} would become {}", d, x.name, to_text(dims.back()));
  }
  return tensor_like(x, dims);
}

Meaning define_pad(const CallSite& call) {
  OpFunc f(call);
  const auto width = call.integers("pad_width");
  const Fill fill = fill_of(call);
  const Dims dims = f.dims(f.in());
  const DType dtype = f.dtype(f.out());
  const bool has_value = given(call, 1);
  f.compute(f.out(), [&](const Indices& i) {
    Indices at;
    PrimExpr inside = 1;
    for (size_t d = 0; d < i.size(); ++d) {
      PrimExpr place = i[d] - width[2 * d];
      if (width[2 * d] == 0 && width[2 * d + 1] == 0) {
        at.push_back(place);
        continue;
      }
      if (fill == Fill::Edge) place = min(max(place, 0), dims[d] - 1);
      if (fill == Fill::Reflect || fill == Fill::Symmetric) {
        const int64_t edge = fill == Fill::Symmetric ? 1 : 0;
        place = PrimExpr::make(PrimOp::Select,
                               {PrimExpr::make(PrimOp::Less, {place, PrimExpr(0)}), PrimExpr(-edge) - place, place});
        const PrimExpr end = dims[d] - 1;
        place =
            PrimExpr::make(PrimOp::Select, {PrimExpr::make(PrimOp::Less, {end, place}), end * 2 + edge - place, place});
      }
      if (fill == Fill::Constant) {
        const PrimExpr within = PrimExpr::make(PrimOp::And, {PrimExpr::make(PrimOp::LessEqual, {PrimExpr(0), place}),
                                                             PrimExpr::make(PrimOp::Less, {place, dims[d]})});
        inside = inside.is_const(1) ? within : PrimExpr::make(PrimOp::And, {inside, within});
      }
      at.push_back(place);
    }
    if (inside.is_const(1)) return f.load(f.in(), at);
    const Element outside = has_value ? f.load(f.in(1), {}) : element(dtype, call.number("pad_value"));
    return select(truth(element(DType::Int64, inside)), f.load(f.in(), at), outside);
  });
  return f.finish();
}

StructInfo infer_tile(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto reps = call.integers("reps");
  Dims dims = x.dims();
  while (dims.size() < reps.size()) dims.insert(dims.begin(), PrimExpr(1));
  if (dims.size() > kMaxRank)
    call.fail(ErrorCode::ShapeMismatch, "the result has rank {}, the greatest is {}", dims.size(), kMaxRank);
  const size_t skipped = dims.size() - reps.size();
  for (size_t d = 0; d < reps.size(); ++d) {
    if (reps[d] < 0) call.fail(ErrorCode::InvalidArgument, "reps has {}, it must not be negative", reps[d]);
    dims[skipped + d] = simplify(dims[skipped + d] * reps[d]);
  }
  return tensor_like(x, dims);
}

Meaning define_tile(const CallSite& call) {
  OpFunc f(call);
  const Dims dims = f.dims(f.in());
  f.compute(f.out(), [&](const Indices& i) {
    Indices at;
    for (size_t d = 0; d < dims.size(); ++d) at.push_back(floor_mod(i[i.size() - dims.size() + d], dims[d]));
    return f.load(f.in(), at);
  });
  return f.finish();
}

StructInfo infer_repeat(const CallSite& call) {
  const auto x = operand(call, 0);
  const int64_t repeats = call.integer("repeats");
  if (repeats < 0) call.fail(ErrorCode::InvalidArgument, "repeats is {}, it must not be negative", repeats);
  if (!call.has_attr("axis")) return tensor_like(x, {simplify(product(x.dims()) * repeats)});
  Dims dims = x.dims();
  auto& dim = dims[static_cast<size_t>(call.axis("axis", x.rank()))];
  dim = simplify(dim * repeats);
  return tensor_like(x, dims);
}

Meaning define_repeat(const CallSite& call) {
  if (!call.has_attr("axis"))
    return make_call("repeat", {make_call("flatten", {call.arg(0)})},
                     {{"repeats", call.integer("repeats")}, {"axis", int64_t{0}}});
  OpFunc f(call);
  const auto axis = static_cast<size_t>(call.axis("axis", f.dims(f.in()).size()));
  f.compute(f.out(), [&](const Indices& i) {
    Indices at = i;
    at[axis] = floor_div(i[axis], call.integer("repeats"));
    return f.load(f.in(), at);
  });
  return f.finish();
}

StructInfo infer_flip(const CallSite& call) {
  const auto x = operand(call, 0);
  axes(call, "axis", x.rank());
  return x.info;
}

Meaning define_flip(const CallSite& call) {
  OpFunc f(call);
  const Dims dims = f.dims(f.in());
  const auto along = axes(call, "axis", dims.size());
  f.compute(f.out(), [&](const Indices& i) {
    Indices at = i;
    for (const int64_t axis : along) {
      const auto d = static_cast<size_t>(axis);
      at[d] = dims[d] - 1 - i[d];
    }
    return f.load(f.in(), at);
  });
  return f.finish();
}

namespace {

// What whole factors of the nearest neighbour do not tell.
std::optional<Expr> resized(const CallSite& call) {
  if (auto plain = in_plain_layouts(call, "NCHW")) return plain;
  bool whole = call.text("method") == "nearest_neighbor";
  for (const std::string_view name : {"scale_h", "scale_w"})
    whole = whole && call.number(name) >= 1 && call.number(name) <= 65536 &&
            call.number(name) == static_cast<double>(static_cast<int64_t>(call.number(name)));
  if (whole) return std::nullopt;
  constexpr std::string_view kFactors[] = {"scale_h", "scale_w"};
  return upsampled(call, kFactors, call.flag("align_corners") ? "align_corners" : "asymmetric");
}

}  // namespace

// Nearest neighbour, by whole factors, of [N, C, H, W].
StructInfo infer_upsampling(const CallSite& call) {
  if (resized(call)) return infer_composed(call);
  const auto x = operand(call, 0);
  require_rank(call, x, 4);
  Dims dims = x.dims();
  for (size_t d = 0; d < 2; ++d)
    dims[2 + d] = simplify(dims[2 + d] * static_cast<int64_t>(call.number(d == 0 ? "scale_h" : "scale_w")));
  return tensor_like(x, dims);
}

Effect upsampling_effect(const CallSite& call) { return resized(call) ? composed_effect(call) : Effect::Total; }

Meaning define_upsampling(const CallSite& call) {
  if (auto other = resized(call)) return *std::move(other);
  OpFunc f(call);
  f.compute(f.out(), [&](const Indices& i) {
    return f.load(f.in(), {i[0], i[1], floor_div(i[2], static_cast<int64_t>(call.number("scale_h"))),
                           floor_div(i[3], static_cast<int64_t>(call.number("scale_w")))});
  });
  return f.finish();
}

}  // namespace ingot::ops
