#pragma once
#include "runtime/base/cpu.h"
#include "runtime/jit/builder.h"
#include "runtime/jit/helpers.h"
#include "runtime/tir/prim_func.h"

namespace ingot::jit {

Width width_of(DType dtype);

// The operators of the language on lanes of every dtype, by the table of docs/language.md: exactly as
// runtime/base/arithmetic.h, but for the functions of vector_math.h.
class LaneArithmetic {
 public:
  LaneArithmetic(Builder& builder, Function& function, Cpu cpu) : b_(builder), function_(function), cpu_(cpu) {}

  Value constant(DType dtype, uint64_t bits);
  Value unary(tir::ExprOp op, DType dtype, Value a);
  // `mask`: the lanes whose value is asked for, 0 for all; the others do not fault.
  Value binary(tir::ExprOp op, DType dtype, Value a, Value b, Value mask);
  Value cast(DType from, DType to, Value a);
  Value select(DType dtype, Value condition, Value if_true, Value if_false);

 private:
  Value normal(DType dtype, Value value);
  Value round_bf16(Value value);
  Value integer(DType dtype, int64_t value);
  Value number(DType dtype, double value);
  Value compare(tir::ExprOp op, DType dtype, Value a, Value b);
  Value logic(tir::ExprOp op, Value a, Value b);
  Value float_binary(tir::ExprOp op, DType dtype, Value a, Value b);
  Value int_binary(tir::ExprOp op, DType dtype, Value a, Value b);
  Value from_int(DType from, DType to, Value a);
  Value from_float(DType from, DType to, Value a);
  // Does not run where `mask` is given and empty.
  Value call(Helper helper, Width width, Value a, Value b = 0, Value mask = 0);
  bool has_avx512() const { return cpu_ >= Cpu::Avx512; }

  Builder& b_;
  Function& function_;
  Cpu cpu_;
};

}  // namespace ingot::jit
