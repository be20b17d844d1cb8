#include <algorithm>

#include "compiler/codegen/function_emitter.h"
#include "compiler/ir/op.h"
#include "runtime/base/error.h"
#include "vm/isa/builtins.h"

namespace ingot::codegen {

using namespace ir;
using vm::Opcode;
using vm::Register;

namespace {

// Results of calls move down where they would make the frame larger by more registers than this.
constexpr size_t kFarDown = 8;

// Does the verifier know the class of values of `info` from a callee that states `result`?
bool states_class(const StructInfo& result, const StructInfo& info) {
  if (result == nullptr || result->kind != info->kind) return false;
  if (info->kind == InfoKind::Tensor)
    return result->rank.value_or(0) > 0 && info->rank.value_or(0) > 0 && result->dtype == info->dtype;
  return info->kind == InfoKind::Tuple || info->kind == InfoKind::Func || info->kind == InfoKind::Shape;
}

}  // namespace

bool FunctionEmitter::states_foreign_result(const Call& e) {
  if (as<GlobalVar>(e.callee) != nullptr || e.info->kind == InfoKind::Object) return false;
  const StructInfo& callee = e.callee->info;
  return callee != nullptr && (callee->kind != InfoKind::Func || !callee->has_params);
}

Place FunctionEmitter::call(const Call& e, const Var* bound, std::optional<Register> dest) {
  if (const auto* op = as<OpExpr>(e.callee)) return call_operator(e, *op->op, bound, dest);
  if (const auto* callee = as<ExternFunc>(e.callee)) return call_packed(e, *callee, e.args, dest);
  return call_function(e, dest);
}

Place FunctionEmitter::call_operator(const Call& e, const Op& op, const Var* bound, std::optional<Register> dest) {
  if (op.name == "call_tir") return call_tir(e, bound, dest);
  if (op.name == "call_kernel") return call_kernel(*e.kernel, e.args, e.info_args, bound, dest);
  if (op.name == "view") return view(e, dest);
  if (op.name == "make_closure") {
    std::vector<Register> captures;
    for (size_t i = 1; i < e.args.size(); ++i) captures.push_back(own(e.args[i]));
    const Register reg = target(dest);
    code_.emit(Opcode::MakeClosure, reg, tables_->function(as<GlobalVar>(e.args[0])->name), captures);
    for (const Register capture : captures) registers_.release(capture);
    return {reg, Hold::Counted};
  }
  if (op.name == "call_builtin") {
    const auto& name = std::get<std::string>(e.attrs.at("name"));
    if (name == "sequence_insert" && e.args.size() == 2) {
      const Register reg = emit_taking(e.args, dest, [&](Register to, const std::vector<Register>& regs) {
        code_.emit(Opcode::Append, to, regs[0], regs[1]);
      });
      return settle({reg, Hold::Counted}, e.info);
    }
    const auto builtin = vm::find_builtin(name);
    if (!builtin) fail(ErrorCode::Internal, "code generation: there is no builtin {}", name);
    std::vector<Register> args;
    for (const auto& arg : e.args) args.push_back(read(arg));
    const Register reg = target(dest);
    code_.emit(Opcode::CallBuiltin, reg, static_cast<uint16_t>(*builtin), args);
    return settle({reg, Hold::Counted}, e.info);
  }
  if (op.name == "call_packed" || op.name == "call_pure_packed") {
    const auto* callee = as<ExternFunc>(e.args[0]);
    if (callee == nullptr) fail(ErrorCode::Unsupported, "{}: the callee must be an extern function", op.name);
    return call_packed(e, *callee, std::span(e.args).subspan(1), dest);
  }
  if (!op.scalar_instruction.empty()) return call_scalar(e, op, bound, dest);
  fail(ErrorCode::Internal, "code generation: operator {} was not legalized", op.name);
}

Place FunctionEmitter::call_scalar(const Call& e, const Op& op, const Var* bound, std::optional<Register> dest) {
  const ScalarCode code = select_scalar(e, op);
  std::vector<Register> args;
  for (const auto& operand : code.operands) args.push_back(read(operand));
  release_dying(code.operands);
  const Register reg = target_for(bound, dest);
  if (code.opcode == Opcode::Cast) {
    code_.emit(code.opcode, reg, args.at(0), e.info->dtype);
  } else if (code.immediate) {
    code_.emit(code.opcode, reg, args.at(0), *code.immediate);
  } else if (args.size() == 1) {
    code_.emit(code.opcode, reg, args[0]);
  } else if (args.size() == 2) {
    code_.emit(code.opcode, reg, args[0], args[1]);
  } else {
    code_.emit(code.opcode, reg, args.at(0), args.at(1), args.at(2));
  }
  return {reg, Hold::Plain};
}

// What a PackedFunc gives is checked against the StructInfo that the program claims for it.
Place FunctionEmitter::call_packed(const Call& e, const ExternFunc& callee, std::span<const Expr> args,
                                   std::optional<Register> dest) {
  std::vector<Register> regs;
  // What the callee writes is counted: this frame's own.
  for (size_t i = 0; i < args.size(); ++i) {
    const bool is_written = std::ranges::find(callee.writes, i) != callee.writes.end();
    regs.push_back(is_written ? read_outside_arena(args[i]) : read(args[i]));
  }
  const Register reg = target(dest);
  code_.emit(Opcode::CallPacked, reg, tables_->import(callee.name, callee.writes), regs);
  if (e.info->kind == InfoKind::Object) return {reg, Hold::Counted};
  check_value(reg, e.info, false);
  return {reg, is_plain(e.info) ? Hold::Plain : Hold::Counted};
}

Place FunctionEmitter::call_function(const Call& e, std::optional<Register> dest) {
  const auto* global = as<GlobalVar>(e.callee);
  if (global != nullptr && tables_->prim_func(global->name) != nullptr)
    fail(ErrorCode::Unsupported, "@{} is a PrimFunc: call it through call_tir", global->name);
  // A callee in a register is consumed by the call: it is made the frame's own first.
  const Register callee = global == nullptr ? own(e.callee) : Register{0};
  const Register base = open_window(e, false);
  for (size_t i = 0; i < e.args.size(); ++i) registers_.release(static_cast<Register>(base + i));
  StructInfo stated;
  if (global != nullptr) {
    code_.emit(Opcode::Call, base, tables_->function(global->name));
    const auto* definition = module_->find(global->name);
    stated = definition->function->info->result;
  } else {
    code_.emit(Opcode::CallValue, base, callee, static_cast<int64_t>(e.args.size()));
    registers_.release(callee);
  }
  registers_.claim(base);
  Place place{base, Hold::Counted};
  if (is_plain(stated) && is_plain(e.info)) {
    place.hold = Hold::Plain;
  } else if (states_foreign_result(e)) {
    check_value(place.reg, e.info, false);
    if (is_plain(e.info)) place.hold = Hold::Plain;
  } else if (!states_class(stated, e.info)) {
    place = settle(place, e.info);
  }
  // The result stays where it is, so that it can be the next call's argument, unless much room is free below.
  const Register low = dest ? *dest : registers_.take();
  if (dest || low + kFarDown < base) {
    code_.emit(Opcode::Move, low, base);
    registers_.release(base);
    place.reg = low;
  } else {
    registers_.release(low);
  }
  return place;
}

void FunctionEmitter::tail_call(const Call& e) {
  const auto* global = as<GlobalVar>(e.callee);
  if (global != nullptr && tables_->prim_func(global->name) != nullptr)
    fail(ErrorCode::Unsupported, "@{} is a PrimFunc: call it through call_tir", global->name);
  const Register callee = global == nullptr ? own(e.callee) : Register{0};
  const Register base = open_window(e, true);
  for (const Var* var : std::unordered_set<const Var*>(dying_))
    if (places_.contains(var)) kill(var);
  if (global != nullptr) {
    code_.emit(Opcode::TailCall, base, tables_->function(global->name));
  } else {
    code_.emit(Opcode::TailCallValue, base, callee, static_cast<int64_t>(e.args.size()));
  }
}

}  // namespace ingot::codegen
