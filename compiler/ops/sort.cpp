#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "compiler/ops/reduce.h"
#include "runtime/symbolic/simplify.h"

// Operators that order elements or look for them.
namespace ingot::ops {

using namespace ir;
using tir::Indices;

namespace {

// The `count` greatest or least along an axis, in order, and their places.
struct Ordered {
  Expr values, places;
  DType dtype = DType::Int64;  // of the places
};
Ordered ordered(const CallSite& call, const Operand& x, const PrimExpr& count, bool descending) {
  require_numeric(call, x);
  const int64_t axis = normalize_axis(call, call.integers("axis").at(0), x.rank());
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = count;
  const Expr k = make_call("shape_to_tensor", {make_shape({count})});
  const Expr both =
      make_builtin("top_k", {call.arg(0), k, make_prim(axis), make_prim(descending), make_prim(1)}, object_info());
  return {make_builtin("sequence_at", {both, make_prim(0)}, tensor_like(x, dims)),
          make_builtin("sequence_at", {both, make_prim(1)}, tensor_info(DType::Int64, dims)), DType::Int64};
}

bool is_descending(const CallSite& call) {
  if (call.has_attr("is_ascend")) return !call.flag("is_ascend");
  return call.flag(call.op().name == "topk" ? "largest" : "descending");
}

Expr places_of(const CallSite& call, const Ordered& best) {
  const DType dtype = call.dtype_attr("dtype");
  return dtype == best.dtype ? best.places : make_call("cast", {best.places}, {{"dtype", dtype}});
}

const PrimExpr& extent(const CallSite& call, const Operand& x) {
  return x.dims()[static_cast<size_t>(call.axis("axis", x.rank()))];
}

}  // namespace

Meaning define_sort(const CallSite& call) {
  const auto x = operand(call, 0);
  return ordered(call, x, extent(call, x), is_descending(call)).values;
}

Meaning define_argsort(const CallSite& call) {
  const auto x = operand(call, 0);
  return places_of(call, ordered(call, x, extent(call, x), is_descending(call)));
}

namespace {

Meaning wanted_of(const CallSite& call, const Ordered& best) {
  const std::string wanted = call.text("ret_type");
  if (wanted == "values") return best.values;
  if (wanted == "indices") return places_of(call, best);
  if (wanted != "both")
    call.fail(ErrorCode::InvalidArgument, "ret_type is \"{}\", possible are \"both\", \"values\" and \"indices\"",
              wanted);
  return make_tuple({best.values, places_of(call, best)});
}

int64_t only_number(const CallSite& call, size_t argument) {
  const auto values = constant_integers(call, argument);
  if (values->size() != 1 || !values->front().as_const())
    call.fail(ErrorCode::TypeError, "{} must be one number known at compile time, or a tensor", call.name_of(argument));
  return *values->front().as_const();
}

// Of as many as a tensor says when the program runs.
Meaning topk_by_tensor(const CallSite& call, const Operand& x) {
  require_numeric(call, x);
  require_integer(call, operand(call, 1));
  const Expr k = make_call("cast", {call.arg(1)}, {{"dtype", DType::Int64}});
  const DType places = call.dtype_attr("dtype");
  const bool wants_places = call.text("ret_type") != "values";
  if (wants_places && places != DType::Int64 && places != DType::Int32)
    call.fail(ErrorCode::Unsupported,
              "with k in a tensor the places are int32 or int64; write dtype=\"int32\" and cast them");
  const bool narrow = wants_places && places == DType::Int32;
  const Expr both = make_builtin("top_k",
                                 {call.arg(0), k, make_prim(call.axis("axis", x.rank())),
                                  make_prim(is_descending(call)), make_prim(1), make_prim(narrow)},
                                 object_info());
  const auto part = [&](int64_t i, DType dtype) {
    return make_builtin("sequence_at", {both, make_prim(i)}, tensor_info(dtype, static_cast<uint32_t>(x.rank())));
  };
  const DType made = narrow ? DType::Int32 : DType::Int64;
  return wanted_of(call, {part(0, x.dtype()), part(1, made), made});
}

}  // namespace

// k below 1: all.
Meaning define_topk(const CallSite& call) {
  const auto x = operand(call, 0);
  if (given(call, 1) && !constant_integers(call, 1)) return topk_by_tensor(call, x);
  const int64_t k = given(call, 1) ? only_number(call, 1) : call.integer("k");
  const PrimExpr& most = extent(call, x);
  if (k > 0 && exceeds(call, k, most))
    call.fail(ErrorCode::ShapeMismatch, "k is {}, {} has {} elements along the axis", k, x.name, to_text(most));
  return wanted_of(call, ordered(call, x, k < 1 ? most : PrimExpr(k), is_descending(call)));
}

// Along one axis the middle element, the lower one of two, and its place; of several axes, or of all, the element
// alone.
Meaning define_median(const CallSite& call) {
  const auto x = operand(call, 0);
  Reduction how;
  how.along.assign(x.rank(), false);
  for (const int64_t axis : axes(call, "axis", x.rank())) how.along[static_cast<size_t>(axis)] = true;
  how.keepdims = call.flag("keepdims");
  const bool one = call.has_attr("axis") && call.integers("axis").size() == 1;
  if (!one) {
    std::vector<int64_t> order;
    Dims dims;
    for (const bool reduces : {false, true})
      for (size_t d = 0; d < x.rank(); ++d) {
        if (how.along[d] != reduces) continue;
        order.push_back(static_cast<int64_t>(d));
        if (!reduces) dims.push_back(x.dims()[d]);
      }
    dims.push_back(product(how.reduced(x.dims())));
    const auto reshaped = [](const Expr& e, Dims to) {
      return make_call("reshape", {e, make_shape(std::move(to))}, {{"allowzero", true}});
    };
    const Expr rows = reshaped(make_call("transpose", {call.arg(0)}, {{"axes", order}}), dims);
    const Expr middle = field(make_call("median", {rows}, {{"axis", int64_t{-1}}}), 0);
    return how.keepdims ? reshaped(middle, how.kept(x.dims())) : middle;
  }
  const int64_t axis = normalize_axis(call, call.integers("axis")[0], x.rank());
  const PrimExpr& count = x.dims()[static_cast<size_t>(axis)];
  if (exceeds(call, 1, count)) call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is 0", axis, x.name);
  const Ordered all = ordered(call, x, count, false);
  const Expr at = make_call(
      "reshape", {make_call("shape_to_tensor", {make_shape({simplify(floor_div(count - 1, 2))})}), make_shape({})});
  const auto middle = [&](const Expr& e) {
    const Expr part = taken(e, at, axis);
    return how.keepdims ? make_call("expand_dims", {part}, {{"axis", axis}}) : part;
  };
  return make_tuple({middle(all.values), middle(all.places)});
}

// The different elements, then what the flags ask for: where each was first, which one each is, how often it occurs.
Meaning define_unique(const CallSite& call) {
  const auto x = operand(call, 0);
  require_numeric(call, x);
  const bool flat = !call.has_attr("axis");
  const Expr axis = flat ? make_none() : make_prim(call.axis("axis", x.rank()));
  const Expr all = make_builtin("unique", {call.arg(0), axis, make_prim(call.flag("sorted"))}, object_info());
  std::vector<Expr> fields = {make_builtin("sequence_at", {all, make_prim(0)},
                                           tensor_info(x.dtype(), flat ? 1u : static_cast<uint32_t>(x.rank())))};
  int64_t place = 1;
  for (const std::string_view flag : {"return_index", "return_inverse", "return_counts"}) {
    if (call.flag(flag))
      fields.push_back(make_builtin("sequence_at", {all, make_prim(place)}, tensor_info(DType::Int64, 1u)));
    ++place;
  }
  return fields.size() == 1 ? fields[0] : make_tuple(std::move(fields));
}

StructInfo infer_nonzero(const CallSite& call) {
  operand(call, 0);
  return tensor_info(DType::Int64, 2u);
}

Meaning define_nonzero(const CallSite&) { return BuiltinCall{"non_zero"}; }

StructInfo infer_argwhere(const CallSite& call) {
  operand(call, 0);
  return tensor_info(DType::Int32, 2u);
}

Meaning define_argwhere(const CallSite&) { return BuiltinCall{"arg_where"}; }

// Of "searchsorted" (the sorted elements first) and "bucketize" (last): how many of them lie before each element.
StructInfo infer_searchsorted(const CallSite& call) {
  const bool first = call.op().name == "searchsorted";
  const auto sorted = operand(call, first ? 0 : 1), x = operand(call, first ? 1 : 0);
  require_numeric(call, x);
  if (sorted.rank() == 0 || (sorted.rank() != 1 && sorted.rank() != x.rank()))
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, it must have rank 1 or that of {}, {}", sorted.name,
              sorted.rank(), x.name, x.rank());
  for (size_t d = 0; sorted.rank() > 1 && d + 1 < x.rank(); ++d)
    require_equal(call, "shapes", sorted, sorted.dims()[d], x, x.dims()[d]);
  require_same_dtype(call, x, sorted);
  if (!first) return tensor_info(call.flag("out_int32") ? DType::Int32 : DType::Int64, x.dims());
  const DType dtype = call.dtype_attr("dtype");
  if (!is_integer(dtype))
    call.fail(ErrorCode::InvalidArgument, "dtype is {}, it must be an integer's", dtype_name(dtype));
  return tensor_info(dtype, x.dims());
}

Meaning define_searchsorted(const CallSite& call) {
  OpFunc f(call);
  const bool first = call.op().name == "searchsorted";
  const auto sorted = f.in(first ? 0 : 1), x = f.in(first ? 1 : 0);
  for (size_t d = 0; f.dims(sorted).size() > 1 && d + 1 < f.dims(x).size(); ++d)
    f.require_size(first ? 1 : 0, d, f.dims(sorted)[d]);
  const DType dtype = f.dtype(f.out());
  f.reduce(f.out(), tir::ExprOp::Add, element(dtype, 0.0), {f.dims(sorted).back()},
           [&](const Indices& i, const Indices& k) {
             Indices at = f.dims(sorted).size() == 1 ? Indices{} : Indices(i.begin(), i.end() - 1);
             at.push_back(k[0]);
             const Element edge = f.load(sorted, at), value = f.load(x, i);
             return select(call.flag("right") ? edge <= value : edge < value, element(dtype, 1.0), 0);
           });
  return f.finish();
}

}  // namespace ingot::ops
