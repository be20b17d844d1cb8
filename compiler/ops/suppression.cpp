#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "runtime/symbolic/simplify.h"

// The best boxes of each picture, and none that overlaps a better one: Relay's and Relax's vision.non_max_suppression.
namespace ingot::ops {

using namespace ir;

namespace {

Expr integer(int64_t value) { return scalar(DType::Int64, static_cast<double>(value)); }

Expr sliced(const Expr& x, int64_t axis, const PrimExpr& begin, const PrimExpr& end) {
  return make_call("strided_slice", {x, make_shape({begin}), make_shape({end})},
                   {{"axes", std::vector<int64_t>{axis}}});
}

// The parts of x [batch, n, ...] in the order that `places` [batch, n] name.
Expr in_order(const Expr& x, const Expr& places) { return taken(x, places, 1, 1); }

Expr descending(const Expr& x) {
  return make_call("argsort", {x}, {{"axis", int64_t{1}}, {"descending", true}, {"dtype", DType::Int64}});
}

struct Boxes {
  Operand data;  // [batch, n, elements]
  PrimExpr batches, count;

  Expr column(const Expr& rows, int64_t k) const { return taken(rows, integer(k), 2); }
  void require_column(const CallSite& call, std::string_view name, int64_t least, int64_t width) const {
    const int64_t k = call.integer(name);
    const auto elements = data.dims()[2].as_const();
    if (k < least || (elements && k + width > *elements))
      call.fail(ErrorCode::InvalidArgument, "{} is {}, a row of {} has {} elements", name, k, data.name,
                to_text(data.dims()[2]));
  }
};

// Corners as float64; those of other classes far away unless all are one class.
Expr corners(const CallSite& call, const Boxes& b, const Expr& rows) {
  const int64_t first = call.integer("coord_start"), id = call.integer("id_index");
  const Expr boxes = converted(sliced(rows, 2, first, first + 4), DType::Float64);
  if (id < 0 || call.flag("force_suppress")) return boxes;
  const Expr room = of("add", make_call("max", {make_call("abs", {boxes})}), scalar(DType::Float64, 1));
  const Expr far =
      of("multiply", converted(b.column(rows, id), DType::Float64), of("multiply", room, scalar(DType::Float64, 2)));
  return of("add", boxes, make_call("expand_dims", {far}, {{"axis", int64_t{2}}}));
}

// Argument `i`, a scalar, or the attribute.
Expr limit(const CallSite& call, size_t i, std::string_view name, DType dtype) {
  if (!given(call, i)) return scalar(dtype, call.number(name));
  require_rank(call, operand(call, i), 0);
  return converted(call.arg(i), dtype);
}

// Which of the rows stay, [batch, n] of bool; they are in order of their scores, those that do not count being -1.
Expr kept(const CallSite& call, const Boxes& b, const Expr& rows, const Expr& scores) {
  const Expr asked = limit(call, 3, "max_output_size", DType::Int64);
  const Expr most = make_call("where", {of("less", asked, integer(0)), integer(INT32_MAX), asked});
  // An overlap as great as the threshold is too great; the builtin takes it.
  const Expr overlap = of("subtract", limit(call, 4, "iou_threshold", DType::Float64), scalar(DType::Float64, 1e-9));
  const Expr one_class = make_call("expand_dims", {scores}, {{"axis", int64_t{1}}});
  const Expr chosen =
      make_builtin("non_max_suppression",
                   {corners(call, b, rows), one_class, most, overlap, scalar(DType::Float64, 0), make_prim(0)},
                   tensor_info(DType::Int64, 2u));
  const Expr sizes = make_builtin("shape_to_tensor", {make_builtin("shape_of", {chosen}, shape_info(2u))},
                                  tensor_info(DType::Int64, Dims{2}));
  const PrimExpr all = simplify(b.batches * b.count);
  const Expr missing = of("subtract", make_call("shape_to_tensor", {make_shape({all})}), sliced(sizes, 0, 0, 1));
  const Expr none = make_call("zeros", {make_shape({1})}, {{"dtype", DType::Int64}});
  const Expr sides = make_call("concat", {make_tuple({none, none, missing, none})}, {{"axis", int64_t{0}}});
  const Expr places = make_builtin("pad", {chosen, sides, integer(-1), make_none(), make_text("constant")},
                                   tensor_info(DType::Int64, Dims{all, 3}));
  // The rows that were missing mark a margin, which is cut off.
  const Expr margin =
      make_call("zeros", {make_shape({simplify(b.batches + 1), simplify(b.count + 1)})}, {{"dtype", DType::Bool}});
  const Expr where = taken(places, make_call("shape_to_tensor", {make_shape({0, 2})}), 1);
  const Expr ones = make_call("ones", {make_shape({all})}, {{"dtype", DType::Bool}});
  const Expr marked = make_call("scatter_nd", {margin, where, ones});
  return sliced(sliced(marked, 0, 0, b.batches), 1, 0, b.count);
}

// Scores decay by the overlap with better boxes: (rows, places, numbers), or the rows alone.
Meaning softly(const CallSite& call, const Operand& data, const Operand& indices) {
  const auto integer_of = [&](std::string_view name) { return static_cast<double>(call.integer(name)); };
  const double options[] = {
      call.number("soft_nms_sigma"), call.number("score_threshold"), call.flag("force_suppress") ? 1.0 : 0.0,
      integer_of("top_k"),           integer_of("coord_start"),      integer_of("score_index"),
      integer_of("id_index")};
  const Expr all = make_builtin("soft_suppression",
                                {call.arg(0), call.arg(1), call.arg(2), limit(call, 3, "max_output_size", DType::Int64),
                                 limit(call, 4, "iou_threshold", DType::Float64), numbers(options)},
                                object_info());
  const auto part = [&](int64_t i, DType dtype, const Dims& dims) {
    return make_builtin("sequence_at", {all, make_prim(i)}, tensor_info(dtype, dims));
  };
  const Expr rows = part(0, data.dtype(), data.dims());
  if (!call.flag("return_indices")) return rows;
  return make_tuple({rows, part(1, DType::Int32, indices.dims()), part(2, DType::Int32, {data.dims()[0], 1})});
}

}  // namespace

// Places of the boxes that stay, then -1, and their number; or the rows, the others being -1.
Meaning define_non_max_suppression(const CallSite& call) {
  const auto data = operand(call, 0), counts = operand(call, 1), indices = operand(call, 2);
  require_float(call, data);
  require_rank(call, data, 3);
  require_integer(call, counts);
  require_rank(call, counts, 1);
  require_integer(call, indices);
  require_rank(call, indices, 2);
  const Boxes b{data, data.dims()[0], data.dims()[1]};
  require_equal(call, "batches", data, b.batches, counts, counts.dims()[0]);
  require_equal(call, "numbers of boxes", data, b.count, indices, indices.dims()[1]);
  b.require_column(call, "coord_start", 0, 4);
  b.require_column(call, "score_index", 0, 1);
  b.require_column(call, "id_index", -1, 1);
  if (call.number("soft_nms_sigma") > 0) return softly(call, data, indices);

  const Expr position = make_call("expand_dims", {make_call("arange", {make_prim(b.count)}, {{"dtype", DType::Int64}})},
                                  {{"axis", int64_t{0}}});
  const Expr last = make_call("expand_dims", {converted(call.arg(1), DType::Int64)}, {{"axis", int64_t{1}}});
  const Expr none = scalar(data.dtype(), -1);
  const Expr valid = of("less", position, last);
  const Expr scores = make_call("where", {valid, b.column(call.arg(0), call.integer("score_index")), none});
  const Expr order = descending(scores);
  const Expr rows = in_order(call.arg(0), order);
  Expr counting = in_order(scores, order);
  if (const int64_t top = call.integer("top_k"); top > 0)
    counting = make_call("where", {of("less", position, integer(top)), counting, none});
  const Expr stays = kept(call, b, rows, counting);
  const Expr front = descending(converted(stays, DType::Int32));
  if (call.flag("return_indices")) {
    const Expr places = in_order(in_order(converted(call.arg(2), DType::Int32), order), front);
    const Expr still = in_order(stays, front);
    const Expr number = make_call("sum", {converted(stays, DType::Int32)}, {{"axis", int64_t{1}}, {"keepdims", true}});
    return make_tuple({make_call("where", {still, places, scalar(DType::Int32, -1)}), number});
  }
  const bool bottom = call.flag("invalid_to_bottom");
  const Expr row_stays = make_call("expand_dims", {bottom ? in_order(stays, front) : stays}, {{"axis", int64_t{2}}});
  return make_call("where", {row_stays, bottom ? in_order(rows, front) : rows, none});
}

}  // namespace ingot::ops
