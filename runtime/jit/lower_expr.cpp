#include <algorithm>

#include "runtime/base/checked.h"
#include "runtime/jit/lowering.h"

namespace ingot::jit {

using tir::ExprOp;
using tir::NestExpr;
using tir::Place;

Value Lowering::expression(const NestExpr& expr, Value mask) {
  switch (expr.op) {
    case ExprOp::Const:
      return arithmetic_.constant(expr.dtype, expr.bits);
    case ExprOp::Index:
      return lane_index(expr.index);
    case ExprOp::Let: {
      const auto found = lets_.find(expr.let.get());
      if (found == lets_.end()) return scalar_param(*expr.let);
      const Value value = found->second[found->second.size() == 1 ? 0 : unit_];
      const ValueInfo& info = function_.values[value];
      if (info.constant || info.lanes == b_.lanes()) return value;
      return b_.op(Op::Splat, info.width, value);
    }
    case ExprOp::Load:
      return load(expr, mask);
    case ExprOp::Select:
      return choose(expr, mask);
    case ExprOp::Cast:
      return arithmetic_.cast(expr.operands[0]->dtype, expr.dtype, expression(*expr.operands[0], mask));
    default:
      break;
  }
  const Value a = expression(*expr.operands[0], mask);
  const DType dtype = expr.operands[0]->dtype;
  if (expr.operands.size() == 1) return arithmetic_.unary(expr.op, dtype, a);
  const Value b = expression(*expr.operands[1], mask);
  return arithmetic_.binary(expr.op, dtype, a, b, lane_var_ ? mask : 0);
}

Value Lowering::scalar_param(const tir::LetVar& var) {
  for (size_t i = 0; i < nest_.scalars.size(); ++i) {
    if (nest_.scalars[i].var.get() != &var) continue;
    return b_.pure(
        {.op = Op::LoadScalar, .width = width_of(var.dtype), .dtype = var.dtype, .ref = static_cast<uint32_t>(i)});
  }
  throw Refusal{};
}

Value Lowering::choose(const NestExpr& expr, Value mask) {
  const NestExpr& if_true = *expr.operands[1];
  const NestExpr& if_false = *expr.operands[2];
  const Value condition = expression(*expr.operands[0], mask);
  if (totality_.is_safe(if_true) && totality_.is_safe(if_false))
    return arithmetic_.select(expr.dtype, condition, expression(if_true, mask), expression(if_false, mask));
  if (lane_var_) {
    const Value a = expression(if_true, both(mask, condition));
    const Value negated = b_.op(Op::Xor, Width::W32, condition, b_.i32(-1));
    return arithmetic_.select(expr.dtype, condition, a, expression(if_false, both(mask, negated)));
  }
  const Width width = width_of(expr.dtype);
  const Value result = b_.mutable_value(width, b_.bits(width, 0));
  Branch& branch = b_.open_branch(condition);
  around_.push_back({{}, true});
  b_.assign(result, expression(if_true, 0));
  b_.open_else(branch);
  b_.assign(result, expression(if_false, 0));
  around_.pop_back();
  b_.close_branch(branch);
  return b_.current(result);
}

Value Lowering::load(const NestExpr& expr, Value mask) {
  const At at = locate(expr.place, mask);
  const tir::BufferId buffer = expr.place.buffer;
  Instr instr{.op = Op::Load, .width = width_of(expr.dtype), .dtype = expr.dtype};
  instr.ref = at.position;
  instr.mask = lane_var_ && !at.total ? mask : 0;
  if (at.lanes != 0) {
    instr.op = Op::Gather;
    instr.a = at.lanes;
    return b_.fixed(instr, true);
  }
  return b_.load(instr, at.total ? least_level(buffer) : b_.level());
}

// Indices.

const tir::LinearParts& Lowering::linear(const PrimExpr& expr) {
  const auto found = linear_.find(expr.node());
  if (found != linear_.end()) return found->second;
  return linear_.emplace(expr.node(), tir::linear_parts(expr)).first->second;
}

bool Lowering::varies(const PrimExpr& expr) const {
  bool found = false;
  for_each_var(expr, [&](const SymVar& var) { found |= var == lane_var_ || lane_lets_.contains(var.get()); });
  return found;
}

Slot Lowering::slot_of(const SymVar& var) {
  const auto found = slots_.find(var.get());
  if (found != slots_.end()) return found->second;
  if (const auto dim = std::ranges::find(nest_.vars, var); dim != nest_.vars.end()) {
    const Slot slot = b_.new_slot(0);
    b_.in_front({.op = Op::DimSlot, .ref = slot, .index = static_cast<uint32_t>(dim - nest_.vars.begin())}, 0);
    return slots_[var.get()] = slot;
  }
  for (const tir::Scalar& scalar : nest_.scalars) {
    if (scalar.var->index != var) continue;
    const Slot slot = b_.new_slot(b_.level());
    b_.fixed({.op = Op::SetSlot, .width = Width::W64, .a = scalar_param(*scalar.var), .ref = slot}, false);
    return slot;
  }
  throw Refusal{};
}

// What cannot fault is evaluated once, in front of the loops that do not change it.
Slot Lowering::eval_slot(const PrimExpr& expr) {
  if (expr.op() == PrimOp::Var) return slot_of(expr.var());
  IndexExpr made{expr, {}};
  uint16_t level = 0;
  for_each_var(expr, [&](const SymVar& var) {
    made.slots.emplace_back(var.get(), slot_of(var));
    level = std::max(level, b_.slot_level(made.slots.back().second));
  });
  const bool total = totality_.is_total(expr);
  if (is_shaped() && !total) throw Refusal{};
  if (!total) level = b_.level();
  for (const Evaluated& known : evaluated_)
    if (total && known.slots == made.slots && same_expr(known.expr, expr)) return known.result;
  const Slot slot = b_.new_slot(level);
  if (total) evaluated_.push_back({expr, made.slots, slot});
  b_.in_front({.op = Op::EvalSlot, .ref = slot, .index = static_cast<uint32_t>(function_.exprs.size())}, level);
  function_.exprs.push_back(std::move(made));
  return slot;
}

Position Lowering::linear_position(tir::BufferId buffer, const tir::LinearParts& parts) {
  Position position{buffer, parts.base};
  for (const auto& part : parts.parts) {
    position.parts.push_back({slot_of(part.var), part.coefficient});
    if (part.var == lane_var_) position.lane_stride = part.coefficient;
  }
  if (parts.rest) {
    // Steps of the innermost loops are numbers in the code.
    if (is_shaped() && tir::mentions_any(parts.rest, {inner_var_.get()})) throw Refusal{};
    position.parts.push_back({eval_slot(parts.rest), 1});
  }
  const auto shift = checked_mul(position.lane_stride, int64_t{unit_} * b_.lanes());
  const auto base = shift ? checked_add(position.base, *shift) : std::nullopt;
  if (!base) throw Refusal{};
  position.base = *base;
  return position;
}

Lowering::At Lowering::locate(const Place& place, Value mask) {
  if (!place.proved) return checked(place, mask);
  const PrimExpr& index = place.indices[0];
  const tir::LinearParts& parts = linear(index);
  At at;
  at.total = totality_.is_total(place);
  bool linear_lanes = !parts.rest || !varies(parts.rest);
  for (const auto& part : parts.parts) linear_lanes &= !lane_lets_.contains(part.var.get());
  if (linear_lanes) {
    if (parts.rest && mask != 0 && !totality_.is_total(parts.rest)) throw Refusal{};
    at.position = b_.position(linear_position(place.buffer, parts));
  } else {
    if (is_shaped() && parts.rest && varies(parts.rest)) throw Refusal{};
    at.position = b_.position({place.buffer});
    at.lanes = lane_index(index);
  }
  return at;
}

// Each index is held against its dimension, unless its range says enough.
Lowering::At Lowering::checked(const Place& place, Value mask) {
  const tir::NestBuffer& buffer = nest_.buffers[place.buffer];
  std::vector<PrimExpr> dims = buffer.shape;
  if (dims.empty()) dims.assign(buffer.dims.begin(), buffer.dims.end());
  if (place.indices.size() != dims.size()) throw Refusal{};
  Position position{place.buffer};
  Value lanes = 0;
  PrimExpr distance = 1;
  for (size_t d = dims.size(); d-- > 0; distance = distance * max(dims[d], 1)) {
    const PrimExpr& index = place.indices[d];
    const auto stride = distance.as_const(), dim = dims[d].as_const();
    const Range range = range_of(index, facts_);
    const bool below = dim ? range.greatest < *dim : prove_less(index, dims[d], facts_) == Proof::Yes;
    const bool inside = range.least >= 0 && below;
    const tir::LinearParts& parts = linear(index);
    bool linear_lanes = !parts.rest;
    for (const auto& part : parts.parts) linear_lanes &= !lane_lets_.contains(part.var.get());
    if (inside && linear_lanes && stride) {
      const Position part = linear_position(place.buffer, parts);
      position.base += part.base * *stride;
      position.lane_stride += part.lane_stride * *stride;
      for (const auto& each : part.parts) position.parts.push_back({each.slot, each.coefficient * *stride});
      continue;
    }
    if (!varies(index)) {
      if (mask != 0 && (!totality_.is_total(index) || !stride)) throw Refusal{};
      const Slot slot = eval_slot(index);
      Instr check{.op = Op::CheckSlot, .mask = lane_var_ ? mask : 0, .ref = slot};
      check.imm = dim ? 0 : 1;
      check.index = dim ? static_cast<uint32_t>(function_.bounds.size()) : eval_slot(dims[d]);
      if (dim) function_.bounds.push_back(*dim);
      if (!inside) b_.fixed(check, false);
      position.parts.push_back(stride ? Position::Part{slot, *stride} : Position::Part{scaled_slot(slot, distance), 1});
      continue;
    }
    const Value at = lane_index(index);
    if (!inside) {
      const Value bound = dim ? b_.i64(*dim) : lane_index(dims[d]);
      const Value outside = b_.op(Op::CmpU, Width::W64, bound, at, 0, static_cast<uint8_t>(Compare::LessEqual));
      b_.fixed({.op = Op::FaultIf, .imm = static_cast<uint8_t>(Fault::IndexOutOfRange), .a = both(outside, mask)},
               false);
    }
    const Value step = stride ? b_.i64(*stride) : lane_index(distance);
    const Value scaled = stride == 1 ? at : arithmetic_.binary(ExprOp::Mul, DType::Int64, at, step, 0);
    lanes = lanes == 0 ? scaled : b_.op(Op::IAdd, Width::W64, lanes, scaled);
  }
  At at;
  if (lanes == 0) {
    at.position = b_.position(std::move(position));
    return at;
  }
  at.position = b_.position({place.buffer});
  const uint32_t rest = b_.position(std::move(position));
  at.lanes = b_.op(Op::IAdd, Width::W64, lanes, b_.fixed({.op = Op::Lanes, .width = Width::W64, .ref = rest}, true));
  return at;
}

// The product, here: of a slot that has been checked.
Slot Lowering::scaled_slot(Slot slot, const PrimExpr& by) {
  const SymVar a = make_sym_var("index"), b = make_sym_var("distance");
  const Slot factor = eval_slot(by), result = b_.new_slot(b_.level());
  b_.fixed({.op = Op::EvalSlot, .ref = result, .index = static_cast<uint32_t>(function_.exprs.size())}, false);
  function_.exprs.push_back({PrimExpr(a) * PrimExpr(b), {{a.get(), slot}, {b.get(), factor}}});
  return result;
}

// An index expression in each lane, as int64.
Value Lowering::lane_index(const PrimExpr& expr) {
  const tir::LinearParts& parts = linear(expr);
  bool linear_lanes = !parts.rest || (!varies(parts.rest) && totality_.is_total(parts.rest));
  for (const auto& part : parts.parts) linear_lanes &= !lane_lets_.contains(part.var.get());
  if (linear_lanes && (totality_.fits(expr) || (parts.parts.empty() && !parts.rest) || expr.op() == PrimOp::Var)) {
    const uint32_t position = b_.position(linear_position(0, parts));
    uint16_t level = 0;
    for (const auto& part : function_.positions[position].parts) level = std::max(level, b_.slot_level(part.slot));
    return b_.pure({.op = Op::Lanes, .width = Width::W64, .ref = position}, level);
  }
  if (!varies(expr)) {
    const Slot slot = eval_slot(expr);
    const uint32_t position = b_.position({0, 0, 0, {{slot, 1}}});
    return b_.pure({.op = Op::Lanes, .width = Width::W64, .ref = position}, b_.level());
  }
  const auto operand = [&](size_t i) { return lane_index(expr.operands()[i]); };
  const auto number = [&](Value condition) { return arithmetic_.cast(DType::Bool, DType::Int64, condition); };
  const auto compare = [&](ExprOp op) {
    return number(arithmetic_.binary(op, DType::Int64, operand(0), operand(1), 0));
  };
  const auto truth = [&](size_t i) { return arithmetic_.cast(DType::Int64, DType::Bool, operand(i)); };
  for (const PrimExpr& part : expr.operands())
    if (expr.op() >= PrimOp::And && !totality_.is_total(part)) throw Refusal{};
  switch (expr.op()) {
    case PrimOp::Var:
      return lane_lets_.at(expr.var().get())[unit_];
    case PrimOp::Add:
    case PrimOp::Sub:
    case PrimOp::Mul:
    case PrimOp::FloorDiv:
    case PrimOp::FloorMod: {
      if (!totality_.is_total(expr)) throw Refusal{};
      const ExprOp op = expr.op() == PrimOp::Add        ? ExprOp::Add
                        : expr.op() == PrimOp::Sub      ? ExprOp::Sub
                        : expr.op() == PrimOp::Mul      ? ExprOp::Mul
                        : expr.op() == PrimOp::FloorDiv ? ExprOp::FloorDiv
                                                        : ExprOp::FloorMod;
      return arithmetic_.binary(op, DType::Int64, operand(0), operand(1), 0);
    }
    case PrimOp::Min:
    case PrimOp::Max:
      return arithmetic_.binary(expr.op() == PrimOp::Min ? ExprOp::Min : ExprOp::Max, DType::Int64, operand(0),
                                operand(1), 0);
    case PrimOp::Equal:
      return compare(ExprOp::Equal);
    case PrimOp::NotEqual:
      return compare(ExprOp::NotEqual);
    case PrimOp::Less:
      return compare(ExprOp::Less);
    case PrimOp::LessEqual:
      return compare(ExprOp::LessEqual);
    case PrimOp::And:
      return number(arithmetic_.binary(ExprOp::And, DType::Bool, truth(0), truth(1), 0));
    case PrimOp::Or:
      return number(arithmetic_.binary(ExprOp::Or, DType::Bool, truth(0), truth(1), 0));
    case PrimOp::Not:
      return number(arithmetic_.unary(ExprOp::Not, DType::Bool, truth(0)));
    case PrimOp::Select:
      return arithmetic_.select(DType::Int64, truth(0), operand(1), operand(2));
    default:
      throw Refusal{};
  }
}

}  // namespace ingot::jit
