#include "vm/verifier/control_flow.h"

#include <algorithm>
#include <array>

#include "runtime/base/error.h"
#include "vm/isa/builtins.h"
#include "vm/isa/decode.h"

namespace ingot::vm {
namespace {

constexpr size_t kMaxLoopDepth = 64;
constexpr size_t kRoles = static_cast<size_t>(Role::Vars) + 1;

class Analysis {
 public:
  Analysis(const Program& program, const Function& function)
      : program_(program), function_(function), counts_(counts()) {}

  ControlFlow run() {
    const size_t units = function_.code.size();
    if (units == 0) fail(ErrorCode::CorruptFile, "there is no code");
    flow_.targets.resize(units);
    begins_.resize(units);
    for (const LoopHeader& loop : function_.loops) flow_.loops.push_back({loop.unit, loop.unit});
    for (uint32_t at = 0; at < units;) {
      begins_[at] = true;
      const uint32_t next = pass(at);
      at = next != at ? next : visit_checked(at);
    }
    if (loops_seen_ != function_.loops.size())
      fail(ErrorCode::CorruptFile, "there is no loop instruction at unit {}, which the function's table names",
           function_.loops[loops_seen_].unit);
    for (const SourceSpan& span : function_.spans)
      if (span.unit >= units || !begins_[span.unit])
        fail(ErrorCode::CorruptFile, "a source span names unit {}, where no instruction begins", span.unit);
    check_targets();
    check_loops();
    find_arms();
    return std::move(flow_);
  }

 private:
  struct Jump {
    uint32_t from;
    uint32_t to;
  };

  // How many there are of what an operand of a role names.
  std::array<uint64_t, kRoles> counts() const {
    std::array<uint64_t, kRoles> counts;
    counts.fill(UINT64_MAX);
    const auto set = [&](Role role, size_t count) { counts[static_cast<size_t>(role)] = count; };
    for (const Role role : {Role::Def, Role::Use, Role::Take, Role::Base}) set(role, function_.registers);
    set(Role::Const, program_.constants.size());
    set(Role::Func, program_.functions.size());
    set(Role::Import, program_.imports.size());
    set(Role::Kernel, program_.kernels.size());
    set(Role::Builtin, kBuiltinCount);
    set(Role::Storage, function_.storages.size());
    set(Role::Check, function_.checks.size());
    set(Role::Expr, function_.exprs.size());
    set(Role::DType, kDTypeCount);
    return counts;
  }

  // The unit behind an instruction that is whole and whose operands exist, apart from those that visit() looks at; `at`
  // for all others. Most code is such.
  uint32_t pass(uint32_t at) const {
    const std::span<const CodeUnit> code = function_.code;
    if (code[at] >= kOpcodeCount || is_visited(static_cast<Opcode>(code[at]))) return at;
    const OpcodeInfo& info = kOpcodes[code[at]];
    size_t next = at + fixed_units(info);
    if (next > code.size()) return at;
    const CodeUnit* unit = code.data() + at + 1;
    for (size_t i = 0; i < info.operands; ++i) {
      const Role role = info.roles[i];
      if (role == Role::Target) return at;
      if (is_list(role)) {
        next += *unit;
        if (next > code.size()) return at;
        for (const Register reg : std::span(unit + 1, *unit))
          if (reg >= function_.registers) return at;
        break;
      }
      const bool is_short = role_units(role) == 1;
      if ((is_short ? *unit : read_u32(unit)) >= counts_[static_cast<size_t>(role)]) return at;
      unit += is_short ? 1 : 2;
    }
    return static_cast<uint32_t>(next);
  }

  static bool is_visited(Opcode opcode) {
    return opcode == Opcode::Loop || opcode == Opcode::Plan || opcode == Opcode::CheckParams ||
           opcode == Opcode::MakeClosure;
  }

  // Gives the unit behind the instruction.
  uint32_t visit_checked(uint32_t at) {
    const auto instruction = decode<Checked>(function_.code, at);
    try {
      visit(instruction);
    } catch (Error& error) {
      error.add_context(fmt::format("unit {} ({})", instruction.at, instruction.info->mnemonic));
      throw;
    }
    return instruction.next();
  }

  void visit(const Instruction& instruction) {
    for (const Operand& operand : instruction.operands()) check_operand(instruction, operand);
    switch (instruction.opcode) {
      case Opcode::Loop:
        if (loops_seen_ >= function_.loops.size() || function_.loops[loops_seen_].unit != instruction.at)
          fail(ErrorCode::CorruptFile, "the function's table has no loop header here");
        ++loops_seen_;
        break;
      case Opcode::Plan:
        only_once(flow_.plan_unit, instruction);
        break;
      case Opcode::CheckParams:
        only_once(flow_.check_params_unit, instruction);
        break;
      case Opcode::MakeClosure:
        flow_.closures.push_back(instruction[1].index());
        break;
      default:
        break;
    }
  }

  void only_once(std::optional<uint32_t>& unit, const Instruction& instruction) {
    if (unit) fail(ErrorCode::CorruptFile, "the function has another one at unit {}", *unit);
    unit = instruction.at;
  }

  void check_index(const Operand& operand, size_t count, std::string_view what) {
    if (operand.index() >= count)
      fail(ErrorCode::CorruptFile, "{} {} does not exist, there are {}", what, operand.index(), count);
  }

  void check_register(Register reg) {
    if (reg >= function_.registers)
      fail(ErrorCode::CorruptFile, "r{} does not exist, the function has {} registers", reg, function_.registers);
  }

  void check_operand(const Instruction& instruction, const Operand& operand) {
    switch (operand.role) {
      case Role::None:
      case Role::Imm:
        break;
      case Role::Def:
      case Role::Use:
      case Role::Take:
      case Role::Base:
        return check_register(operand.reg());
      case Role::Const:
        return check_index(operand, program_.constants.size(), "constant");
      case Role::Func:
        return check_index(operand, program_.functions.size(), "function");
      case Role::Import:
        return check_index(operand, program_.imports.size(), "import");
      case Role::Kernel:
        return check_index(operand, program_.kernels.size(), "kernel call");
      case Role::Builtin:
        return check_index(operand, kBuiltinCount, "builtin");
      case Role::Storage:
        return check_index(operand, function_.storages.size(), "storage");
      case Role::Check:
        return check_index(operand, function_.checks.size(), "check");
      case Role::Expr:
        return check_index(operand, function_.exprs.size(), "expression");
      case Role::DType:
        return check_index(operand, kDTypeCount, "dtype");
      case Role::Target: {
        const int64_t target = instruction.target(operand);
        if (target < 0 || target >= static_cast<int64_t>(function_.code.size()))
          fail(ErrorCode::CorruptFile, "the jump leads to unit {}, the code has {}", target, function_.code.size());
        jumps_.push_back({instruction.at, static_cast<uint32_t>(target)});
        break;
      }
      case Role::Uses:
      case Role::Takes:
      case Role::Operands:
      case Role::Vars:
        for (const Register reg : operand.list) check_register(reg);
        break;
    }
  }

  void check_targets() {
    for (const Jump& jump : jumps_) {
      if (!begins_[jump.to])
        fail(ErrorCode::CorruptFile, "unit {}: the jump leads to unit {}, where no instruction begins", jump.from,
             jump.to);
      if (flow_.targets[jump.to] == 0) flow_.targets[jump.to] = ++flow_.target_count;
      if (jump.to > jump.from) continue;
      const auto loop = std::ranges::lower_bound(flow_.loops, jump.to, {}, &ControlFlow::Loop::header);
      if (loop == flow_.loops.end() || loop->header != jump.to)
        fail(ErrorCode::CorruptFile, "unit {}: the jump leads back to unit {}, which is no loop header", jump.from,
             jump.to);
      loop->end = std::max(loop->end, jump.from);
    }
  }

  void check_loops() {
    std::vector<ControlFlow::Loop> around;
    for (const ControlFlow::Loop& loop : flow_.loops) {
      while (!around.empty() && around.back().end < loop.header) around.pop_back();
      if (!around.empty() && loop.end > around.back().end)
        fail(ErrorCode::CorruptFile, "the loops at units {} and {} overlap", around.back().header, loop.header);
      around.push_back(loop);
      if (around.size() > kMaxLoopDepth)
        fail(ErrorCode::CorruptFile, "unit {}: loops nest deeper than {}", loop.header, kMaxLoopDepth);
      if (flow_.plan_unit && *flow_.plan_unit > loop.header && *flow_.plan_unit < loop.end)
        fail(ErrorCode::CorruptFile, "unit {} (plan): stands in the loop at unit {}", *flow_.plan_unit, loop.header);
    }
  }

  // The jumps come in order of their places.
  void find_arms() {
    size_t steps_left = size_t{1} << 22;
    std::vector<Jump> by_target = jumps_;
    std::ranges::stable_sort(by_target, {}, &Jump::to);
    for (const Jump& jump : jumps_) {
      if (static_cast<Opcode>(function_.code[jump.from]) == Opcode::Jump || jump.to <= jump.from) continue;
      uint32_t end = jump.to - 1;
      while (!begins_[end] && steps_left > 0) --end, --steps_left;
      if (end <= jump.from) continue;
      const ControlFlow::Arm arm{jump.from, end, resume_of(end)};
      if (arm.resume <= jump.to) continue;
      const auto inside = [&](uint32_t unit) { return unit > arm.branch && unit <= arm.end; };
      bool closed = true;
      for (auto each = std::ranges::upper_bound(jumps_, arm.branch, {}, &Jump::from);
           closed && each != jumps_.end() && each->from <= arm.end && steps_left > 0; ++each, --steps_left)
        closed = inside(each->to) || each->to >= arm.resume;
      for (auto each = std::ranges::upper_bound(by_target, arm.branch, {}, &Jump::to);
           closed && each != by_target.end() && each->to <= arm.end && steps_left > 0; ++each, --steps_left)
        closed = inside(each->from);
      if (steps_left == 0) return;
      if (closed) flow_.arms.push_back(arm);
    }
  }

  // Where the function goes on behind the last instruction of an arm; 0: not somewhere else.
  uint32_t resume_of(uint32_t unit) const {
    const auto opcode = static_cast<Opcode>(function_.code[unit]);
    const bool leaves = opcode == Opcode::Return || opcode == Opcode::TailCall || opcode == Opcode::TailCallValue ||
                        opcode == Opcode::Fail;
    if (leaves) return UINT32_MAX;
    if (opcode != Opcode::Jump) return 0;
    return std::ranges::lower_bound(jumps_, unit, {}, &Jump::from)->to;
  }

  const Program& program_;
  const Function& function_;
  std::array<uint64_t, kRoles> counts_;
  ControlFlow flow_;
  std::vector<bool> begins_;
  std::vector<Jump> jumps_;
  size_t loops_seen_ = 0;
};

}  // namespace

ControlFlow analyze_control_flow(const Program& program, const Function& function) {
  return Analysis(program, function).run();
}

}  // namespace ingot::vm
