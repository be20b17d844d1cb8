#pragma once
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/module.h"

// Calls of PrimFuncs with one result, and one PrimFunc that does the work of several.
namespace ingot::transform {

struct TirCall {
  tir::PrimFuncRef func;
  std::vector<ir::Expr> inputs;  // leaves: variables and constants
  std::vector<PrimExpr> scalars;
  StructInfo output;
  ir::Span span;
};

// nullopt where it is anything else, or inputs are not known as tensors of known dimensions.
std::optional<TirCall> as_tir_call(const ir::Module& module, const ir::Expr& value);

// Can the call not fail, whatever its inputs hold? Its shapes are proved to fit, every access is proved to be in
// bounds, and no integer is divided.
bool is_total(const TirCall& call);

// The variable that the result of a call is bound to.
struct Member {
  const ir::Var* result;
  const TirCall* call;
};
// What tells inputs of merged calls apart: constants of the same elements are one.
const void* input_key(const ir::Expr& input);
// The element, where the input is a constant of rank 0; otherwise null.
const TensorObject* number_of(const ir::Expr& input);

// What becomes of numbers (constants of rank 0) among the inputs: parts of the function, or inputs of it as others are.
enum class Numbers : uint8_t { Inside, AsInputs };

// The calls one after the other in one function; the result is that of the last one, those of the others are temporary
// buffers of it. All are total, and earlier ones write their result whole.
TirCall merge(std::span<const Member> members, Numbers numbers);

}  // namespace ingot::transform
