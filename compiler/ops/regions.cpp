#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "runtime/symbolic/simplify.h"

// Operators that choose among the boxes of a picture, by builtins of the VM.
namespace ingot::ops {

using namespace ir;

namespace {

void require_size(const CallSite& call, const Operand& x, size_t d, const PrimExpr& size) {
  if (differ(call, x.dims()[d], size))
    call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {}, it must be {}", d, x.name, to_text(x.dims()[d]),
              to_text(size));
}

}  // namespace

// boxes [batch, n, 4], scores [batch, n, background and classes]: (boxes, classes, scores, numbers).
Meaning define_regular_nms(const CallSite& call) {
  const auto boxes = operand(call, 0), scores = operand(call, 1);
  for (const auto* x : {&boxes, &scores}) {
    require_float(call, *x);
    require_rank(call, *x, 3);
  }
  require_size(call, boxes, 2, 4);
  for (const size_t d : {0u, 1u}) demand_equal(call, "shapes", boxes, boxes.dims()[d], scores, scores.dims()[d]);
  const int64_t most = call.integer("max_detections");
  if (most < 0) call.fail(ErrorCode::InvalidArgument, "max_detections is {}, it must be 0 or more", most);
  const Expr all =
      make_builtin("class_suppression",
                   {call.arg(0), call.arg(1), make_prim(call.integer("max_detections_per_class")), make_prim(most),
                    make_prim(call.integer("num_classes")), scalar(DType::Float64, call.number("iou_threshold")),
                    scalar(DType::Float64, call.number("score_threshold"))},
                   object_info());
  const PrimExpr batches = boxes.dims()[0];
  const auto part = [&](int64_t i, DType dtype, Dims dims) {
    return make_builtin("sequence_at", {all, make_prim(i)}, tensor_info(dtype, std::move(dims)));
  };
  return make_tuple({part(0, boxes.dtype(), {batches, most, 4}), part(1, DType::Float32, {batches, most}),
                     part(2, scores.dtype(), {batches, most}), part(3, DType::Int32, {batches})});
}

// cls_prob [batch, 2 anchors, rows, columns], bbox_pred [batch, 4 anchors, rows, columns], im_info [batch, 3].
Meaning define_proposal(const CallSite& call) {
  const auto scores = operand(call, 0), moves = operand(call, 1), pictures = operand(call, 2);
  require_float(call, scores);
  for (const auto* x : {&scores, &moves}) require_rank(call, *x, 4);
  for (const auto* x : {&moves, &pictures}) require_same_dtype(call, scores, *x);
  require_rank(call, pictures, 2);
  const auto scales = numbers_of(call, "scales"), ratios = numbers_of(call, "ratios");
  const auto anchors = static_cast<int64_t>(scales.size() * ratios.size());
  require_size(call, scores, 1, 2 * anchors);
  require_size(call, moves, 1, 4 * anchors);
  require_size(call, pictures, 1, 3);
  const int64_t after = call.integer("rpn_post_nms_top_n");
  if (after < 0 || after > INT32_MAX)
    call.fail(ErrorCode::InvalidArgument, "rpn_post_nms_top_n is {}, it must be 0 or more", after);
  const double options[] = {call.number("feature_stride"),    call.number("threshold"),
                            call.number("rpn_pre_nms_top_n"), static_cast<double>(after),
                            call.number("rpn_min_size"),      call.flag("iou_loss") ? 1.0 : 0.0};
  return make_builtin("proposals",
                      {call.arg(0), call.arg(1), call.arg(2), numbers(scales), numbers(ratios), numbers(options)},
                      tensor_info(scores.dtype(), Dims{simplify(scores.dims()[0] * after), 5}));
}

}  // namespace ingot::ops
