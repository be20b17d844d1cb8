#include <algorithm>
#include <bit>

#include "compiler/codegen/function_emitter.h"
#include "compiler/ir/op.h"
#include "compiler/ir/prim_value.h"
#include "runtime/base/error.h"

namespace ingot::codegen {

using namespace ir;
using vm::Opcode;
using vm::Register;

bool is_plain(const StructInfo& info) {
  if (info == nullptr) return false;
  if (info->kind == InfoKind::Prim) return true;
  return info->kind == InfoKind::Tensor && info->rank == 0u && info->dtype != DType::None &&
         info->dtype != DType::String;
}

const Place& FunctionEmitter::place_of(const Var* var) const {
  const auto found = places_.find(var);
  if (found == places_.end())
    fail(ErrorCode::Internal, "code generation: %{} is used where it has no register", var->name);
  return found->second;
}

void FunctionEmitter::load_tensor_constant(const Constant& constant, Register dest) {
  code_.emit(Opcode::LoadConst, dest, tables_->constant(constant));
}

Place FunctionEmitter::produce(const Expr& e, const Var* bound, std::optional<Register> dest) {
  switch (e->kind) {
    case ExprKind::Var: {
      const auto* var = as<Var>(e);
      const Place place = place_of(var);
      if (place.hold == Hold::Arena) {
        const Register reg = target(dest);
        code_.emit(Opcode::Alias, reg, place.reg);
        return {reg, Hold::Arena};
      }
      if (place.hold == Hold::Constant) {
        const Register reg = target(dest);
        code_.emit(Opcode::Copy, reg, place.reg);
        return {reg, Hold::Constant};
      }
      const Hold hold = place.hold == Hold::Plain ? Hold::Plain : Hold::Counted;
      return {own(e, dest), hold};
    }
    case ExprKind::Constant: {
      const auto& constant = *as<Constant>(e);
      const Register reg = target_for(bound, dest);
      load_tensor_constant(constant, reg);
      return {reg, constant.data->rank == 0 && constant.data->dtype != DType::String ? Hold::Plain : Hold::Constant};
    }
    case ExprKind::Tuple: {
      const auto& fields = as<Tuple>(e)->fields;
      const Register result = emit_taking(fields, dest, [&](Register to, const std::vector<Register>& regs) {
        code_.emit(Opcode::MakeTuple, to, regs);
      });
      return {result, Hold::Counted};
    }
    case ExprKind::Shape: {
      const auto regs = dims(as<Shape>(e)->dims);
      const Register reg = target(dest);
      code_.emit(Opcode::MakeShape, reg, regs);
      return {reg, Hold::Counted};
    }
    case ExprKind::PrimValue: {
      const auto& value = as<PrimValue>(e)->value;
      const Register reg = target(dest);
      if (const auto* expr = std::get_if<PrimExpr>(&value)) {
        eval_dim(*expr, reg);
        if (is_condition(*expr)) {
          code_.emit(Opcode::PrimToScalar, reg, reg);
          code_.emit(Opcode::Cast, reg, reg, DType::Bool);
          code_.emit(Opcode::ScalarToPrim, reg, reg);
        }
      } else if (const auto* number = std::get_if<double>(&value)) {
        code_.emit(Opcode::LoadConst, reg,
                   tables_->scalar(Kind::Prim, DType::Float64, std::bit_cast<uint64_t>(*number)));
      } else {
        code_.emit(Opcode::LoadConst, reg, tables_->scalar(Kind::Prim, DType::Bool, std::get<bool>(value) ? 1 : 0));
      }
      return {reg, Hold::Plain};
    }
    case ExprKind::String: {
      const Register reg = target(dest);
      code_.emit(Opcode::LoadConst, reg, tables_->string(as<String>(e)->value));
      return {reg, Hold::Constant};
    }
    case ExprKind::DataType: {
      const Register reg = target(dest);
      code_.emit(Opcode::LoadConst, reg,
                 tables_->scalar(Kind::DType, DType::None, static_cast<uint64_t>(as<DataType>(e)->value)));
      return {reg, Hold::Plain};
    }
    case ExprKind::NullValue: {
      const Register reg = target(dest);
      code_.emit(Opcode::LoadNone, reg);
      return {reg, Hold::Plain};
    }
    case ExprKind::GlobalVar: {
      const auto& name = as<GlobalVar>(e)->name;
      if (tables_->prim_func(name) != nullptr)
        fail(ErrorCode::Unsupported, "@{} is a PrimFunc used as a value; call it through call_tir", name);
      const Register reg = target(dest);
      code_.emit(Opcode::MakeClosure, reg, tables_->function(name), std::vector<Register>{});
      return {reg, Hold::Counted};
    }
    case ExprKind::ExternFunc: {
      const auto& callee = *as<ExternFunc>(e);
      const Register reg = target(dest);
      code_.emit(Opcode::LoadImport, reg, tables_->import(callee.name, callee.writes));
      return {reg, Hold::Counted};
    }
    case ExprKind::TupleGetItem: {
      const auto& item = *as<TupleGetItem>(e);
      const Register tuple = read(item.tuple);
      const Register reg = target_for(bound, dest);
      if (is_plain(e->info) && e->info->kind == InfoKind::Tensor) {
        code_.emit(Opcode::GetScalar, reg, tuple, item.index, e->info->dtype);
        return {reg, Hold::Plain};
      }
      code_.emit(Opcode::GetField, reg, tuple, item.index);
      return settle({reg, Hold::Counted}, e->info);
    }
    case ExprKind::If: {
      const Register reg = target(dest);
      branch(*as<If>(e), reg, false);
      return {reg, is_plain(e->info) ? Hold::Plain : Hold::Counted};
    }
    case ExprKind::Call:
      return call(*as<Call>(e), bound, dest);
    case ExprKind::Seq:
    case ExprKind::Function:
    case ExprKind::Op:
      break;
  }
  fail(ErrorCode::Internal, "code generation: a nested function or sequence is left in a lowered module");
}

// The result of an instruction that takes these values.
Register FunctionEmitter::emit_taking(std::span<const Expr> values, std::optional<Register> dest,
                                      const std::function<void(Register, const std::vector<Register>&)>& emit) {
  std::vector<Register> regs;
  for (const auto& value : values) regs.push_back(own(value));
  for (const Register reg : regs) registers_.release(reg);
  const Register result = target(dest);
  if (std::find(regs.begin(), regs.end(), result) == regs.end()) {
    emit(result, regs);
    return result;
  }
  // An instruction does not write what it takes: the result goes above, then moves down.
  const auto above =
      static_cast<Register>(std::max<size_t>(registers_.top(), 1u + *std::max_element(regs.begin(), regs.end())));
  registers_.reserve(size_t{above} + 1);
  emit(above, regs);
  code_.emit(Opcode::Move, result, above);
  return result;
}

// A register that holds the leaf while one instruction reads it.
Register FunctionEmitter::read(const Expr& leaf) {
  if (const auto* var = as<Var>(leaf)) return place_of(var).reg;
  const Place place = produce(leaf, nullptr);
  temporaries_.push_back(place);
  return place.reg;
}

// The same for instructions that do not read from arenas, where a parameter may lie as well: it is owned for the while.
Register FunctionEmitter::read_outside_arena(const Expr& leaf) {
  const auto* var = as<Var>(leaf);
  const Place place = var == nullptr ? Place{} : place_of(var);
  if (place.hold != Hold::Param && place.hold != Hold::Arena) return read(leaf);
  const Register alias = registers_.take();
  code_.emit(Opcode::Alias, alias, place.reg);
  code_.emit(Opcode::Own, alias, alias);
  temporaries_.push_back({alias, Hold::Counted});
  return alias;
}

// A register whose value an instruction may take: counted by this frame, or without a count. It is free for others once
// that instruction is emitted.
Register FunctionEmitter::own(const Expr& leaf, std::optional<Register> dest) {
  const auto* var = as<Var>(leaf);
  if (var == nullptr) return produce(leaf, nullptr, dest).reg;
  const Place place = place_of(var);
  const bool move = moves(var);
  if (move) {
    places_.erase(var);
    registers_.release(place.reg);
    if (place.hold == Hold::Plain || place.hold == Hold::Counted) {
      if (dest) {
        code_.emit(Opcode::Move, *dest, place.reg);
        return *dest;
      }
      registers_.claim(place.reg);
      return place.reg;
    }
    if (place.hold == Hold::Param) {
      registers_.claim(place.reg);
      const Register reg = target(dest);
      code_.emit(Opcode::Own, reg, place.reg);
      registers_.release(place.reg);
      return reg;
    }
    registers_.claim(place.reg);
  }
  const Register reg = target(dest);
  if (place.hold == Hold::Param || place.hold == Hold::Arena) {
    const Register alias = registers_.take();
    code_.emit(Opcode::Alias, alias, place.reg);
    code_.emit(Opcode::Own, reg, alias);
    registers_.release(alias);
  } else {
    code_.emit(Opcode::Copy, reg, place.reg);
  }
  if (move) registers_.release(place.reg);
  return reg;
}

// Puts an argument of a call into its slot, which is claimed: moved at its last use, else an alias of what this frame
// keeps during the call.
void FunctionEmitter::pass(const Expr& leaf, Register slot) {
  const auto* var = as<Var>(leaf);
  if (var == nullptr) {
    produce(leaf, nullptr, slot);
    return;
  }
  const Place place = place_of(var);
  const bool releases = place.hold == Hold::Counted || place.hold == Hold::Param;
  if (!dying_.contains(var) || !releases) {
    code_.emit(Opcode::Alias, slot, place.reg);
    return;
  }
  if (place.hold == Hold::Param && moves(var)) {
    code_.emit(Opcode::Move, slot, place.reg);
    places_.erase(var);
    registers_.release(place.reg);
    return;
  }
  if (place.hold == Hold::Param) {
    const Register alias = registers_.take();
    code_.emit(Opcode::Alias, alias, place.reg);
    code_.emit(Opcode::Own, slot, alias);
    registers_.release(alias);
    return;
  }
  own(leaf, slot);
}

namespace {

// What a function takes and gives, apart from dimensions, whose variables may be of another frame.
StructInfo without_dims(const StructInfo& info) {
  StructInfoNode node = *info;
  node.dims.reset();
  node.shape_var.reset();
  node.value.reset();
  for (StructInfo& field : node.fields) field = without_dims(field);
  if (node.result != nullptr) node.result = without_dims(node.result);
  return std::make_shared<const StructInfoNode>(std::move(node));
}

}  // namespace

// Makes the verifier know what inference knows, so that the instructions to come may rely on it.
Place FunctionEmitter::settle(Place place, const StructInfo& info) {
  if (info == nullptr) return place;
  switch (info->kind) {
    case InfoKind::Object:
      return place;
    case InfoKind::Func:
      check_value(place.reg, without_dims(info), false);
      break;
    case InfoKind::Tensor:
      check_value(place.reg,
                  !info->rank         ? tensor_info(info->dtype)
                  : *info->rank == 0u ? tensor_info(info->dtype, std::vector<PrimExpr>{})
                                      : tensor_info(info->dtype, *info->rank),
                  false);
      break;
    case InfoKind::Shape:
      check_value(place.reg, info->rank ? shape_info(*info->rank) : shape_info(), false);
      break;
    case InfoKind::Prim:
      check_value(place.reg, prim_info(info->dtype), false);
      break;
    case InfoKind::Tuple:
      check_value(place.reg, tuple_info(std::vector<StructInfo>(info->fields.size(), object_info())), false);
      break;
  }
  if (is_plain(info)) place.hold = Hold::Plain;
  return place;
}

// Counts how often each variable occurs in the leaves of one value, so that only its last occurrence moves it.
void FunctionEmitter::begin_uses(const Expr& value) {
  uses_left_.clear();
  const auto count = [&](const auto& self, const Expr& e) -> void {
    if (const auto* var = as<Var>(e)) ++uses_left_[var];
    if (const auto* tuple = as<Tuple>(e))
      for (const auto& field : tuple->fields) self(self, field);
    if (const auto* item = as<TupleGetItem>(e)) self(self, item->tuple);
    if (const auto* branch = as<If>(e)) self(self, branch->condition);
    if (const auto* call = as<Call>(e)) {
      self(self, call->callee);
      for (const auto& arg : call->args) self(self, arg);
    }
  };
  count(count, value);
}

bool FunctionEmitter::moves(const Var* var) {
  auto& left = uses_left_[var];
  if (left > 0) --left;
  return left == 0 && dying_.contains(var);
}

void FunctionEmitter::release_temporaries() {
  for (const Place& place : temporaries_) drop(place);
  temporaries_.clear();
}

void FunctionEmitter::drop(Place place) {
  if (place.hold == Hold::Counted || place.hold == Hold::Param) code_.emit(Opcode::Kill, place.reg);
  registers_.release(place.reg);
}

void FunctionEmitter::kill(const Var* var) {
  const auto found = places_.find(var);
  const Place place = found->second;
  places_.erase(found);
  drop(place);
}

}  // namespace ingot::codegen
