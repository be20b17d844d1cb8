#include "compiler/codegen/function_emitter.h"
#include "compiler/ir/op.h"
#include "runtime/base/error.h"
#include "vm/isa/builtins.h"

namespace ingot::codegen {

using namespace ir;
using vm::Opcode;
using vm::Register;

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
  if (!op.scalar_instruction.empty()) return call_scalar(e, op, dest);
  fail(ErrorCode::Internal, "code generation: operator {} was not legalized", op.name);
}

// `>less` computes with exchanged operands; a family without a dtype suffix is one instruction for all.
Place FunctionEmitter::call_scalar(const Call& e, const Op& op, std::optional<Register> dest) {
  std::string_view family = op.scalar_instruction;
  std::vector<Register> args;
  for (const auto& arg : e.args) args.push_back(read(arg));
  if (family.starts_with('>')) {
    family.remove_prefix(1);
    std::swap(args.at(0), args.at(1));
  }
  auto opcode = vm::find_opcode(family);
  if (!opcode) opcode = vm::find_opcode(fmt::format("{}.{}", family, dtype_info(e.args[0]->info->dtype).brief));
  if (!opcode)
    fail(ErrorCode::Internal, "code generation: no instruction {} for {}", family, dtype_name(e.args[0]->info->dtype));
  const Register reg = target(dest);
  if (*opcode == Opcode::Cast) {
    code_.emit(*opcode, reg, args.at(0), e.info->dtype);
  } else if (args.size() == 1) {
    code_.emit(*opcode, reg, args[0]);
  } else if (args.size() == 2) {
    code_.emit(*opcode, reg, args[0], args[1]);
  } else {
    code_.emit(*opcode, reg, args.at(0), args.at(1), args.at(2));
  }
  return {reg, Hold::Plain};
}

// What a PackedFunc gives is checked against the StructInfo that the program claims for it.
Place FunctionEmitter::call_packed(const Call& e, const ExternFunc& callee, std::span<const Expr> args,
                                   std::optional<Register> dest) {
  std::vector<Register> regs;
  for (const auto& arg : args) regs.push_back(read_outside_arena(arg));
  const Register reg = target(dest);
  code_.emit(Opcode::CallPacked, reg, tables_->import(callee.name, callee.writes), regs);
  if (e.info->kind == InfoKind::Object) return {reg, Hold::Counted};
  check_value(reg, e.info, false);
  return {reg, is_plain(e.info) ? Hold::Plain : Hold::Counted};
}

// Puts the arguments above everything that is alive and gives the first register of the window.
Register FunctionEmitter::window(const Call& e) {
  const Register base = registers_.top();
  registers_.reserve(size_t{base} + std::max<size_t>(1, e.args.size()));
  for (size_t i = 0; i < e.args.size(); ++i) registers_.claim(static_cast<Register>(base + i));
  for (size_t i = 0; i < e.args.size(); ++i) pass(e.args[i], static_cast<Register>(base + i));
  return base;
}

Place FunctionEmitter::call_function(const Call& e, std::optional<Register> dest) {
  const auto* global = as<GlobalVar>(e.callee);
  if (global != nullptr && tables_->prim_func(global->name) != nullptr)
    fail(ErrorCode::Unsupported, "@{} is a PrimFunc: call it through call_tir", global->name);
  // A callee in a register is consumed by the call: it is made the frame's own first.
  const Register callee = global == nullptr ? own(e.callee) : Register{0};
  const Register base = window(e);
  for (size_t i = 0; i < e.args.size(); ++i) registers_.release(static_cast<Register>(base + i));
  bool known_plain = false;
  if (global != nullptr) {
    code_.emit(Opcode::Call, base, tables_->function(global->name));
    const auto* definition = module_->find(global->name);
    known_plain = is_plain(definition->function->info->result);
  } else {
    code_.emit(Opcode::CallValue, base, callee, static_cast<int64_t>(e.args.size()));
    registers_.release(callee);
  }
  registers_.claim(base);
  Place place{base, Hold::Counted};
  if (known_plain && is_plain(e.info)) {
    place.hold = Hold::Plain;
  } else {
    place = settle(place, e.info);
  }
  // Below the window registers may have become free: the result moves down, so that frames stay small.
  const Register low = dest ? *dest : registers_.take();
  if (low < base || dest) {
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
  const Register base = registers_.top();
  registers_.reserve(size_t{base} + std::max<size_t>(1, e.args.size()));
  for (size_t i = 0; i < e.args.size(); ++i) registers_.claim(static_cast<Register>(base + i));
  for (size_t i = 0; i < e.args.size(); ++i) {
    const auto slot = static_cast<Register>(base + i);
    const auto* var = as<Var>(e.args[i]);
    // A parameter moves on with its flag: what it may be an alias of outlives this frame.
    if (var != nullptr && place_of(var).hold == Hold::Param && uses_left_[var] == 1) {
      code_.emit(Opcode::Move, slot, place_of(var).reg);
      places_.erase(var);
    } else {
      own(e.args[i], slot);
    }
  }
  for (const Var* var : std::unordered_set<const Var*>(dying_))
    if (places_.contains(var)) kill(var);
  if (global != nullptr) {
    code_.emit(Opcode::TailCall, base, tables_->function(global->name));
  } else {
    code_.emit(Opcode::TailCallValue, base, callee, static_cast<int64_t>(e.args.size()));
  }
}

}  // namespace ingot::codegen
