#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"

namespace ingot::ops {

using namespace ir;

StructInfo infer_cast(const CallSite& call) {
  const auto x = operand(call, 0);
  const DType dtype = dtype_of(call, "dtype", 1);
  if (dtype == DType::None) call.fail(ErrorCode::ArityMismatch, "dtype is missing: cast({}, \"float32\")", x.name);
  if (dtype == DType::String || x.dtype() == DType::String)
    call.fail(ErrorCode::TypeError, "strings cannot be converted");
  return tensor_info(dtype, x.dims());
}

Meaning define_cast(const CallSite& call) {
  const DType dtype = dtype_of(call, "dtype", 1);
  if (dtype == operand(call, 0).dtype()) return call.arg(0);
  OpFunc f(call);
  f.compute(f.out(), [&](const tir::Indices& i) { return cast(dtype, f.load(f.in(), i)); });
  return f.finish();
}

}  // namespace ingot::ops
