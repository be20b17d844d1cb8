#include <algorithm>

#include "runtime/jit/emitter.h"

namespace ingot::jit {

using namespace Xbyak;

// The value of an index expression in rax; operands that wait lie in area 3. What does not fit an int64 faults.
void Emitter::index_expr(const PrimExpr& expr, const IndexExpr& whole, uint32_t depth) {
  if (expr.op() == PrimOp::Const) {
    mov(rax, expr.value());
    return;
  }
  if (expr.op() == PrimOp::Var) {
    const auto found = std::ranges::find(whole.slots, expr.var().get(), &std::pair<const SymVarNode*, Slot>::first);
    return load_slot(rax, found->second);
  }
  if (depth == 8) throw Refusal{};
  Label end, otherwise;
  const auto waiting = qword[rsp + area_offset(3) + depth * 8];
  const auto truth = [&] {
    test(rax, rax);
    setne(al);
    movzx(eax, al);
  };
  index_expr(expr.operands()[0], whole, depth);
  if (expr.op() == PrimOp::Not) {
    test(rax, rax);
    sete(al);
    movzx(eax, al);
    return;
  }
  if (expr.op() == PrimOp::And || expr.op() == PrimOp::Or) {
    truth();
    expr.op() == PrimOp::And ? jz(end, T_NEAR) : jnz(end, T_NEAR);
    index_expr(expr.operands()[1], whole, depth);
    truth();
    L(end);
    return;
  }
  if (expr.op() == PrimOp::Select) {
    test(rax, rax);
    jz(otherwise, T_NEAR);
    index_expr(expr.operands()[1], whole, depth);
    jmp(end, T_NEAR);
    L(otherwise);
    index_expr(expr.operands()[2], whole, depth);
    L(end);
    return;
  }
  mov(waiting, rax);
  index_expr(expr.operands()[1], whole, depth + 1);
  mov(rcx, rax);
  mov(rax, waiting);
  switch (expr.op()) {
    case PrimOp::Add:
      add(rax, rcx);
      jo(fault_label(Fault::Overflow), T_NEAR);
      return;
    case PrimOp::Sub:
      sub(rax, rcx);
      jo(fault_label(Fault::Overflow), T_NEAR);
      return;
    case PrimOp::Mul:
      imul(rax, rcx);
      jo(fault_label(Fault::Overflow), T_NEAR);
      return;
    case PrimOp::FloorDiv:
    case PrimOp::FloorMod:
      return index_division(expr.op() == PrimOp::FloorDiv);
    case PrimOp::Min:
      cmp(rcx, rax);
      cmovl(rax, rcx);
      return;
    case PrimOp::Max:
      cmp(rcx, rax);
      cmovg(rax, rcx);
      return;
    default:
      break;
  }
  cmp(rax, rcx);
  switch (expr.op()) {
    case PrimOp::Equal:
      sete(al);
      break;
    case PrimOp::NotEqual:
      setne(al);
      break;
    case PrimOp::Less:
      setl(al);
      break;
    default:
      setle(al);
  }
  movzx(eax, al);
}

// rax by rcx, towards minus infinity.
void Emitter::index_division(bool quotient) {
  Label plain, end;
  test(rcx, rcx);
  jz(fault_label(Fault::DivisionByZero), T_NEAR);
  cmp(rcx, -1);
  jne(plain, T_NEAR);
  if (quotient) {
    neg(rax);
    jo(fault_label(Fault::Overflow), T_NEAR);
  } else {
    xor_(eax, eax);
  }
  jmp(end, T_NEAR);
  L(plain);
  cqo();
  idiv(rcx);
  // The remainder has the dividend's sign; where it is not the divisor's, one step down.
  Label exact;
  test(rdx, rdx);
  jz(exact, T_NEAR);
  push(rdx);
  xor_(rdx, rcx);
  pop(rdx);
  jns(exact, T_NEAR);
  dec(rax);
  add(rdx, rcx);
  L(exact);
  if (!quotient) mov(rax, rdx);
  L(end);
}

}  // namespace ingot::jit
