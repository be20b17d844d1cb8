#include "compiler/ops/elementwise.h"

#include "compiler/ops/broadcast.h"
#include "compiler/ops/op_func.h"

namespace ingot::ops {

using namespace ir;

namespace {

void require(const CallSite& call, const Operand& x, Operands operands) {
  switch (operands) {
    case Operands::Numeric:
      return require_numeric(call, x);
    case Operands::Float:
      return require_float(call, x);
    case Operands::Integer:
      return require_integer(call, x);
    case Operands::Bits:
      return x.dtype() == DType::Bool ? void() : require_integer(call, x);
    case Operands::Any:
    case Operands::Choice:
      break;
  }
  if (x.dtype() == DType::String)
    call.fail(ErrorCode::TypeError, "{} is a tensor of strings, which have no arithmetic", x.name);
}

std::vector<Operand> checked_operands(const CallSite& call, Operands kinds) {
  std::vector<Operand> result;
  for (size_t i = 0; i < call.size(); ++i) result.push_back(operand(call, i));
  const size_t first = kinds == Operands::Choice ? 1 : 0;
  if (first == 1 && result[0].dtype() != DType::Bool)
    call.fail(ErrorCode::TypeError, "{} must be bool, it is {}; compare it with zero", result[0].name,
              dtype_name(result[0].dtype()));
  for (size_t i = first; i < result.size(); ++i) {
    require(call, result[i], kinds);
    require_same_dtype(call, result[first], result[i]);
  }
  return result;
}

}  // namespace

StructInfo infer_elementwise(const CallSite& call, Operands kinds, Result result) {
  const auto operands = checked_operands(call, kinds);
  const DType dtype = result == Result::Bool ? DType::Bool : operands.back().dtype();
  return tensor_info(dtype, broadcast(call, operands).dims);
}

Meaning define_elementwise(const CallSite& call, Operands kinds, Result result, ElementFunction element) {
  const auto operands = checked_operands(call, kinds);
  const auto shape = broadcast(call, operands);
  const DType dtype = result == Result::Bool ? DType::Bool : operands.back().dtype();
  OpFunc f(call, {tensor_info(dtype, shape.checked)});
  f.compute(f.out(), [&](const tir::Indices& i) {
    Element in[3];
    for (size_t k = 0; k < operands.size(); ++k) {
      const auto& dims = f.dims(f.in(k));
      in[k] = f.load(f.in(k), broadcast_index(dims, i, f.dims(f.out())));
    }
    return element({call, in[0], in[1], in[2]});
  });
  return f.finish();
}

Effect maps(const CallSite& call) {
  std::vector<Operand> list;
  for (size_t i = 0; i < call.size(); ++i) list.push_back(operand(call, i));
  return broadcast(call, list).proved ? Effect::Total : Effect::MayFail;
}

Effect divides(const CallSite& call) { return is_float(operand(call, 0).dtype()) ? maps(call) : Effect::MayFail; }

}  // namespace ingot::ops
