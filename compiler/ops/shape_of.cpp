#include "compiler/ops/call.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"

// Operators that speak of shapes.
namespace ingot::ops {

using namespace ir;

// With a dtype: as a tensor, as Relay has it.
StructInfo infer_shape_of(const CallSite& call) {
  const auto& x = call.tensor(0);
  if (const DType dtype = dtype_of(call, "dtype", 1); dtype != DType::None)
    return tensor_info(dtype, Dims{PrimExpr(static_cast<int64_t>(operand(call, 0).rank()))});
  if (x.dims) return shape_info(*x.dims);
  return x.rank ? shape_info(*x.rank) : shape_info();
}

Meaning define_shape_of(const CallSite& call) {
  if (const DType dtype = dtype_of(call, "dtype", 1); dtype != DType::None)
    return make_call("shape_to_tensor", {call.arg(0)}, {{"dtype", dtype}});
  const auto info = infer_shape_of(call);
  if (!info->dims) return BuiltinCall{"shape_of"};
  return Expr(std::make_shared<Shape>(*info->dims, Span{}));
}

namespace {

// The dimensions of a shape argument, or of a tensor's shape.
Dims dims_asked(const CallSite& call) {
  if (call.info(0) != nullptr && call.info(0)->kind == InfoKind::Tensor) return operand(call, 0).dims();
  const auto dims = call.shape(0);
  return {dims.begin(), dims.end()};
}

DType dtype_asked(const CallSite& call) {
  const DType dtype = dtype_of(call, "dtype", 1);
  return dtype == DType::None ? DType::Int64 : dtype;
}

// A shape, or a tensor's, of which not even the rank is known: as the builtins of the VM give it.
bool is_open(const CallSite& call) {
  const auto& info = call.info(0);
  if (info == nullptr || info->dims) return false;
  return (info->kind == InfoKind::Shape || info->kind == InfoKind::Tensor) && !info->rank &&
         dtype_asked(call) == DType::Int64;
}

}  // namespace

StructInfo infer_shape_to_tensor(const CallSite& call) {
  if (is_open(call)) return tensor_info(DType::Int64, 1u);
  return tensor_info(dtype_asked(call), Dims{PrimExpr(static_cast<int64_t>(dims_asked(call).size()))});
}

Meaning define_shape_to_tensor(const CallSite& call) {
  if (is_open(call)) {
    const bool tensor = call.info(0)->kind == InfoKind::Tensor;
    const Expr shape = tensor ? make_builtin("shape_of", {call.arg(0)}, shape_info()) : call.arg(0);
    return make_builtin("shape_to_tensor", {shape}, tensor_info(DType::Int64, 1u));
  }
  OpFunc f(call);
  const Dims dims = dims_asked(call);
  for (size_t d = 0; d < dims.size(); ++d)
    f.builder().append(
        tir::store(f.out(), {PrimExpr(static_cast<int64_t>(d))}, element(f.dtype(f.out()), f.local(dims[d])).expr));
  return f.finish();
}

StructInfo infer_size(const CallSite& call) {
  operand(call, 0);
  return tensor_info(dtype_asked(call), Dims{});
}

// Of "size", the number of elements, and "ndim", the number of dimensions.
Meaning define_size(const CallSite& call) {
  OpFunc f(call);
  const Dims& dims = f.dims(f.in());
  const PrimExpr value = call.op().name == "ndim" ? PrimExpr(static_cast<int64_t>(dims.size())) : product(dims);
  f.builder().append(tir::store(f.out(), {}, element(f.dtype(f.out()), value).expr));
  return f.finish();
}

}  // namespace ingot::ops
