#include <algorithm>
#include <limits>

#include "compiler/ops/call.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

namespace {

struct Join {
  std::vector<Operand> parts;
  size_t axis;
  Dims dims;
  Dims checked;  // -1 in a dimension where parts differ
  bool proved = true;
};

// What the kernel takes at once.
constexpr size_t kMaxParts = std::numeric_limits<uint16_t>::max();
// A PrimFunc has a nest of loops for each part; more of them are left to the kernel.
constexpr size_t kMaxNests = 256;

Join join_of(const CallSite& call) {
  Join join;
  join.parts = operands(call);
  if (join.parts.empty()) call.fail(ErrorCode::ArityMismatch, "there is nothing to join: no tensor is given");
  const auto& first = join.parts[0];
  join.axis = static_cast<size_t>(call.axis("axis", first.rank()));
  join.dims = join.checked = first.dims();
  PrimExpr extent = 0;
  for (const auto& part : join.parts) {
    require_same_dtype(call, first, part);
    require_rank(call, part, first.rank());
    extent = extent + part.dims()[join.axis];
    for (size_t d = 0; d < first.rank(); ++d) {
      if (d == join.axis) continue;
      const auto& dim = part.dims()[d];
      require_equal(call, fmt::format("dimensions {}", d), first, first.dims()[d], part, dim);
      if (prove_equal(first.dims()[d], dim) == Proof::Yes) continue;
      join.proved = false;
      join.checked[d] = PrimExpr::make(
          PrimOp::Select, {PrimExpr::make(PrimOp::Equal, {first.dims()[d], dim}), join.checked[d], PrimExpr(-1)});
    }
  }
  join.dims[join.axis] = join.checked[join.axis] = simplify(extent);
  return join;
}

// Groups are joined first, each by a kernel.
Expr concat_in_groups(const CallSite& call, int64_t axis) {
  std::vector<Expr> parts;
  for (size_t i = 0; i < call.size(); ++i)
    for (auto& part : field_exprs(call, i)) parts.push_back(std::move(part));
  const size_t size = kMaxParts / 2;
  std::vector<Expr> groups;
  for (size_t begin = 0; begin < parts.size(); begin += size) {
    const auto first = parts.begin() + static_cast<ptrdiff_t>(begin);
    const auto last = parts.begin() + static_cast<ptrdiff_t>(std::min(begin + size, parts.size()));
    groups.push_back(make_call("concat", {make_tuple({first, last})}, {{"axis", AttrValue(axis)}}));
  }
  return make_call("concat", {make_tuple(std::move(groups))}, {{"axis", AttrValue(axis)}});
}

}  // namespace

StructInfo infer_concat(const CallSite& call) {
  const auto join = join_of(call);
  return tensor_info(join.parts[0].dtype(), join.dims);
}

Effect concat_effect(const CallSite& call) {
  if (call.op().name == "stack") return Effect::MayFail;
  return join_of(call).proved ? Effect::Total : Effect::MayFail;
}

Meaning define_concat(const CallSite& call) {
  const auto join = join_of(call);
  if (join.parts.size() == 1) return field_exprs(call, 0)[0];
  if (join.parts.size() > kMaxParts) return concat_in_groups(call, static_cast<int64_t>(join.axis));
  if (join.parts.size() > kMaxNests && join.proved) return *concat_kernel(call);
  OpFunc f(call, {tensor_info(join.parts[0].dtype(), join.checked)});
  PrimExpr offset = 0;
  for (size_t p = 0; p < join.parts.size(); ++p) {
    const auto buffer = f.in(p);
    f.nest(f.dims(buffer), [&](const tir::Indices& i) -> std::vector<tir::Stmt> {
      tir::Indices at = i;
      at[join.axis] = offset + i[join.axis];
      return {tir::store(f.out(), at, f.load(buffer, i).expr)};
    });
    offset = simplify(offset + f.dims(buffer)[join.axis]);
  }
  return f.finish();
}

std::optional<KernelCall> concat_kernel(const CallSite& call) {
  const auto join = join_of(call);
  if (join.parts.size() > kMaxParts) return std::nullopt;
  KernelCall kernel;
  kernel.contract = Contract::concat;
  kernel.inputs = static_cast<uint16_t>(join.parts.size());
  kernel.set("axis", static_cast<int64_t>(join.axis));
  return kernel;
}

StructInfo infer_stack(const CallSite& call) {
  const auto parts = operands(call);
  if (parts.empty()) call.fail(ErrorCode::ArityMismatch, "there is nothing to join: no tensor is given");
  const auto axis = normalize_axis(call, call.integer("axis"), parts[0].rank() + 1);
  for (const auto& part : parts) {
    require_same_dtype(call, parts[0], part);
    require_rank(call, part, parts[0].rank());
    for (size_t d = 0; d < part.rank(); ++d)
      require_equal(call, fmt::format("dimensions {}", d), parts[0], parts[0].dims()[d], part, part.dims()[d]);
  }
  Dims dims = parts[0].dims();
  dims.insert(dims.begin() + axis, PrimExpr(static_cast<int64_t>(parts.size())));
  return tensor_like(parts[0], dims);
}

Meaning define_stack(const CallSite& call) {
  const auto axis = normalize_axis(call, call.integer("axis"), operands(call)[0].rank() + 1);
  std::vector<Expr> parts;
  for (size_t i = 0; i < call.size(); ++i)
    for (const auto& part : field_exprs(call, i))
      parts.push_back(make_call("expand_dims", {part}, {{"axis", AttrValue(axis)}}));
  return make_call("concat", std::move(parts), {{"axis", AttrValue(axis)}});
}

}  // namespace ingot::ops
