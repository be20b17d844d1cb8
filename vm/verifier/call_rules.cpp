#include <algorithm>

#include "runtime/base/error.h"
#include "vm/verifier/function_verifier.h"

namespace ingot::vm {

using Flags = RegisterState::Flag;

namespace {

void check_window(Register base, size_t arguments, uint32_t registers) {
  if (size_t{base} + std::max<size_t>(arguments, 1) > registers)
    fail(ErrorCode::CorruptFile, "the window of {} arguments from r{} leaves the function's {} registers", arguments,
         base, registers);
}

void check_no_captures(const Function& callee) {
  if (callee.captures != 0)
    fail(ErrorCode::CorruptFile, "'{}' captures {} values: it is called through its closure", callee.name,
         callee.captures);
}

}  // namespace

// The arguments leave the frame; nothing that it must release may lie where the callee's registers will.
void FunctionVerifier::window(Register base, size_t arguments, std::optional<uint32_t> callee) {
  check_window(base, arguments, function_.registers);
  if (callee) check_arguments(base, *callee);
  for (size_t k = 0; k < arguments; ++k) {
    const auto reg = static_cast<Register>(base + k);
    const RegisterState& state = use(reg);
    if (state.root != kNoRegister && state.root >= base)
      fail(ErrorCode::CorruptFile, "r{} is an alias of r{}, which the call consumes", reg, state.root);
  }
  const uint32_t above = registers_.counted().next(static_cast<uint32_t>(base + arguments));
  if (above != RegisterSet::kEnd)
    fail(ErrorCode::CorruptFile, "r{} above the call's window holds a value that was not released", above);
  for (uint32_t reg = registers_.held().next(base); reg != RegisterSet::kEnd; reg = registers_.held().next(reg + 1))
    registers_.clear(static_cast<Register>(reg));
}

// As above, and nothing remains in the frame, nor do the arguments depend on it.
void FunctionVerifier::tail_window(Register base, size_t arguments, std::optional<uint32_t> callee) {
  check_window(base, arguments, function_.registers);
  if (callee) check_arguments(base, *callee);
  size_t counted = 0;
  for (size_t k = 0; k < arguments; ++k) {
    const auto reg = static_cast<Register>(base + k);
    const RegisterState& state = use(reg);
    if (state.root != kNoRegister || state.range != kNoSite)
      fail(ErrorCode::CorruptFile, "r{} is borrowed from the frame that ends", reg);
    counted += state.has(Flags::Counted) ? 1 : 0;
  }
  if (counted != registers_.counted().size())
    fail(ErrorCode::CorruptFile, "{} registers besides the arguments hold values that were not released",
         registers_.counted().size() - counted);
  reachable_ = false;
}

// What a direct call gives to a function that trusts its callers, or that may be entered behind its check.
void FunctionVerifier::check_arguments(Register base, uint32_t index) {
  const Function& callee = program_.functions[index];
  const FunctionFacts& facts = program_facts_.functions[index];
  if (!facts.trusts_callers && facts.direct_entry == 0) return;
  const auto& wanted_infos =
      facts.trusts_callers ? callee.signature->fields : callee.checks[*facts.params_check].info->fields;
  for (size_t k = 0; k < callee.params; ++k) {
    const auto reg = static_cast<Register>(base + k);
    const ValueClass given = peek(reg).value;
    const ValueClass wanted = class_of(wanted_infos[k]);
    if (given.within(wanted)) continue;
    if (facts.trusts_callers)
      fail(ErrorCode::CorruptFile, "r{} holds {}, '{}' takes {}", reg, to_text(given), callee.name, to_text(wanted));
    return doubted_callees_.push_back(index);
  }
}

void FunctionVerifier::call(const Instruction& i) {
  const Function& callee = program_.functions[i[1].index()];
  const FunctionFacts& facts = program_facts_.functions[i[1].index()];
  check_no_captures(callee);
  window(i[0].reg(), callee.params, i[1].index());
  define(i[0].reg(), counted_state(facts.result));
}

void FunctionVerifier::tail_call(const Instruction& i) {
  const Function& callee = program_.functions[i[1].index()];
  const FunctionFacts& facts = program_facts_.functions[i[1].index()];
  check_no_captures(callee);
  if (!facts.result.within(facts_.result))
    fail(ErrorCode::CorruptFile, "'{}' returns {}, this function {}", callee.name, to_text(facts.result),
         to_text(facts_.result));
  tail_window(i[0].reg(), callee.params, i[1].index());
}

void FunctionVerifier::call_value(const Instruction& i) {
  const Register base = i[0].reg();
  const Register reg = i[1].reg();
  if (i[2].value < 0) fail(ErrorCode::CorruptFile, "there are no {} arguments", i[2].value);
  if (reg >= base) fail(ErrorCode::CorruptFile, "r{} lies in the call's window, which begins at r{}", reg, base);
  const RegisterState value = take(reg);
  if (value.root != kNoRegister && value.root >= base)
    fail(ErrorCode::CorruptFile, "r{} is an alias of r{}, which the call consumes", reg, value.root);
  window(base, static_cast<size_t>(i[2].value), {});
  define(base, counted_state({}));
}

void FunctionVerifier::tail_call_value(const Instruction& i) {
  const Register base = i[0].reg();
  const Register reg = i[1].reg();
  if (i[2].value < 0) fail(ErrorCode::CorruptFile, "there are no {} arguments", i[2].value);
  if (reg >= base) fail(ErrorCode::CorruptFile, "r{} lies in the call's window, which begins at r{}", reg, base);
  const RegisterState value = take(reg);
  if (value.root != kNoRegister) fail(ErrorCode::CorruptFile, "r{} is borrowed from the frame that ends", reg);
  tail_window(base, static_cast<size_t>(i[2].value), {});
}

void FunctionVerifier::return_value(Register reg) {
  const RegisterState state = take_owned(reg, "a result");
  if (!state.value.within(facts_.result))
    fail(ErrorCode::CorruptFile, "r{} holds {}, the function returns {}", reg, to_text(state.value),
         to_text(facts_.result));
  if (const uint32_t other = registers_.counted().next(0); other != RegisterSet::kEnd)
    fail(ErrorCode::CorruptFile, "r{} holds a value that was not released", other);
  reachable_ = false;
}

void FunctionVerifier::call_packed(const Instruction& i) {
  const Import& import = program_.imports[i[1].index()];
  const auto args = i[2].list;
  for (const Register reg : args) {
    use(reg);
    seen_by_others(reg);
  }
  if (import.writes.size() > args.size())
    fail(ErrorCode::CorruptFile, "'{}' writes {} arguments, there are {}", import.name, import.writes.size(),
         args.size());
  for (const uint32_t index : import.writes) {
    if (index >= args.size())
      fail(ErrorCode::CorruptFile, "'{}' writes argument {}, there are {}", import.name, index, args.size());
    const RegisterState& state = registers_[args[index]];
    if (!state.value.is(Kind::Tensor) || !state.has(Flags::Counted) || state.has(Flags::Borrowed))
      fail(ErrorCode::CorruptFile, "r{}, which '{}' writes, is no tensor of this function's own", args[index],
           import.name);
  }
  define(i[0].reg(), counted_state({}));
}

// Scalars of PrimFuncs stand behind the input buffers; a Prim serves as well as a Scalar.
void FunctionVerifier::check_prim_func_operand(const KernelCall& call, size_t operand, ValueClass value) const {
  const tir::PrimFunc& func = *call.prim_func;
  const size_t inputs = func.params - func.outputs;
  const size_t scalars = func.scalars.size();
  if (operand >= inputs && operand < inputs + scalars) {
    const DType dtype = func.scalars[operand - inputs].var->dtype;
    if (!value.is(Kind::Scalar, dtype) && !value.is(Kind::Prim, dtype))
      fail(ErrorCode::CorruptFile, "operand {} is {}, PrimFunc '{}' takes a scalar {}", operand, to_text(value),
           func.name, dtype_name(dtype));
    return;
  }
  const tir::Buffer& buffer = func.buffers[operand < inputs ? operand : operand - scalars];
  const Kind kind = buffer.dims.empty() ? Kind::Scalar : Kind::Tensor;
  if (!value.is(kind, buffer.dtype))
    fail(ErrorCode::CorruptFile, "operand {} is {}, PrimFunc '{}' takes {}", operand, to_text(value), func.name,
         to_text(ValueClass::of(kind, buffer.dtype)));
}

// Gives the operand's class: a tensor or scalar of known dtype.
ValueClass FunctionVerifier::kernel_operand(const KernelCall& call, Register reg, size_t operand) {
  const ValueClass value = use(reg).value;
  if (call.contract == Contract::prim_func) {
    check_prim_func_operand(call, operand, value);
    return value;
  }
  const bool has_elements = value.is(Kind::Tensor) || value.is(Kind::Scalar);
  if (!has_elements || value.dtype == DType::None || value.dtype == DType::String)
    fail(ErrorCode::CorruptFile, "r{} holds {}, a kernel takes tensors or scalars of known dtype", reg, to_text(value));
  return value;
}

void FunctionVerifier::call_kernel(const Instruction& i) {
  const KernelCall& call = program_.kernels[i[0].index()];
  const auto operands = i[1].list;
  if (operands.size() != size_t{call.inputs} + call.outputs)
    fail(ErrorCode::CorruptFile, "the kernel takes {} inputs and {} outputs, not {} operands", call.inputs,
         call.outputs, operands.size());
  spend(operands.size() * call.outputs);
  KernelSite site{i.at, i[0].index(), {}, {}};
  site.classes.reserve(operands.size());
  site.operands.reserve(operands.size());
  for (size_t k = 0; k < operands.size(); ++k) {
    const Register reg = operands[k];
    site.classes.push_back(kernel_operand(call, reg, k));
    site.operands.push_back(registers_[reg].origin);
    if (k < call.inputs) continue;
    const RegisterState& output = registers_[reg];
    if (!output.value.is(Kind::Scalar) && !output.has(Flags::Writable))
      fail(ErrorCode::CorruptFile, "r{} is written by the kernel, but others may see it", reg);
    for (size_t other = 0; other < k; ++other) {
      const RegisterState& before = registers_[operands[other]];
      const bool overlaps = operands[other] == reg || (before.range != kNoSite && output.range != kNoSite &&
                                                       ranges_.same(before.range, output.range));
      if (overlaps)
        fail(ErrorCode::CorruptFile, "r{} and r{} overlap, but the kernel writes r{}", operands[other], reg, reg);
    }
  }
  facts_.kernels.push_back(std::move(site));
}

}  // namespace ingot::vm
