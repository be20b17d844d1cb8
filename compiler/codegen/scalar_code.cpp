#include "compiler/codegen/scalar_code.h"

#include <array>

#include "runtime/base/convert.h"
#include "runtime/base/error.h"

namespace ingot::codegen {

using namespace ir;
using vm::Opcode;

namespace {

// The int32 that converts to exactly the constant's value, for dtypes that have instructions with immediates.
std::optional<int32_t> immediate_of(const Expr& e) {
  const auto* constant = as<Constant>(e);
  if (constant == nullptr || constant->data->rank != 0) return {};
  const DType dtype = constant->data->dtype;
  if (dtype == DType::Bool || dtype == DType::String) return {};
  return with_element(dtype, [&]<typename T>() -> std::optional<int32_t> {
    const T value = load_element<T>(constant->data->data);
    const auto number = convert<int32_t>(value);
    const T back = convert<T>(number);
    // Bytes: 0 stands for +0 alone.
    if (std::memcmp(&back, &value, sizeof value) != 0) return {};  // NOLINT(bugprone-suspicious-memory-comparison)
    return number;
  });
}

// `family.dtype`, or `family` where one instruction serves all dtypes.
std::optional<Opcode> find(std::string_view family, DType dtype) {
  if (const auto opcode = vm::find_opcode(family)) return opcode;
  return vm::find_opcode(fmt::format("{}.{}", family, dtype_info(dtype).brief));
}

struct Family {
  std::string_view name;
  std::vector<Expr> operands;
  DType dtype;
};

// `>less` computes with exchanged operands.
Family family_of(const Call& e, const Op& op) {
  Family family{op.scalar_instruction, e.args, e.args[0]->info->dtype};
  if (family.name.starts_with('>')) {
    family.name.remove_prefix(1);
    std::swap(family.operands.at(0), family.operands.at(1));
  }
  return family;
}

std::optional<ScalarCode> with_immediate(const Family& family) {
  if (family.name != "add" && family.name != "mul" && family.name != "sub") return {};
  const bool is_sub = family.name == "sub";
  std::optional<int32_t> number = immediate_of(family.operands[1]);
  size_t other = 0;
  if (!number && !is_sub) {
    number = immediate_of(family.operands[0]);
    other = 1;
  }
  // a - 0.0 is not a + 0.0 where a is -0.0.
  if (!number || (is_sub && (*number == INT32_MIN || *number == 0))) return {};
  const auto opcode = find(family.name == "mul" ? "mul_imm" : "add_imm", family.dtype);
  if (!opcode) return {};
  return ScalarCode{*opcode, {family.operands[other]}, is_sub ? -*number : *number};
}

// Of a comparison: the lines for two registers, for a constant on the right, for one on the left.
struct Comparison {
  std::string_view family, registers, constant_right, constant_left;
};
constexpr std::array<Comparison, 4> kComparisons = {{
    {"equal", "jump_unless_equal", "jump_unless_equal_imm", "jump_unless_equal_imm"},
    {"not_equal", "jump_unless_not_equal", "jump_unless_not_equal_imm", "jump_unless_not_equal_imm"},
    {"less", "jump_unless_less", "jump_unless_less_imm", "jump_unless_greater_imm"},
    {"less_equal", "jump_unless_less_equal", "jump_unless_less_equal_imm", "jump_unless_greater_equal_imm"},
}};

}  // namespace

ScalarCode select_scalar(const Call& e, const Op& op) {
  Family family = family_of(e, op);
  if (auto code = with_immediate(family)) return *std::move(code);
  const auto opcode = find(family.name, family.dtype);
  if (!opcode)
    fail(ErrorCode::Internal, "code generation: no instruction {} for {}", family.name, dtype_name(family.dtype));
  return {*opcode, std::move(family.operands), {}};
}

std::optional<ScalarCode> select_jump_unless(const Call& e, const Op& op) {
  if (op.scalar_instruction.empty() || e.args.size() != 2) return {};
  Family family = family_of(e, op);
  for (const Comparison& comparison : kComparisons) {
    if (comparison.family != family.name) continue;
    if (const auto number = immediate_of(family.operands[1]))
      return ScalarCode{*find(comparison.constant_right, family.dtype), {family.operands[0]}, number};
    if (const auto number = immediate_of(family.operands[0]))
      return ScalarCode{*find(comparison.constant_left, family.dtype), {family.operands[1]}, number};
    return ScalarCode{*find(comparison.registers, family.dtype), std::move(family.operands), {}};
  }
  return {};
}

}  // namespace ingot::codegen
