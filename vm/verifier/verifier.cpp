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
    if (const auto unit = flows[f].check_params_unit)
      of.params_check = decode<Unchecked>(function.code, *unit)[0].index();
    facts.functions.push_back(std::move(of));
  }
  uint32_t most = 0;
  for (const Function& function : program.functions) most = std::max(most, function.registers);
  RegisterFile registers(most);
  for_each_function(program, [&](uint32_t f) {
    facts.functions[f] = FunctionVerifier(program, facts, f, flows[f], registers).verify();
  });
  return facts;
}

std::vector<Register> registers_to_release(const Program& program, const ProgramFacts& facts, uint32_t function,
                                           uint32_t unit, FramePoint point) {
  const ControlFlow flow = analyze_control_flow(program, program.functions[function]);
  RegisterFile registers(program.functions[function].registers);
  auto counted =
      FunctionVerifier(program, facts, function, flow, registers).counted_at(unit, point == FramePoint::InCall);
  if (!counted) fail(ErrorCode::Internal, "no path of '{}' leads to unit {}", program.functions[function].name, unit);
  return std::move(*counted);
}

}  // namespace ingot::vm
