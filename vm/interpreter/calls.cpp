#include <new>

#include "runtime/checks/describe.h"
#include "runtime/checks/faults.h"
#include "runtime/registry/host_functions.h"
#include "vm/interpreter/escape.h"
#include "vm/interpreter/instructions.h"

namespace ingot::vm {
namespace {

[[noreturn]] void fail_stack(const Machine& m, const LinkedFunction& callee) {
  fail(ErrorCode::ResourceExhausted, "no room for a frame of @{}: {} frames are active, frame_limit is {} bytes",
       callee.source->name, m.frame - m.stack.frames_begin(), m.stack.limit());
}

// What a PackedFunc gave, as registers hold it.
Slot take_result(const Machine& m, Value result) {
  const Slot& slot = result.slot();
  if (!is_object(slot.kind)) return result.detach();
  if (slot.object->counting == Counting::Local && slot.object->pool != &m.pool)
    fail(ErrorCode::ForeignError, "the result belongs to another session");
  if ((slot.flags & Slot::kBorrowed) != 0) result = Value::copy_of(slot);
  if (slot.kind == Kind::Tensor && static_cast<const TensorObject*>(slot.object)->rank == 0)
    result = to_value(Ref<TensorObject>::adopt(static_cast<TensorObject*>(result.detach().object)));
  return result.detach();
}

// `args` lie above the registers of the top frame.
Slot invoke(Machine& m, const PackedFuncObject& callee, Slot* args, size_t count) {
  Slot* const outer = m.next_register;
  m.next_register = args + count;
  try {
    const Slot result = take_result(m, callee.function(PackedArgs({args, count}, &m.pool, escape_for_packed, &m)));
    m.next_register = outer;
    return result;
  } catch (Error& error) {
    m.next_register = outer;
    error.add_context(callee.name);
    throw;
  } catch (const std::bad_alloc&) {
    m.next_register = outer;
    throw;
  } catch (const std::exception& error) {
    m.next_register = outer;
    fail(ErrorCode::ForeignError, "{}: {}", callee.name, error.what());
  }
}

Slot* argument_area(const Machine& m) { return m.frame->registers + m.frame->function->registers; }

void lend(Slot& to, const Slot& from) { copy_slot(to, from, 0, kBorrowedHead); }

bool lies_in_arena(const Slot& slot) {
  return slot.kind == Kind::Tensor && static_cast<const TensorObject*>(slot.object)->in_arena;
}

// Replaces arguments that lie in an arena by copies, which it gives to the caller to hold.
std::vector<Value> copy_out_of_arena(Machine& m, Slot* args, size_t count) {
  std::vector<Value> copies;
  for (size_t i = 0; i < count; ++i) {
    if (!lies_in_arena(args[i])) continue;
    copies.emplace_back(copy_tensor(&m.pool, *static_cast<const TensorObject*>(args[i].object)));
    lend(args[i], copies.back().slot());
  }
  return copies;
}

}  // namespace

void enter_slowly(Machine& m, const LinkedFunction& callee, const Slot* registers) {
  if (registers + callee.registers > m.stack.registers_end() || m.frame + 1 >= m.stack.frames_end())
    fail_stack(m, callee);
  if (m.polling) poll(m);
}

void pop_activation(Machine& m, Frame& frame) noexcept {
  --frame.activation->use->active;
  m.arena.pop(frame.activation->mark);
  frame.activation = nullptr;
}

const LinkedFunction* enter_closure(Machine& m, const Slot& closure_slot, Slot* args, uint32_t count, bool tail) {
  auto& closure = *static_cast<ClosureObject*>(closure_slot.object);
  if (closure.home != nullptr && static_cast<Session*>(closure.home.get())->executable() != m.executable)
    fail(ErrorCode::InvalidArgument, "the closure belongs to another executable");
  const LinkedFunction& callee = m.program->functions[closure.function];
  if (count != callee.params) fail_arity(exported_name(*callee.source), callee.params, count);
  const LinkedFunction& caller = *m.frame->function;
  if (tail && !callee.facts->result.within(caller.facts->result))
    fail(ErrorCode::CastFailed, "@{} gives {}, @{} promises {}", callee.source->name, to_text(callee.facts->result),
         caller.source->name, to_text(caller.facts->result));
  const Slot* const registers = tail ? m.frame->registers : args;
  if (registers + callee.registers > m.register_stop || m.frame + 1 >= m.stack.frames_end()) [[unlikely]]
    enter_slowly(m, callee, registers);
  Slot* to = args + count;
  for (const Slot& capture : closure.captures()) {
    retain(capture);
    copy_slot(*to++, capture);
  }
  release(closure_slot);
  return &callee;
}

Slot call_import(Machine& m, uint32_t import, const Slot* registers, std::span<const Register> args) {
  const ResolvedImport& resolved = m.imports[import];
  if (!resolved.function) throw Error(ErrorCode::NotAllowed, resolved.refusal);
  if (m.polling) poll(m);
  Slot* const area = argument_area(m);
  bool in_arena = false;
  for (size_t i = 0; i < args.size(); ++i) {
    lend(area[i], registers[args[i]]);
    in_arena |= lies_in_arena(area[i]);
  }
  if (resolved.writes) [[unlikely]] {
    const Import& declared = m.executable->program().imports[import];
    require_writable(declared.name, declared.writes, {area, args.size()});
  }
  const std::vector<Value> copies = in_arena ? copy_out_of_arena(m, area, args.size()) : std::vector<Value>{};
  return invoke(m, *resolved.function, area, args.size());
}

Slot call_packed_value(Machine& m, const Slot& callee, const Slot* args, uint32_t count, bool tail) {
  if (callee.kind != Kind::PackedFunc) fail_call_of(callee);
  if (m.polling) poll(m);
  const auto& function = *static_cast<const PackedFuncObject*>(callee.object);
  Slot* const area = argument_area(m);
  for (uint32_t i = 0; i < count; ++i) lend(area[i], args[i]);
  const std::vector<Value> copies = copy_out_of_arena(m, area, count);
  const Slot result = invoke(m, function, area, count);
  if (tail) {
    const ValueClass given =
        ValueClass::of(result.kind, result.kind == Kind::Tensor ? static_cast<const TensorObject*>(result.object)->dtype
                                                                : result.dtype);
    const LinkedFunction& caller = *m.frame->function;
    if (!given.within(caller.facts->result)) {
      const std::string given_text = describe_value(result);
      release(result);
      fail(ErrorCode::CastFailed, "{} gave {}, @{} promises {}", function.name, given_text, caller.source->name,
           to_text(caller.facts->result));
    }
  }
  for (uint32_t i = 0; i < count; ++i) release(args[i]);
  release(callee);
  return result;
}

}  // namespace ingot::vm
