#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

namespace {

struct Parts {
  size_t axis;
  Dims begins, sizes;
  PrimExpr fits;  // 1 where the parts lie within the operand; null where that is proved
};

Parts parts_of(const CallSite& call, const Operand& x) {
  Parts parts;
  parts.axis = static_cast<size_t>(call.axis("axis", x.rank()));
  const PrimExpr& extent = x.dims()[parts.axis];
  const auto known = extent.as_const();
  const auto add = [&](const PrimExpr& begin, const PrimExpr& size) {
    parts.begins.push_back(begin);
    parts.sizes.push_back(simplify(size));
  };
  if (call.has_attr("sizes")) {
    PrimExpr begin = 0;
    for (const int64_t size : call.integers("sizes")) {
      if (size < 0) call.fail(ErrorCode::InvalidArgument, "a part has size {}", size);
      add(begin, size);
      begin = begin + size;
    }
    if (prove_equal(begin, extent) == Proof::No)
      call.fail(ErrorCode::ShapeMismatch, "the parts have {} elements along axis {}, {} has {}", to_text(begin),
                parts.axis, x.name, to_text(extent));
    if (!known) parts.fits = PrimExpr::make(PrimOp::Equal, {extent, begin});
    return parts;
  }
  if (!call.has_attr("indices_or_sections")) call.fail(ErrorCode::ArityMismatch, "indices_or_sections is missing");
  const auto values = call.integers("indices_or_sections");
  if (!call.is_list("indices_or_sections")) {
    const int64_t count = values[0];
    if (count < 1) call.fail(ErrorCode::InvalidArgument, "the number of parts is {}", count);
    if (count > 4096) call.fail(ErrorCode::Unsupported, "{} parts are more than the greatest number, 4096", count);
    // Where they do not divide the extent the last part is the shorter one.
    const PrimExpr size = simplify(floor_div(extent + (count - 1), count)), last = simplify(size * (count - 1));
    if (known && *last.as_const() > *known)
      call.fail(ErrorCode::ShapeMismatch, "{} has {} elements along axis {}, too few for {} parts of {}", x.name,
                *known, parts.axis, count, to_text(size));
    for (int64_t i = 0; i + 1 < count; ++i) add(simplify(size * i), size);
    add(last, extent - last);
    if (prove_less(extent, last) != Proof::No) parts.fits = PrimExpr::make(PrimOp::LessEqual, {last, extent});
    return parts;
  }
  int64_t begin = 0;
  for (const int64_t next : values) {
    if (next < begin)
      call.fail(ErrorCode::IndexOutOfRange, "a part begins at {}, the one before it at {}", next, begin);
    if (known && next > *known)
      call.fail(ErrorCode::ShapeMismatch, "a part begins at {}, {} has {} elements along axis {}", next, x.name, *known,
                parts.axis);
    add(begin, next - begin);
    begin = next;
  }
  add(begin, extent - begin);
  if (!known) parts.fits = PrimExpr::make(PrimOp::LessEqual, {PrimExpr(begin), extent});
  return parts;
}

std::vector<StructInfo> results(const Operand& x, const Parts& parts, bool checked) {
  std::vector<StructInfo> fields;
  for (const auto& size : parts.sizes) {
    Dims dims = x.dims();
    dims[parts.axis] = checked && parts.fits ? PrimExpr::make(PrimOp::Select, {parts.fits, size, PrimExpr(-1)}) : size;
    fields.push_back(tensor_like(x, dims));
  }
  return fields;
}

}  // namespace

StructInfo infer_split(const CallSite& call) {
  const auto x = operand(call, 0);
  return tuple_info(results(x, parts_of(call, x), false));
}

Meaning define_split(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto parts = parts_of(call, x);
  OpFunc f(call, results(x, parts, true));
  const Dims begins = parts_of(call, f.operand(0)).begins;
  for (size_t p = 0; p < parts.sizes.size(); ++p) {
    const PrimExpr& begin = begins[p];
    f.compute(f.out(p), [&](const tir::Indices& i) {
      tir::Indices at = i;
      at[parts.axis] = begin + i[parts.axis];
      return f.load(f.in(), at);
    });
  }
  return f.finish();
}

}  // namespace ingot::ops
