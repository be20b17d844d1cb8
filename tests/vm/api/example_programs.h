#pragma once
#include "tests/vm/interpreter/programs.h"
#include "vm/executable/writer.h"

namespace ingot::vm::testing {

// main(a: Tensor[(n, 3), float32]) = matmul(a, w), w of shape (3, 2), as a file.
inline std::vector<std::byte> mlp_bytes() {
  static const std::vector<float> weights = {1, 0, 0, 1, 1, 1};
  Constant w;
  w.kind = Kind::Tensor;
  w.dtype = DType::Float32;
  w.dims = {3, 2};
  w.bytes = std::as_bytes(std::span(weights));

  const SymVar n = make_sym_var("n");
  FunctionBuilder main("main", {tensor_info(DType::Float32, {PrimExpr(n), PrimExpr(3)})},
                       tensor_info(DType::Float32, {PrimExpr(n), PrimExpr(2)}), 4);
  main.exported({1});
  main.code.emit(Opcode::Plan, RegisterList{1});
  main.code.emit(Opcode::LoadConst, 3, 0);
  main.code.emit(Opcode::NewTensor, 2, main.storage(DType::Float32, {n, 2}));
  main.code.emit(Opcode::CallKernel, 0, RegisterList{0, 3, 2});
  main.code.emit(Opcode::Kill, 0);
  main.code.emit(Opcode::Return, 2);

  Program program;
  KernelCall call;
  call.contract = Contract::matmul;
  call.inputs = 2;
  program.kernels = {call};
  program.constants = {w};
  program.functions = {main.finish()};
  return write_program(program);
}

}  // namespace ingot::vm::testing
