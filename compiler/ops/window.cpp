#include "compiler/ops/window.h"

#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

namespace {
// More would overflow the arithmetic on dimensions.
constexpr int64_t kGreatest = INT32_MAX;

void require_range(const CallSite& call, std::string_view name, std::span<const int64_t> values, int64_t least) {
  for (const int64_t value : values)
    if (value < least || value > kGreatest)
      call.fail(ErrorCode::InvalidArgument, "{} has {}, it must be between {} and {}", name, value, least, kGreatest);
}
}  // namespace

std::array<int64_t, 2> pair_attr(const CallSite& call, std::string_view name, int64_t least) {
  const auto values = call.integers(name);
  require_range(call, name, values, least);
  if (values.size() == 1) return {values[0], values[0]};
  if (values.size() != 2)
    call.fail(ErrorCode::InvalidArgument, "{} has {} numbers, 1 or 2 are possible", name, values.size());
  return {values[0], values[1]};
}

std::array<int64_t, 4> padding_attr(const CallSite& call) {
  const auto values = call.integers("padding");
  require_range(call, "padding", values, 0);
  if (values.size() == 1) return {values[0], values[0], values[0], values[0]};
  if (values.size() == 2) return {values[0], values[1], values[0], values[1]};
  if (values.size() != 4)
    call.fail(ErrorCode::InvalidArgument, "padding has {} numbers, 1, 2 or 4 are possible", values.size());
  return {values[0], values[1], values[2], values[3]};
}

PrimExpr places(const CallSite& call, const Window& window, size_t d, const PrimExpr& extent, bool round_up) {
  const int64_t reach = window.reach(d);
  const PrimExpr padded = window.padded(d, extent);
  if (const auto known = padded.as_const(); known && *known < reach)
    call.fail(ErrorCode::ShapeMismatch, "the window spans {} elements along dimension {}, the padded input has {}",
              reach, d + 2, *known);
  if (prove_less_equal(reach, padded) != Proof::Yes) call.note_unproved();
  const PrimExpr room = padded - reach;
  const int64_t stride = window.strides[d];
  if (!round_up) return simplify(floor_div(room, stride) + 1);
  const PrimExpr count = floor_div(room + (stride - 1), stride) + 1;
  const PrimExpr last_begins = (count - 1) * stride;
  const PrimExpr outside = PrimExpr::make(PrimOp::LessEqual, {extent + window.padding[d], last_begins});
  return simplify(PrimExpr::make(PrimOp::Select, {outside, count - 1, count}));
}

PrimExpr at(const Window& window, size_t d, const PrimExpr& o, const PrimExpr& k) {
  return o * window.strides[d] + k * window.dilation[d] - window.padding[d];
}

PrimExpr within(const PrimExpr& index, const PrimExpr& extent) {
  return PrimExpr::make(PrimOp::And, {PrimExpr::make(PrimOp::LessEqual, {PrimExpr(0), index}),
                                      PrimExpr::make(PrimOp::Less, {index, extent})});
}

void require_reach(OpFunc& f, size_t d, const PrimExpr& reach, const PrimExpr& padded) {
  if (prove_less_equal(reach, padded) != Proof::Yes)
    f.require(fmt::format("window_{}", d), PrimExpr::make(PrimOp::LessEqual, {simplify(reach), simplify(padded)}));
}

}  // namespace ingot::ops
