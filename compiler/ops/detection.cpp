#include <cmath>

#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/layouts.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

// Relay's and Relax's operators vision.*: boxes of pictures, and parts of pictures in boxes.
namespace ingot::ops {

using namespace ir;

namespace {

// Elements `from` to before `to` of the last dimension.
Expr part(const Expr& x, size_t rank, int64_t from, int64_t to) {
  return make_call("strided_slice", {x},
                   {{"begin", std::vector<int64_t>{from}},
                    {"end", std::vector<int64_t>{to}},
                    {"axes", std::vector<int64_t>{static_cast<int64_t>(rank) - 1}}});
}

struct Pooled {
  Operand x, regions;
  int64_t rows, columns;
};

// Data of NCHW and regions [n, 5]: the batch, then left, top, right and bottom.
Pooled pooled(const CallSite& call) {
  Pooled p{operand(call, 0), operand(call, 1), 0, 0};
  require_float(call, p.x);
  require_rank(call, p.x, 4);
  require_rank(call, p.regions, 2);
  require_same_dtype(call, p.x, p.regions);
  if (differ(call, p.regions.dims()[1], 5))
    call.fail(ErrorCode::ShapeMismatch, "{} must be (n, 5), it is {}", p.regions.name, dims_text(p.regions.dims()));
  const auto size = call.integers("pooled_size");
  p.rows = size.front();
  p.columns = size.back();
  if (size.size() > 2 || p.rows < 1 || p.columns < 1 || p.rows > INT32_MAX || p.columns > INT32_MAX)
    call.fail(ErrorCode::InvalidArgument, "pooled_size must be one or two numbers of 1 or more");
  return p;
}

}  // namespace

Meaning define_roi_align(const CallSite& call) {
  if (auto plain = in_plain_layouts(call, "NCHW")) return *std::move(plain);
  const Pooled p = pooled(call);
  const std::string mode = call.text("mode");
  const int64_t samples = call.integer("sample_ratio");
  if (mode != "avg" && mode != "max")
    call.fail(ErrorCode::InvalidArgument, "mode is \"{}\", possible are \"avg\" and \"max\"", mode);
  const Expr batches = taken(converted(call.arg(1), DType::Int64), scalar(DType::Int64, 0), 1);
  const Dims dims = {p.regions.dims()[0], p.x.dims()[1], p.rows, p.columns};
  return make_builtin("roi_align",
                      {call.arg(0), part(call.arg(1), 2, 1, 5), batches, make_prim(p.rows), make_prim(p.columns),
                       make_prim(std::max<int64_t>(samples, 0)), scalar(DType::Float64, call.number("spatial_scale")),
                       make_prim(call.flag("aligned")), make_prim(mode == "max" ? 2 : 0)},
                      tensor_like(p.x, dims));
}

Meaning define_roi_pool(const CallSite& call) {
  if (auto plain = in_plain_layouts(call, "NCHW")) return *std::move(plain);
  const Pooled p = pooled(call);
  return make_builtin("max_roi_pool",
                      {call.arg(0), call.arg(1), make_prim(p.rows), make_prim(p.columns),
                       scalar(DType::Float64, call.number("spatial_scale"))},
                      tensor_like(p.x, {p.regions.dims()[0], p.x.dims()[1], p.rows, p.columns}));
}

// Boxes around each place of a picture: of each size with the first ratio, then of the first size with each other one.
StructInfo infer_multibox_prior(const CallSite& call) {
  const auto x = operand(call, 0);
  require_float(call, x);
  require_rank(call, x, 4);
  const size_t sizes = numbers_of(call, "sizes").size(), ratios = numbers_of(call, "ratios").size();
  if (sizes == 0 || ratios == 0 || numbers_of(call, "steps").size() != 2 || numbers_of(call, "offsets").size() != 2)
    call.fail(ErrorCode::InvalidArgument, "sizes and ratios need 1 number or more, steps and offsets 2");
  const auto boxes = static_cast<int64_t>(sizes + ratios - 1);
  return tensor_like(x, {1, simplify(x.dims()[2] * x.dims()[3] * boxes), 4});
}

Meaning define_multibox_prior(const CallSite& call) {
  OpFunc f(call);
  const auto sizes = numbers_of(call, "sizes"), ratios = numbers_of(call, "ratios"), steps = numbers_of(call, "steps"),
             offsets = numbers_of(call, "offsets");
  const auto boxes = static_cast<int64_t>(sizes.size() + ratios.size() - 1);
  const DType dtype = f.dtype(f.out());
  const PrimExpr height = f.dims(f.in())[2], width = f.dims(f.in())[3];
  const auto holds = [&](const PrimExpr& a, int64_t b) {
    return truth(element(DType::Int64, PrimExpr::make(PrimOp::Equal, {a, PrimExpr(b)})));
  };
  f.compute(f.out(), [&](const tir::Indices& i) {
    const PrimExpr box = floor_mod(i[1], boxes), place = floor_div(i[1], boxes);
    const PrimExpr row = floor_div(place, width), column = floor_mod(place, width);
    Element half_width = element(dtype, 0.0), half_height = half_width;
    for (int64_t k = 0; k < boxes; ++k) {
      const auto at = static_cast<size_t>(k);
      const double stretch = at < sizes.size() ? 1 : std::sqrt(ratios[at - sizes.size() + 1]);
      const double size = at < sizes.size() ? sizes[at] : sizes[0];
      half_width = select(holds(box, k), element(dtype, size * stretch / 2), half_width);
      half_height = select(holds(box, k), element(dtype, size / stretch / 2), half_height);
    }
    half_width = half_width * (element(dtype, height) / element(dtype, width));
    const auto centre = [&](const PrimExpr& at, double offset, double step, const PrimExpr& extent) {
      const Element middle = element(dtype, at) + offset;
      return step > 0 ? middle * step : middle / element(dtype, extent);
    };
    const Element x = centre(column, offsets[1], steps[1], width), y = centre(row, offsets[0], steps[0], height);
    const Element result =
        select(holds(i[2], 0), x - half_width,
               select(holds(i[2], 1), y - half_height, select(holds(i[2], 2), x + half_width, y + half_height)));
    return call.flag("clip") ? clamp(result, 0, 1) : result;
  });
  return f.finish();
}

namespace {

// Rows [batch, n, k] that are valid moved before the others, which become -1, in the order that they have; the number
// of valid ones; and which row each one was, -1 for others.
struct Compacted {
  Expr rows, count, places;
};

Compacted compact(const Expr& rows, const Expr& valid, DType dtype) {
  const Expr order = make_call("argsort", {converted(make_call("logical_not", {valid}), DType::Int32)},
                               {{"axis", int64_t{1}}, {"dtype", DType::Int32}});
  const auto moved = [&](const Expr& x) { return taken(x, order, 1, 1); };
  const Expr still = moved(valid);
  const Expr row_valid = make_call("expand_dims", {still}, {{"axis", int64_t{2}}});
  return {make_call("where", {row_valid, moved(rows), scalar(dtype, -1)}),
          make_call("sum", {converted(valid, DType::Int32)}, {{"axis", int64_t{1}}}),
          make_call("where", {still, order, scalar(DType::Int32, -1)})};
}

Expr column(const Expr& x, int64_t k) { return taken(x, scalar(DType::Int64, static_cast<double>(k)), 2); }

}  // namespace

// (valid count, boxes, their places): boxes [batch, n, k] whose score is above the threshold, before the others.
Meaning define_get_valid_counts(const CallSite& call) {
  const auto x = operand(call, 0);
  require_float(call, x);
  require_rank(call, x, 3);
  Expr threshold = scalar(x.dtype(), call.number("score_threshold"));
  if (given(call, 1)) {
    require_rank(call, operand(call, 1), 0);
    threshold = converted(call.arg(1), x.dtype());
  }
  Expr valid = make_call("greater", {column(call.arg(0), call.integer("score_index")), threshold});
  if (call.integer("id_index") >= 0) {
    const Expr id = column(call.arg(0), call.integer("id_index"));
    valid = make_call("logical_and", {valid, make_call("greater_equal", {id, scalar(x.dtype(), 0)})});
  }
  const Compacted c = compact(call.arg(0), valid, x.dtype());
  return make_tuple({c.count, c.rows, c.places});
}

// (rows of class, score and box, their number): the likeliest class of each anchor, its box moved by the prediction.
Meaning define_multibox_transform_loc(const CallSite& call) {
  const auto scores = operand(call, 0), moves = operand(call, 1), anchors = operand(call, 2);
  require_float(call, scores);
  require_rank(call, scores, 3);
  require_rank(call, moves, 2);
  require_rank(call, anchors, 3);
  require_same_dtype(call, scores, moves);
  require_same_dtype(call, scores, anchors);
  const PrimExpr count = scores.dims()[2];
  demand_equal(call, "numbers of anchors", scores, count, anchors, anchors.dims()[1]);
  demand_equal(call, "numbers of coordinates", anchors, simplify(count * 4), moves, moves.dims()[1]);
  const DType dtype = scores.dtype();
  const auto variances = numbers_of(call, "variances");
  if (variances.size() != 4)
    call.fail(ErrorCode::InvalidArgument, "variances has {} numbers, 4 are wanted", variances.size());
  const bool background = call.flag("keep_background");
  const int64_t first = background ? 0 : 1;
  const auto integer = [](int64_t value) { return scalar(DType::Int64, static_cast<double>(value)); };
  const auto apply_to = [](std::string_view op, const Expr& x, const Expr& y) { return make_call(op, {x, y}); };
  const Expr classes = make_call("strided_slice", {call.arg(0)},
                                 {{"begin", std::vector<int64_t>{first}},
                                  {"end", std::vector<int64_t>{INT32_MAX}},
                                  {"axes", std::vector<int64_t>{1}}});
  const Expr score = make_call("max", {classes}, {{"axis", int64_t{1}}});
  Expr id = apply_to("add", make_call("argmax", {classes}, {{"axis", int64_t{1}}}), integer(first));
  const Expr unlikely = make_call("less", {score, scalar(dtype, call.number("threshold"))});
  id = make_call("where", {unlikely, integer(0), id});
  const Expr valid = background ? make_call("greater_equal", {id, integer(0)}) : make_call("greater", {id, integer(0)});

  const Expr boxes =
      make_call("reshape", {call.arg(1), make_shape({moves.dims()[0], count, 4})}, {{"allowzero", true}});
  std::vector<Expr> fields = {converted(apply_to("subtract", id, integer(first)), dtype), score};
  std::vector<Expr> low, high;
  for (int64_t d = 0; d < 2; ++d) {
    const Expr from = column(call.arg(2), d), to = column(call.arg(2), d + 2);
    const Expr size = apply_to("subtract", to, from);
    const Expr middle = apply_to("divide", apply_to("add", from, to), scalar(dtype, 2));
    const auto at = static_cast<size_t>(d);
    const Expr shift = apply_to("multiply", column(boxes, d), scalar(dtype, variances[at]));
    const Expr growth = apply_to("multiply", column(boxes, d + 2), scalar(dtype, variances[at + 2]));
    const Expr centre = apply_to("add", apply_to("multiply", shift, size), middle);
    const Expr half = apply_to("divide", apply_to("multiply", make_call("exp", {growth}), size), scalar(dtype, 2));
    low.push_back(apply_to("subtract", centre, half));
    high.push_back(apply_to("add", centre, half));
  }
  for (const auto& corner : {low[0], low[1], high[0], high[1]})
    fields.push_back(call.flag("clip") ? make_call("clip", {corner}, {{"a_min", 0.0}, {"a_max", 1.0}}) : corner);
  const Compacted c =
      compact(make_call("stack", {make_tuple(std::move(fields))}, {{"axis", int64_t{2}}}), valid, dtype);
  return make_tuple({c.rows, c.count});
}

// (batch, class and number of each box that stays, their number): as many rows as there are boxes, 0 behind the last.
Meaning define_all_class_nms(const CallSite& call) {
  const auto boxes = operand(call, 0), scores = operand(call, 1);
  require_rank(call, boxes, 3);
  require_rank(call, scores, 3);
  if (call.text("output_format") != "onnx")
    call.fail(ErrorCode::Unsupported, "output_format is \"{}\", only \"onnx\" is there", call.text("output_format"));
  demand_equal(call, "numbers of boxes", boxes, boxes.dims()[1], scores, scores.dims()[2]);
  for (size_t i = 2; i < 5; ++i) require_rank(call, operand(call, i), 0);
  const Expr most = converted(call.arg(2), DType::Int64);
  const Expr limited =
      make_call("where", {make_call("less", {scalar(DType::Int64, 0), most}), most, scalar(DType::Int64, INT32_MAX)});
  const Expr chosen =
      make_builtin("non_max_suppression", {call.arg(0), call.arg(1), limited, call.arg(3), call.arg(4), make_prim(0)},
                   tensor_info(DType::Int64, 2u));
  const Expr sizes = make_builtin("shape_to_tensor", {make_builtin("shape_of", {chosen}, shape_info(2u))},
                                  tensor_info(DType::Int64, Dims{2}));
  const Expr count =
      make_call("strided_slice", {sizes}, {{"begin", std::vector<int64_t>{0}}, {"end", std::vector<int64_t>{1}}});
  const PrimExpr rows = simplify(scores.dims()[0] * scores.dims()[1] * scores.dims()[2]);
  const Expr missing = make_call("subtract", {make_call("shape_to_tensor", {make_shape({rows})}), count});
  const Expr none = make_call("zeros", {make_shape({1})}, {{"dtype", DType::Int64}});
  const Expr sides = make_call("concat", {make_tuple({none, none, missing, none})}, {{"axis", int64_t{0}}});
  const Expr all = make_builtin("pad", {chosen, sides, make_none(), make_none(), make_text("constant")},
                                tensor_info(DType::Int64, Dims{rows, 3}));
  return make_tuple({all, count});
}

// Rows and columns of blocks become channels, as Darknet lays them out.
Meaning define_yolo_reorg(const CallSite& call) {
  const auto x = operand(call, 0);
  require_rank(call, x, 4);
  const int64_t by = call.integer("stride");
  if (by < 1 || by > INT16_MAX) call.fail(ErrorCode::InvalidArgument, "stride is {}, it must be 1 or more", by);
  const Dims& d = x.dims();
  for (const size_t k : {1u, 2u, 3u})
    if (differ(call, floor_mod(d[k], k == 1 ? by * by : by), 0))
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {}, which {} does not divide", k, x.name,
                to_text(d[k]), k == 1 ? by * by : by);
  const auto reshaped = [](const Expr& e, Dims dims) {
    for (auto& dim : dims) dim = simplify(dim);
    return make_call("reshape", {e, make_shape(std::move(dims))}, {{"allowzero", true}});
  };
  const Expr wide = reshaped(call.arg(0), {d[0], floor_div(d[1], by * by), d[2] * by, d[3] * by});
  return reshaped(make_call("space_to_depth", {wide}, {{"block_size", by}}),
                  {d[0], d[1] * (by * by), floor_div(d[2], by), floor_div(d[3], by)});
}

}  // namespace ingot::ops
