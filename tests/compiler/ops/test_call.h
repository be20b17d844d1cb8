#pragma once
#include <string>
#include <vector>

#include "compiler/ir/op.h"
#include "compiler/ops/ops.h"

// Calls of operators without a program around them.
namespace ingot::ops {

inline StructInfo f32(std::vector<PrimExpr> dims) { return tensor_info(DType::Float32, std::move(dims)); }
inline StructInfo i64(std::vector<PrimExpr> dims) { return tensor_info(DType::Int64, std::move(dims)); }

// A call whose arguments are variables %a, %b, ... of the given StructInfo.
class TestCall {
 public:
  TestCall(std::string_view op, std::vector<StructInfo> infos, ir::Attrs attrs = {});

  ir::CallSite site() const { return ir::CallSite(*op_, args_, infos_, attrs_, {}); }
  // The result's StructInfo as text, or "Code: message" of the error.
  std::string infer() const;
  ir::Effect effect() const { return op_->effect(site()); }
  ir::Meaning define() const { return op_->define(site()); }

 private:
  const ir::Op* op_;
  std::vector<ir::Expr> args_;
  std::vector<StructInfo> infos_;
  ir::Attrs attrs_;
};

// A tensor of numbers, whatever its dtype.
struct Array {
  DType dtype;
  std::vector<int64_t> dims;
  std::vector<double> values;
};
inline Array floats(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::Float32, std::move(dims), std::move(values)};
}
inline Array integers(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::Int64, std::move(dims), std::move(values)};
}
// What the operator's definition (a PrimFunc, a kernel or a view) computes from the arguments: its first result.
// Errors and faults are thrown.
std::vector<double> run(std::string_view op, const std::vector<Array>& args, ir::Attrs attrs = {});

}  // namespace ingot::ops
