#pragma once
#include "compiler/ops/element.h"
#include "compiler/ops/operands.h"

// Operators that compute each element of the result from the elements at its place, under NumPy's broadcasting. Their
// lines in ops.def say everything about them.
namespace ingot::ops {

// Which dtypes the operands may have; all have the same one.
enum class Operands : uint8_t {
  Numeric,  // integers and floats
  Float,
  Integer,
  Bits,    // Integer and bool
  Any,     // Numeric and bool
  Choice,  // the first is bool, the others have one dtype of any kind
};
enum class Result : uint8_t { Same, Bool };

// What the expression of a line may use: the operands' elements, and the call for its attributes.
struct Elements {
  const ir::CallSite& call;
  Element x, y, z;
  double attr(std::string_view name) const { return call.number(name); }
};
using ElementFunction = Element (*)(const Elements& in);

StructInfo infer_elementwise(const ir::CallSite& call, Operands operands, Result result);
ir::Meaning define_elementwise(const ir::CallSite& call, Operands operands, Result result, ElementFunction element);

// MayFail where the shapes are not proved to fit; `divides` also on integers.
ir::Effect maps(const ir::CallSite& call);
ir::Effect divides(const ir::CallSite& call);

}  // namespace ingot::ops
