#include <cmath>

#include "compiler/ops/call.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/base/convert.h"
#include "runtime/symbolic/simplify.h"

// Operators that make tensors from shapes and numbers.
namespace ingot::ops {

using namespace ir;

namespace {

DType dtype_or(const CallSite& call, size_t i, DType fallback) {
  const DType dtype = dtype_of(call, "dtype", i);
  return dtype == DType::None ? fallback : dtype;
}

Dims non_negative(const CallSite& call, Dims dims) {
  if (dims.size() > kMaxRank)
    call.fail(ErrorCode::ShapeMismatch, "the result has rank {}, the greatest is {}", dims.size(), kMaxRank);
  for (const auto& dim : dims)
    if (const auto known = dim.as_const(); known && *known < 0)
      call.fail(ErrorCode::ShapeMismatch, "the shape {} has a negative dimension", dims_text(dims));
  return dims;
}

// Where full has its fill value; the shape is the other argument (Relay and Relax disagree on the order).
size_t fill_place(const CallSite& call) {
  for (size_t i = 0; i < call.size(); ++i)
    if (call.info(i) != nullptr && call.info(i)->kind == InfoKind::Tensor && call.info(i)->rank == 0u) return i;
  call.fail(ErrorCode::TypeError, "there is no fill value: a scalar is needed");
}

size_t shape_place(const CallSite& call) {
  const size_t fill = fill_place(call);
  for (size_t i = 0; i < std::min<size_t>(call.size(), 2); ++i)
    if (i != fill) return i;
  return SIZE_MAX;
}

}  // namespace

StructInfo infer_zeros(const CallSite& call) {
  return tensor_info(dtype_or(call, 1, DType::Float32), non_negative(call, dims_of(call, "shape", 0)));
}

// Total where no dimension can be negative.
Effect creation_effect(const CallSite& call) {
  const auto result = call.op().infer(call);
  for (const auto& dim : *result->dims)
    if (prove_less_equal(0, dim) != Proof::Yes) return Effect::MayFail;
  return Effect::Total;
}

// Of "zeros", "ones", "zeros_like" and "ones_like".
Meaning define_zeros(const CallSite& call) {
  OpFunc f(call);
  const double value = call.op().name.starts_with("ones") ? 1 : 0;
  f.compute(f.out(), [&](const tir::Indices&) { return element(f.dtype(f.out()), value); });
  return f.finish();
}

StructInfo infer_zeros_like(const CallSite& call) {
  const auto x = operand(call, 0);
  return tensor_info(dtype_or(call, 1, x.dtype()), x.dims());
}

StructInfo infer_full(const CallSite& call) {
  const auto fill = operand(call, fill_place(call));
  return tensor_info(dtype_or(call, 2, fill.dtype()), non_negative(call, dims_of(call, "shape", shape_place(call))));
}

Meaning define_full(const CallSite& call) {
  OpFunc f(call);
  size_t fill = 0;
  const auto tensors = operands(call);
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].rank() == 0) fill = i;
  f.compute(f.out(), [&](const tir::Indices&) { return cast(f.dtype(f.out()), f.load(f.in(fill), {})); });
  return f.finish();
}

StructInfo infer_full_like(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto fill = operand(call, 1);
  require_rank(call, fill, 0);
  return tensor_info(dtype_or(call, 2, x.dtype()), x.dims());
}

Meaning define_full_like(const CallSite& call) {
  OpFunc f(call);
  f.compute(f.out(), [&](const tir::Indices&) { return cast(f.dtype(f.out()), f.load(f.in(1), {})); });
  return f.finish();
}

namespace {

struct Progression {
  PrimExpr start, stop, step;
};

Progression progression(const CallSite& call) {
  std::vector<PrimExpr> values;
  for (size_t i = 0; i < call.size(); ++i) {
    if (as<DataType>(call.arg(i)) != nullptr || as<String>(call.arg(i)) != nullptr || !given(call, i)) continue;
    const auto known = constant_integers(call, i);
    if (!known || known->size() != 1)
      call.fail(ErrorCode::TypeError, "{} must be an integer known at compile time, or a prim", call.name_of(i));
    values.push_back(known->front());
  }
  if (values.empty()) call.fail(ErrorCode::ArityMismatch, "the end is missing");
  Progression p{0, values[0], 1};
  if (values.size() > 1) p = {values[0], values[1], 1};
  if (values.size() > 2) p.step = values[2];
  const auto step = p.step.as_const();
  if (!step || *step == 0)
    call.fail(ErrorCode::InvalidArgument, "the step is {}, it must be a number other than 0", to_text(p.step));
  return p;
}

// Decimals, where one of the numbers is a decimal constant.
struct Decimals {
  double start = 0, stop = 0, step = 1;
  DType dtype = DType::None;
};

std::optional<Decimals> decimals(const CallSite& call) {
  std::vector<double> values;
  Decimals result;
  for (size_t i = 0; i < call.size(); ++i) {
    const auto* constant = as<Constant>(call.arg(i));
    if (constant == nullptr || constant->data->rank != 0 || constant->data->dtype == DType::String) continue;
    with_element(constant->data->dtype,
                 [&]<typename T>() { values.push_back(convert<double>(load_element<T>(constant->data->data))); });
    if (is_float(constant->data->dtype)) result.dtype = constant->data->dtype;
  }
  if (result.dtype == DType::None) return std::nullopt;
  if (values.size() == 1) result.stop = values[0];
  if (values.size() > 1) result = {values[0], values[1], values.size() > 2 ? values[2] : 1, result.dtype};
  return result;
}

int64_t count_of(const CallSite& call, const Decimals& p) {
  const double count = std::ceil((p.stop - p.start) / p.step);
  if (p.step == 0 || !(count <= INT32_MAX))
    call.fail(ErrorCode::InvalidArgument, "from {} to {} by {}: that is no number of elements up to {}", p.start,
              p.stop, p.step, INT32_MAX);
  return static_cast<int64_t>(std::max(count, 0.0));
}

}  // namespace

namespace {

// Of scalars that are known when the program runs.
std::optional<Expr> range_of_tensors(const CallSite& call) {
  std::vector<Expr> values;
  bool open = false;
  DType dtype = DType::None;
  for (size_t i = 0; i < call.size(); ++i) {
    const auto& info = call.info(i);
    if (as<DataType>(call.arg(i)) != nullptr || as<String>(call.arg(i)) != nullptr || !given(call, i)) continue;
    values.push_back(call.arg(i));
    if (info == nullptr || info->kind != InfoKind::Tensor) continue;
    const auto x = operand(call, i);
    require_rank(call, x, 0);
    require_numeric(call, x);
    open = open || as<Constant>(call.arg(i)) == nullptr;
    if (dtype == DType::None) dtype = x.dtype();
    if (x.dtype() != dtype)
      call.fail(ErrorCode::TypeError, "dtypes differ: {} is {}, others are {}; convert one with cast", x.name,
                dtype_name(x.dtype()), dtype_name(dtype));
  }
  if (!open) return std::nullopt;
  for (size_t i = 0; i < values.size(); ++i)
    if (call.info(i)->kind != InfoKind::Tensor)
      call.fail(ErrorCode::TypeError, "{} is no tensor, others are", call.name_of(i));
  if (values.size() == 1) values.insert(values.begin(), scalar(dtype, 0));
  if (values.size() == 2) values.push_back(scalar(dtype, 1));
  const DType asked = dtype_or(call, SIZE_MAX, dtype);
  if (is_float(dtype) && !is_float(asked))
    call.fail(ErrorCode::Unsupported, "dtype is {}, of numbers of {} that are known only when the program runs",
              dtype_name(asked), dtype_name(dtype));
  if (asked != dtype)
    for (Expr& value : values) value = make_call("cast", {value}, {{"dtype", asked}});
  return make_builtin("range", std::move(values), tensor_info(asked, 1u));
}

}  // namespace

StructInfo infer_arange(const CallSite& call) {
  if (const auto range = range_of_tensors(call))
    return tensor_info(dtype_or(call, SIZE_MAX, operand(call, 0).dtype()), 1u);
  if (const auto p = decimals(call)) return tensor_info(dtype_or(call, SIZE_MAX, p->dtype), Dims{count_of(call, *p)});
  const auto p = progression(call);
  const int64_t step = *p.step.as_const();
  const PrimExpr span = step > 0 ? p.stop - p.start + (step - 1) : p.start - p.stop + (-step - 1);
  const PrimExpr count = simplify(max(floor_div(span, std::abs(step)), 0));
  return tensor_info(dtype_or(call, SIZE_MAX, DType::Int64), Dims{count});
}

Meaning define_arange(const CallSite& call) {
  if (auto range = range_of_tensors(call)) return *std::move(range);
  OpFunc f(call, {infer_arange(call)});
  if (const auto d = decimals(call)) {
    f.compute(f.out(), [&](const tir::Indices& i) {
      const Element place = cast(DType::Float64, element(DType::Int64, i[0]));
      return cast(f.dtype(f.out()), element(DType::Float64, d->start) + place * d->step);
    });
    return f.finish();
  }
  const auto p = progression(call);
  f.compute(f.out(), [&](const tir::Indices& i) {
    return element(f.dtype(f.out()), f.local(p.start) + i[0] * f.local(p.step));
  });
  return f.finish();
}

StructInfo infer_one_hot(const CallSite& call) {
  const auto indices = operand(call, 0);
  require_integer(call, indices);
  const auto on = operand(call, 1);
  const auto off = operand(call, 2);
  require_rank(call, on, 0);
  require_rank(call, off, 0);
  require_same_dtype(call, on, off);
  const int64_t depth = call.integer("depth");
  if (depth < 0) call.fail(ErrorCode::InvalidArgument, "depth is {}, it must not be negative", depth);
  Dims dims = indices.dims();
  dims.insert(dims.begin() + normalize_axis(call, call.integer("axis"), dims.size() + 1), PrimExpr(depth));
  return tensor_info(dtype_or(call, SIZE_MAX, on.dtype()), dims);
}

Meaning define_one_hot(const CallSite& call) {
  OpFunc f(call);
  const auto axis = normalize_axis(call, call.integer("axis"), f.dims(f.out()).size());
  const DType dtype = f.dtype(f.out());
  f.compute(f.out(), [&](const tir::Indices& i) {
    tir::Indices at = i;
    at.erase(at.begin() + axis);
    const Element index = cast(DType::Int64, f.load(f.in(0), at));
    const Element hit = equal(index, element(DType::Int64, i[static_cast<size_t>(axis)]));
    return select(hit, cast(dtype, f.load(f.in(1), {})), cast(dtype, f.load(f.in(2), {})));
  });
  return f.finish();
}

}  // namespace ingot::ops
