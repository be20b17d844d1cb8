// Calls as a damaged or hostile file may hold them: prepared or refused with an error of the user's or the
// environment's, and what is prepared stays within its operands.
#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "tests/runtime/kernels/cases.h"

namespace ingot::test {
namespace {

constexpr std::initializer_list<int64_t> kNasty = {-1,      0,       1,         2,         3,         7,        17,
                                                   1 << 16, 1 << 30, INT32_MAX, INT64_MAX, INT64_MIN, INT32_MIN};

Attribute nasty_attribute(Numbers& numbers) {
  switch (numbers.between(0, 3)) {
    case 0:
      return numbers.pick(kNasty);
    case 1:
      return static_cast<double>(numbers.pick(kNasty));
    case 2:
      return std::string("text");
    default: {
      std::vector<int64_t> values(static_cast<size_t>(numbers.between(0, 5)));
      for (int64_t& value : values) value = numbers.chance(50) ? numbers.pick(kNasty) : numbers.between(0, 3);
      return values;
    }
  }
}

void damage(KernelCase& c, Numbers& numbers) {
  Operand& operand = numbers.chance(30) || c.inputs.empty()
                         ? c.output
                         : c.inputs[static_cast<size_t>(numbers.between(0, static_cast<int64_t>(c.inputs.size()) - 1))];
  switch (numbers.between(0, 6)) {
    case 0:
      if (!c.call.attributes.empty()) {
        const int64_t last = static_cast<int64_t>(c.call.attributes.size()) - 1;
        c.call.attributes[static_cast<size_t>(numbers.between(0, last))].value = nasty_attribute(numbers);
      }
      return;
    case 1:
      if (!c.call.attributes.empty()) c.call.attributes.pop_back();
      return;
    case 2:
      c.call.post_ops.push_back(
          {.kind = static_cast<PostOpKind>(numbers.between(0, 8)), .alpha = -1e300, .beta = 1e300});
      return;
    case 3:
      operand.dtype = static_cast<DType>(numbers.between(0, static_cast<int64_t>(kDTypeCount) - 1));
      return;
    case 4:
      operand.layout = numbers.layout();
      return;
    case 5:
      if (operand.dims.empty() || numbers.chance(20))
        operand.dims.push_back(numbers.pick(kNasty));
      else
        operand.dims[static_cast<size_t>(numbers.between(0, static_cast<int64_t>(operand.dims.size()) - 1))] =
            numbers.chance(50) ? numbers.pick(kNasty) : numbers.between(0, 9);
      return;
    default:
      if (!c.inputs.empty() && numbers.chance(50))
        c.inputs.pop_back();
      else
        c.call.inputs = static_cast<uint16_t>(numbers.between(0, 5));
  }
}

bool is_small(const Operand& operand) {
  int64_t count = 1;
  for (const int64_t dim : operand.dims) {
    if (dim < 0 || dim > 4096) return false;
    count *= std::max<int64_t>(dim, 1);
    if (count > 100000) return false;
  }
  return operand.dtype != DType::None && operand.dtype != DType::String && operand.dtype != DType::Bool;
}

TEST(Hostile, DamagedCallsAreRefusedOrStayWithinTheirOperands) {
  Numbers numbers(7);
  int prepared = 0;
  for (const auto& [contract, generator] : case_generators())
    for (int i = 0; i < 150; ++i) {
      KernelCase c = generator.generate(numbers);
      for (int64_t damages = numbers.between(1, 3); damages > 0; --damages) damage(c, numbers);
      bool small = is_small(c.output);
      for (Operand& input : c.inputs) {
        small = small && is_small(input);
        if (!small) break;
        input = numbers.operand(input.dims, input.layout, input.dtype, input.constant);
      }
      if (small) {
        try {
          prepare_case(c);
          ++prepared;
          run_case(c);
        } catch (const Error& error) {
          ASSERT_NE(error_blame(error.code()), Blame::Ours) << error.what() << " for " << c.text();
        }
      } else {
        for (Operand& input : c.inputs) {
          input.values.clear();
          input.constant = false;
        }
        const std::string error = prepare_error(c);
        ASSERT_NE(error.substr(0, 8), "Internal") << error;
      }
    }
  EXPECT_GT(prepared, 100);
}

}  // namespace
}  // namespace ingot::test
