#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/call.h"
#include "compiler/ops/operands.h"

// Arithmetic on integers that stand for numbers, scale * (x - zero point), as compositions of integer operators.
// Relay's qnn operators are made of it; each gives the same integers wherever it runs.
namespace ingot::ops {

// An argument of rank 0, or a vector along an axis of the data.
struct Parameter {
  ir::Expr value;
  Operand info;
};

struct Encoding {
  Parameter scale, zero;
};

struct Requantization {
  int64_t axis = -1;                // along which vectors of the source lie
  std::string rounding = "UPWARD";  // of halves; or "TONEAREST": away from zero
  std::string compute = "int64";    // fixed point; or "float32", "float64"
  DType out = DType::Int32;
};

// Argument `i`: anything of rank 0 or 1, a float scale, or an integer zero point.
Parameter parameter_at(const ir::CallSite& call, size_t i);
Parameter scale_at(const ir::CallSite& call, size_t i);
Parameter zero_at(const ir::CallSite& call, size_t i);
// Arguments `i` and `i + 1`.
Encoding encoding_at(const ir::CallSite& call, size_t i);
Parameter constant_parameter(DType dtype, double value);
// Scales multiplied, as float32.
ir::Expr multiplied(const Parameter& x, const Parameter& y);
void require_scalar(const ir::CallSite& call, const Parameter& p);

// Data of argument `i`, of int8, uint8, int16, uint16 or int32.
Operand quantized_operand(const ir::CallSite& call, size_t i);

// A vector laid along the axis of data of this rank; ShapeMismatch where it certainly does not fit its dimension.
ir::Expr beside(const ir::CallSite& call, const Parameter& p, int64_t axis, const Operand& data);
// The data as int32 less its zero point.
ir::Expr centred(const ir::CallSite& call, const ir::Expr& x, const Operand& data, const Parameter& zero, int64_t axis);
// The data in another encoding: round((x - zero) * scale / scale of `to`) + zero of `to`, brought into the range of
// `how.out` unless that is int32. `to` has rank 0. `x` is data of `data`'s shape, whatever its dtype.
ir::Expr requantized(const ir::CallSite& call, const ir::Expr& x, const Operand& data, const Encoding& from,
                     const Encoding& to, const Requantization& how);
// An int32 tensor brought into the range of a narrower dtype.
ir::Expr narrowed(const ir::Expr& x, DType to);
// round(x * factor) of an int32 tensor by fixed-point arithmetic, halves rounded up.
ir::Expr times(const ir::Expr& x, double factor);

}  // namespace ingot::ops
