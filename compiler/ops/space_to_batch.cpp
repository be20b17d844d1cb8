#include "compiler/ops/call.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/operands.h"
#include "runtime/symbolic/simplify.h"

// Blocks of the spatial dimensions, those behind the first, moved into the batch, and back.
namespace ingot::ops {

using namespace ir;

namespace {

struct Blocks {
  std::vector<int64_t> sizes;
  std::vector<int64_t> margins;  // before and after, for each block dimension in turn
  int64_t all = 1;
};

Blocks blocks_of(const CallSite& call, const Operand& x, std::string_view margins) {
  Blocks blocks{call.integers("block_shape"), call.integers(margins)};
  if (blocks.sizes.empty() || blocks.sizes.size() >= x.rank() || blocks.margins.size() != 2 * blocks.sizes.size())
    call.fail(ErrorCode::InvalidArgument, "block_shape has {} numbers, {} has {}; {} has rank {}", blocks.sizes.size(),
              margins, blocks.margins.size(), x.name, x.rank());
  for (const int64_t size : blocks.sizes) {
    if (size < 1 || size > INT32_MAX) call.fail(ErrorCode::InvalidArgument, "a block has {} elements", size);
    blocks.all *= size;
    if (blocks.all > INT32_MAX) call.fail(ErrorCode::InvalidArgument, "a block has more than {} elements", INT32_MAX);
  }
  for (const int64_t margin : blocks.margins)
    if (margin < 0 || margin > INT32_MAX)
      call.fail(ErrorCode::InvalidArgument, "{} has {}, which is negative or beyond {}", margins, margin, INT32_MAX);
  return blocks;
}

void require_divisible(const CallSite& call, const Operand& x, size_t d, const PrimExpr& dim, int64_t by) {
  if (differ(call, floor_mod(dim, by), 0))
    call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {} with its margin, which {} does not divide", d, x.name,
              to_text(dim), by);
}

Expr reshaped(const Expr& x, Dims dims) {
  return make_call("reshape", {x, make_shape(std::move(dims))}, {{"allowzero", true}});
}

Expr transposed(const Expr& x, std::vector<int64_t> axes) {
  return make_call("transpose", {x}, {{"axes", std::move(axes)}});
}

}  // namespace

Meaning define_space_to_batch(const CallSite& call) {
  const auto x = operand(call, 0);
  const Blocks blocks = blocks_of(call, x, "paddings");
  const size_t count = blocks.sizes.size();
  std::vector<int64_t> width(2 * x.rank());
  std::copy(blocks.margins.begin(), blocks.margins.end(), width.begin() + 2);
  const Expr padded = make_call("pad", {call.arg(0)}, {{"pad_width", width}, {"pad_value", call.number("pad_value")}});
  Dims split = {x.dims()[0]}, result = {simplify(x.dims()[0] * blocks.all)};
  std::vector<int64_t> inner, outer = {0};
  for (size_t d = 1; d < x.rank(); ++d) {
    const PrimExpr dim = simplify(x.dims()[d] + (width[2 * d] + width[2 * d + 1]));
    const int64_t size = d <= count ? blocks.sizes[d - 1] : 1;
    require_divisible(call, x, d, dim, size);
    result.push_back(simplify(floor_div(dim, size)));
    outer.push_back(static_cast<int64_t>(split.size()));
    split.push_back(result.back());
    if (d > count) continue;
    inner.push_back(static_cast<int64_t>(split.size()));
    split.emplace_back(size);
  }
  inner.insert(inner.end(), outer.begin(), outer.end());
  return reshaped(transposed(reshaped(padded, split), inner), result);
}

Meaning define_batch_to_space(const CallSite& call) {
  const auto x = operand(call, 0);
  const Blocks blocks = blocks_of(call, x, "crops");
  const size_t count = blocks.sizes.size();
  require_divisible(call, x, 0, x.dims()[0], blocks.all);
  Dims split, joined = {simplify(floor_div(x.dims()[0], blocks.all))};
  for (const int64_t size : blocks.sizes) split.emplace_back(size);
  split.push_back(joined[0]);
  std::vector<int64_t> order = {static_cast<int64_t>(count)}, begin, end, along;
  for (size_t d = 1; d < x.rank(); ++d) {
    split.push_back(x.dims()[d]);
    order.push_back(static_cast<int64_t>(count + d));
    joined.push_back(d <= count ? simplify(x.dims()[d] * blocks.sizes[d - 1]) : x.dims()[d]);
    if (d > count) continue;
    order.push_back(static_cast<int64_t>(d - 1));
    const int64_t before = blocks.margins[2 * d - 2], after = blocks.margins[2 * d - 1];
    if (exceeds(call, before + after, joined.back()))
      call.fail(ErrorCode::ShapeMismatch, "dimension {} becomes {}, crops of {} and {} leave nothing", d,
                to_text(joined.back()), before, after);
    begin.push_back(before);
    end.push_back(after == 0 ? INT32_MAX : -after);
    along.push_back(static_cast<int64_t>(d));
  }
  const Expr whole = reshaped(transposed(reshaped(call.arg(0), split), order), joined);
  return make_call("strided_slice", {whole}, {{"begin", begin}, {"end", end}, {"axes", along}});
}

}  // namespace ingot::ops
