#include "vm/verifier/structure.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/checks/match.h"
#include "runtime/tensor/tensor.h"
#include "runtime/tir/checker.h"

namespace ingot::vm {
namespace {

constexpr size_t kMaxKernelOutputs = 64;

// Runs `check`; what it throws becomes CorruptFile that begins with `where`.
template <typename Check>
void in(const std::string& where, Check&& check) {
  try {
    check();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::OutOfMemory || error.code() == ErrorCode::Internal) throw;
    fail(ErrorCode::CorruptFile, "{}: {}", where, error.what());
  }
}

std::optional<size_t> count_elements(std::span<const int64_t> dims) {
  size_t count = 1;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    const auto product = checked_mul(count, static_cast<size_t>(dim));
    if (!product) return std::nullopt;
    count = *product;
  }
  return count;
}

void check_tensor_constant(const Constant& constant) {
  if (constant.dtype == DType::None) fail(ErrorCode::CorruptFile, "a tensor needs a dtype");
  if (constant.dims.size() > kMaxRank)
    fail(ErrorCode::CorruptFile, "rank {} is above {}", constant.dims.size(), kMaxRank);
  const auto count = count_elements(constant.dims);
  const auto bytes = count ? checked_mul(*count, dtype_bytes(constant.dtype)) : std::nullopt;
  if (!bytes) fail(ErrorCode::CorruptFile, "dimensions {} are negative or too large", fmt::join(constant.dims, ", "));
  if (constant.dtype == DType::String) {
    if (constant.strings.size() != *count)
      fail(ErrorCode::CorruptFile, "there are {} strings, dimensions ask for {}", constant.strings.size(), *count);
    return;
  }
  if (constant.dims.empty()) fail(ErrorCode::CorruptFile, "a tensor of rank 0 is a scalar");
  if (constant.bytes.size() != *bytes)
    fail(ErrorCode::CorruptFile, "there are {} bytes, dimensions ask for {}", constant.bytes.size(), *bytes);
  if (reinterpret_cast<uintptr_t>(constant.bytes.data()) % dtype_bytes(constant.dtype) != 0)
    fail(ErrorCode::CorruptFile, "the elements are not aligned");
}

void check_payload(const Constant& constant) {
  const size_t bytes = dtype_bytes(constant.dtype);
  if (bytes == 0 || constant.dtype == DType::String)
    fail(ErrorCode::CorruptFile, "there are no values of dtype {}", dtype_name(constant.dtype));
  if (bytes < 8 && constant.bits >> (8 * bytes) != 0)
    fail(ErrorCode::CorruptFile, "payload {:#x} is wider than dtype {}", constant.bits, dtype_name(constant.dtype));
  if (constant.dtype == DType::Bool && constant.bits > 1)
    fail(ErrorCode::CorruptFile, "a bool is 0 or 1, not {}", constant.bits);
}

void check_constant(const Constant& constant) {
  const bool has_dtype = constant.kind == Kind::Scalar || constant.kind == Kind::Prim || constant.kind == Kind::Tensor;
  if (!has_dtype && constant.dtype != DType::None)
    fail(ErrorCode::CorruptFile, "a constant without elements has dtype {}", dtype_name(constant.dtype));
  switch (constant.kind) {
    case Kind::None:
    case Kind::String:
      return;
    case Kind::Scalar:
      return check_payload(constant);
    case Kind::Prim:
      if (constant.dtype != DType::Int64 && constant.dtype != DType::Float64 && constant.dtype != DType::Bool)
        fail(ErrorCode::CorruptFile, "there are no prims of dtype {}", dtype_name(constant.dtype));
      return check_payload(constant);
    case Kind::DType:
      if (constant.bits == 0 || constant.bits >= kDTypeCount)
        fail(ErrorCode::CorruptFile, "dtype {} does not exist", constant.bits);
      return;
    case Kind::Shape:
      if (constant.dims.size() > kMaxRank || !count_elements(constant.dims))
        fail(ErrorCode::CorruptFile, "({}) is no shape", fmt::join(constant.dims, ", "));
      return;
    case Kind::Tensor:
      return check_tensor_constant(constant);
    case Kind::Tuple:
    case Kind::Closure:
    case Kind::PackedFunc:
    case Kind::Object:
      break;
  }
  fail(ErrorCode::CorruptFile, "there are no constants of kind {}", static_cast<int>(constant.kind));
}

void check_kernel(const KernelCall& call) {
  const size_t fewest = call.contract == Contract::prim_func ? 0 : 1;
  if (call.outputs < fewest || call.outputs > kMaxKernelOutputs)
    fail(ErrorCode::CorruptFile, "{} outputs, allowed are {} to {}", call.outputs, fewest, kMaxKernelOutputs);
  for (size_t i = 1; i < call.attributes.size(); ++i)
    if (call.attributes[i - 1].name >= call.attributes[i].name)
      fail(ErrorCode::CorruptFile, "attribute '{}' does not stand before '{}'", call.attributes[i - 1].name,
           call.attributes[i].name);
  if ((call.contract == Contract::prim_func) != (call.prim_func != nullptr))
    fail(ErrorCode::CorruptFile, "contract {} {} PrimFunc", contract_name(call.contract),
         call.prim_func == nullptr ? "needs a" : "takes no");
  if (call.prim_func == nullptr) return;
  const tir::PrimFunc& func = *call.prim_func;
  const size_t inputs = func.params - func.outputs + func.scalars.size();
  if (call.inputs != inputs || call.outputs != func.outputs)
    fail(ErrorCode::CorruptFile, "{} inputs and {} outputs, PrimFunc '{}' has {} and {}", call.inputs, call.outputs,
         func.name, inputs, func.outputs);
}

void check_info(const StructInfo& info) {
  if (info == nullptr) fail(ErrorCode::CorruptFile, "the StructInfo is missing");
}

void check_signature(const Function& function) {
  check_info(function.signature);
  if (function.signature->kind != InfoKind::Func || !function.signature->has_params)
    fail(ErrorCode::CorruptFile, "the signature is no function with parameters");
  if (function.signature->fields.size() != function.params)
    fail(ErrorCode::CorruptFile, "the signature has {} parameters, the function {}", function.signature->fields.size(),
         function.params);
  if (!function.param_names.empty() && function.param_names.size() != function.params)
    fail(ErrorCode::CorruptFile, "there are {} names for {} parameters", function.param_names.size(), function.params);
}

void check_check(const Check& check) {
  check_info(check.info);
  std::unordered_set<const SymVarNode*> standing_alone, of_values;
  for_each_binding_var(check.info, [&](const SymVar& var) { standing_alone.insert(var.get()); });
  for_each_value_var(check.info, [&](const SymVar& var) { of_values.insert(var.get()); });
  size_t vars = 0;
  for_each_var(check.info, [&](const SymVar& var) {
    if (vars < check.binds.size() && check.binds[vars] && !standing_alone.contains(var.get()) &&
        of_values.contains(var.get()))
      fail(ErrorCode::CorruptFile, "{} is to be bound, but never stands alone", var->name);
    ++vars;
  });
  if (vars != check.binds.size())
    fail(ErrorCode::CorruptFile, "{} has {} variables, not {}", to_text(check.info), vars, check.binds.size());
}

void check_bound(const Function& function, size_t index) {
  const Bound& bound = function.bounds[index];
  if (bound.var >= function.vars.size())
    fail(ErrorCode::CorruptFile, "variable {} has a bound, there are {}", bound.var, function.vars.size());
  if (bound.most < 0) fail(ErrorCode::CorruptFile, "{} is at most {}", function.vars[bound.var]->name, bound.most);
  if (index > 0 && function.bounds[index - 1].var >= bound.var)
    fail(ErrorCode::CorruptFile, "the bound of variable {} stands behind that of {}", bound.var,
         function.bounds[index - 1].var);
}

void check_loop(const LoopHeader& loop, const Function& function) {
  int64_t before = -1;
  for (const LoopRegister& reg : loop.registers) {
    if (reg.index <= before || reg.index >= function.registers)
      fail(ErrorCode::CorruptFile, "r{} is listed behind r{}, the function has {} registers", reg.index, before,
           function.registers);
    before = reg.index;
  }
}

void check_function(const Function& function) {
  const uint64_t entry = uint64_t{function.params} + function.captures;
  if (function.registers > kMaxRegisters || entry > function.registers)
    fail(ErrorCode::CorruptFile, "{} parameters and captures, {} registers; at most {}", entry, function.registers,
         kMaxRegisters);
  if (function.code.size() > kMaxCodeUnits)
    fail(ErrorCode::CorruptFile, "{} units of code, at most {}", function.code.size(), kMaxCodeUnits);
  if (function.exported && function.captures != 0)
    fail(ErrorCode::CorruptFile, "an exported function cannot capture {} values", function.captures);
  check_signature(function);
  for (size_t i = 0; i < function.bounds.size(); ++i) check_bound(function, i);
  for (size_t i = 0; i < function.storages.size(); ++i) {
    const Storage& storage = function.storages[i];
    if (storage.dtype == DType::None || storage.dims.size() > kMaxRank)
      fail(ErrorCode::CorruptFile, "storage {} has dtype {} and rank {}", i, dtype_name(storage.dtype),
           storage.dims.size());
  }
  for (size_t i = 0; i < function.checks.size(); ++i)
    in(fmt::format("check {}", i), [&] { check_check(function.checks[i]); });
  for (size_t i = 0; i < function.loops.size(); ++i) {
    if (i > 0 && function.loops[i - 1].unit >= function.loops[i].unit)
      fail(ErrorCode::CorruptFile, "the loop at unit {} stands behind the one at unit {}", function.loops[i].unit,
           function.loops[i - 1].unit);
    in(fmt::format("loop at unit {}", function.loops[i].unit), [&] { check_loop(function.loops[i], function); });
  }
  for (size_t i = 1; i < function.spans.size(); ++i)
    if (function.spans[i - 1].unit >= function.spans[i].unit)
      fail(ErrorCode::CorruptFile, "source spans are not in order of units");
}

}  // namespace

void check_structure(const Program& program) {
  for (size_t i = 0; i < program.prim_funcs.size(); ++i)
    in(fmt::format("PrimFunc '{}'", program.prim_funcs[i]->name), [&] { tir::check(*program.prim_funcs[i]); });
  for (size_t i = 0; i < program.constants.size(); ++i)
    in(fmt::format("constant {}", i), [&] { check_constant(program.constants[i]); });
  std::unordered_set<const tir::PrimFunc*> prim_funcs;
  for (const tir::PrimFuncRef& func : program.prim_funcs) prim_funcs.insert(func.get());
  for (size_t i = 0; i < program.kernels.size(); ++i)
    in(fmt::format("kernel call {}", i), [&] {
      check_kernel(program.kernels[i]);
      if (program.kernels[i].prim_func != nullptr && !prim_funcs.contains(program.kernels[i].prim_func.get()))
        fail(ErrorCode::CorruptFile, "PrimFunc '{}' is not listed", program.kernels[i].prim_func->name);
    });
  std::set<std::pair<std::string_view, std::vector<uint32_t>>> imports;
  for (const Import& import : program.imports)
    if (import.name.empty() || !imports.emplace(import.name, import.writes).second)
      fail(ErrorCode::CorruptFile, "import '{}' has no name or is listed twice", import.name);
  std::unordered_set<std::string_view> exports;
  for (const Function& function : program.functions) {
    in(fmt::format("function '{}'", function.name), [&] { check_function(function); });
    if (function.exported && (function.name.empty() || !exports.insert(function.name).second))
      fail(ErrorCode::CorruptFile, "function '{}' has no name or is exported twice", function.name);
  }
}

}  // namespace ingot::vm
