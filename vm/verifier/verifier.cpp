#include "vm/verifier/verifier.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "vm/verifier/function_verifier.h"
#include "vm/verifier/structure.h"

namespace ingot::vm {
namespace {

template <typename Visit>
void for_each_function(const Program& program, Visit&& visit) {
  for (uint32_t f = 0; f < program.functions.size(); ++f) {
    try {
      visit(f);
    } catch (Error& error) {
      error.add_context(fmt::format("function '{}'", program.functions[f].name));
      throw;
    }
  }
}

}  // namespace

ProgramFacts verify(const Program& program) {
  check_structure(program);
  std::vector<ControlFlow> flows(program.functions.size());
  for_each_function(program, [&](uint32_t f) { flows[f] = analyze_control_flow(program, program.functions[f]); });

  std::vector<bool> is_closure(program.functions.size());
  for (const ControlFlow& flow : flows)
    for (const uint32_t callee : flow.closures) is_closure[callee] = true;
  ProgramFacts facts;
  for (uint32_t f = 0; f < program.functions.size(); ++f) {
    const Function& function = program.functions[f];
    FunctionFacts of;
    of.result = class_of(function.signature->result);
    of.trusts_callers = !function.exported && !is_closure[f] && function.captures == 0 && !flows[f].check_params_unit;
    if (const auto unit = flows[f].check_params_unit) {
      const auto instruction = decode<Unchecked>(function.code, *unit);
      of.params_check = instruction[0].index();
      const Check& check = function.checks[*of.params_check];
      const bool is_tuple = check.info->kind == InfoKind::Tuple && check.info->fields.size() == function.params;
      if (*unit == 0 && is_tuple && std::ranges::all_of(check.info->fields, is_class))
        of.direct_entry = instruction.next();
    }
    facts.functions.push_back(std::move(of));
  }
  uint32_t most = 0;
  for (const Function& function : program.functions) most = std::max(most, function.registers);
  RegisterFile registers(most);
  for_each_function(program, [&](uint32_t f) {
    FunctionVerifier verifier(program, facts, f, flows[f], registers);
    facts.functions[f] = verifier.verify();
    for (const uint32_t callee : verifier.doubted_callees()) facts.functions[callee].direct_entry = 0;
  });
  return facts;
}

void registers_to_release(const Function& function, const FunctionFacts& facts, uint32_t unit, FramePoint point,
                          RegisterSet& into) noexcept {
  into.clear();
  for (const CountedChange& change : facts.counted_changes) {
    if (change.unit > unit) break;
    if (change.counted)
      into.insert(change.reg);
    else
      into.erase(change.reg);
  }
  if (point != FramePoint::InCall) return;
  const auto call = decode<Unchecked>(function.code, unit);
  if (call.info->roles[0] == Role::Base)
    for (uint32_t reg = into.next(call[0].reg()); reg != RegisterSet::kEnd; reg = into.next(reg + 1))
      into.erase(static_cast<Register>(reg));
  if (call.info->roles[1] == Role::Take) into.erase(call[1].reg());
}

}  // namespace ingot::vm
