#include "tests/runtime/kernels/kernel_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "runtime/kernels/family_cache.h"
#include "runtime/kernels/reference.h"
#include "runtime/kernels/strides.h"
#include "runtime/parallel/thread_team.h"

namespace ingot::test {
namespace {

constexpr size_t kGuard = 64;
constexpr std::byte kCanary{0xA5};

// A block aligned to 64 bytes between two guards.
class Block {
 public:
  explicit Block(size_t bytes) : bytes_(bytes), memory_(allocate_packed(bytes + 2 * kGuard)) {
    std::memset(memory_.get(), static_cast<int>(kCanary), bytes + 2 * kGuard);
  }
  std::byte* data() const { return memory_.get() + kGuard; }
  bool intact() const {
    for (size_t i = 0; i < kGuard; ++i)
      if (memory_.get()[i] != kCanary || data()[bytes_ + i] != kCanary) return false;
    return true;
  }

 private:
  size_t bytes_;
  std::shared_ptr<std::byte> memory_;
};

void store(const Operand& operand, std::byte* to) {
  reference::with_type(operand.dtype, [&]<typename T>(std::type_identity<T>) {
    const auto strides = strides_of(operand.dims, operand.layout);
    reference::Index index(operand.dims);
    size_t next = 0;
    if (operand.values.empty()) return;
    do {
      const double value = operand.values[next++];
      reinterpret_cast<T*>(to)[index.offset(strides)] = reference::from_sum<T>(reference::sum_of<T>(value));
    } while (index.next());
  });
}

std::vector<double> load(const Operand& operand, const std::byte* from) {
  std::vector<double> values;
  reference::with_type(operand.dtype, [&]<typename T>(std::type_identity<T>) {
    const auto strides = strides_of(operand.dims, operand.layout);
    const size_t count = element_count(operand.dims);
    reference::Index index(operand.dims);
    for (size_t i = 0; i < count; ++i, index.next()) {
      const T element = reinterpret_cast<const T*>(from)[index.offset(strides)];
      if constexpr (std::is_integral_v<T>)
        values.push_back(static_cast<double>(element));
      else
        values.push_back(static_cast<double>(reference::to_sum(element)));
    }
  });
  return values;
}

// NaN equals NaN.
bool same_values(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

OperandSpec spec_of(const Operand& operand, const std::byte* data, bool varying) {
  return {.dtype = operand.dtype,
          .layout = operand.layout,
          .dims = operand.dims,
          .constant = operand.constant ? data : nullptr,
          .varying = varying ? UINT32_MAX : 0};
}

std::string operand_text(const Operand& operand) {
  return fmt::format("{}{}{}{}", dtype_info(operand.dtype).brief, shape_text(operand.dims),
                     operand.layout == Layout::ChannelsLast ? " channels-last" : "",
                     operand.constant ? " constant" : "");
}

// Operands in memory and the prepared kernel.
struct Prepared {
  std::unique_ptr<ThreadTeam> team;
  std::vector<Block> inputs;
  std::vector<OperandSpec> input_specs;
  std::vector<OperandSpec> output_specs;
  PreparedKernel kernel;
};

Prepared prepare(const KernelCase& problem, std::string_view variant, PackCache* packs) {
  Prepared result{.team = std::make_unique<ThreadTeam>(problem.threads),
                  .inputs = {},
                  .input_specs = {},
                  .output_specs = {},
                  .kernel = {}};
  for (const Operand& input : problem.inputs) {
    const bool holds = !input.values.empty();
    Block& block = result.inputs.emplace_back(holds ? byte_size(input.dtype, input.dims) : 0);
    if (holds) store(input, block.data());
    result.input_specs.push_back(spec_of(input, block.data(), problem.varying && !input.constant));
  }
  result.output_specs.push_back(spec_of(problem.output, nullptr, problem.varying));
  KernelCall call = problem.call;
  if (call.inputs == 0) call.inputs = static_cast<uint16_t>(problem.inputs.size());
  FamilyCache families;
  result.kernel = prepare_kernel({.call = &call,
                                  .inputs = result.input_specs,
                                  .outputs = result.output_specs,
                                  .cpu = problem.cpu,
                                  .threads = result.team.get(),
                                  .packs = packs,
                                  .families = &families},
                                 variant);
  return result;
}

}  // namespace

std::string KernelCase::text() const {
  std::string result{contract_name(call.contract)};
  for (const Operand& input : inputs) result += " " + operand_text(input);
  result += " -> " + operand_text(output);
  for (const NamedAttribute& attribute : call.attributes)
    std::visit([&](const auto& value) { result += fmt::format(" {}={}", attribute.name, value); }, attribute.value);
  if (varying) result += ", dimensions vary";
  for (const PostOp& op : call.post_ops) result += fmt::format(" {}({}, {})", post_op_name(op.kind), op.alpha, op.beta);
  return result;
}

std::optional<KernelResult> run_case(const KernelCase& problem, std::string_view variant, PackCache* packs) {
  SCOPED_TRACE(problem.text());
  std::optional<Prepared> prepared;
  try {
    prepared = prepare(problem, variant, packs);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Unsupported) return std::nullopt;
    ADD_FAILURE() << error.what();
    return std::nullopt;
  }
  const Kernel& kernel = *prepared->kernel.kernel;
  const Block output(byte_size(problem.output.dtype, problem.output.dims));
  const Block scratch(kernel.scratch_bytes());
  std::vector<const std::byte*> inputs;
  for (const Block& input : prepared->inputs) inputs.push_back(input.data());
  std::byte* to = output.data();
  const tir::RunStatus status =
      kernel.run({.inputs = inputs, .outputs = {&to, 1}, .scratch = scratch.data(), .poll = {}});
  EXPECT_FALSE(status.failed) << status.message;
  EXPECT_TRUE(output.intact() && scratch.intact());
  KernelResult result{load(problem.output, output.data()), std::string(kernel.implementation()), {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    Block expected(byte_size(problem.inputs[i].dtype, problem.inputs[i].dims));
    store(problem.inputs[i], expected.data());
    EXPECT_TRUE(prepared->inputs[i].intact());
    EXPECT_EQ(std::memcmp(expected.data(), inputs[i], byte_size(problem.inputs[i].dtype, problem.inputs[i].dims)), 0)
        << "input " << i << " was changed";
  }

  for (size_t shared = 0; shared < inputs.size(); ++shared) {
    if (!kernel.runs_in_place(shared)) continue;
    result.in_place.push_back(shared);
    EXPECT_EQ(problem.inputs[shared].dims, problem.output.dims);
    to = prepared->inputs[shared].data();
    EXPECT_FALSE(kernel.run({.inputs = inputs, .outputs = {&to, 1}, .scratch = scratch.data(), .poll = {}}).failed);
    EXPECT_TRUE(same_values(load(problem.output, to), result.values)) << "in place of input " << shared;
    store(problem.inputs[shared], to);
  }
  return result;
}

std::set<std::string_view> expect_variants_agree(const KernelCase& problem, double rtol, double atol) {
  std::set<std::string_view> ran;
  const auto expected = run_case(problem, "reference");
  EXPECT_TRUE(expected) << problem.text();
  if (!expected) return ran;
  for (const KernelVariant& variant : kernel_variants(problem.call.contract)) {
    if (variant.name == "reference") continue;
    for (const bool varying : {false, true}) {
      KernelCase with = problem;
      with.varying = varying;
      const auto got = run_case(with, variant.name);
      if (!got) continue;
      ran.insert(variant.name);
      EXPECT_EQ(got->values.size(), expected->values.size());
      if (got->values.size() != expected->values.size()) return ran;
      for (size_t i = 0; i < got->values.size(); ++i) {
        const double a = got->values[i];
        const double b = expected->values[i];
        const bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= atol + rtol * std::abs(b);
        EXPECT_TRUE(same) << variant.name << " (" << got->implementation << ") gives " << a << ", the reference " << b
                          << " at element " << i << " of " << with.text();
        if (!same) return ran;
      }
    }
  }
  return ran;
}

void prepare_case(const KernelCase& problem, std::string_view variant) { prepare(problem, variant, nullptr); }

std::string prepare_error(const KernelCase& problem, std::string_view variant) {
  try {
    prepare_case(problem, variant);
  } catch (const Error& error) {
    return error.label() + ": " + error.what();
  }
  return "prepared";
}

Operand Numbers::operand(std::vector<int64_t> dims, Layout layout, DType dtype, bool constant) {
  Operand result{.dims = std::move(dims), .layout = layout, .dtype = dtype, .values = {}, .constant = constant};
  result.values.resize(element_count(result.dims));
  for (double& value : result.values) {
    const auto hundredths = static_cast<double>(between(-100, 99));
    value = is_float(dtype) ? static_cast<double>(static_cast<float>(hundredths / 100)) : hundredths;
  }
  return result;
}

int64_t Numbers::pick(std::initializer_list<int64_t> choices) {
  return choices.begin()[between(0, static_cast<int64_t>(choices.size()) - 1)];
}

int64_t Numbers::between(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
}

std::vector<PostOp> Numbers::post_ops(std::vector<Operand>& inputs, const std::vector<int64_t>& dims, bool any_layout) {
  std::vector<PostOp> ops;
  for (int64_t count = between(0, 2); count > 0; --count) {
    const auto kind = static_cast<PostOpKind>(between(0, static_cast<int64_t>(kPostOpKindCount) - 1));
    PostOp op{.kind = kind};
    if (kind == PostOpKind::LeakyRelu) op.alpha = 0.125;
    if (kind == PostOpKind::Clip) op = {.kind = kind, .alpha = -0.5, .beta = 0.75};
    if (kind == PostOpKind::Add) {
      std::vector<int64_t> added = dims;
      if (chance(30))
        for (int64_t& dim : added)
          if (chance(50)) dim = 1;
      inputs.push_back(operand(std::move(added), any_layout && dims.size() == 4 ? layout() : Layout::RowMajor));
    }
    ops.push_back(op);
  }
  return ops;
}

}  // namespace ingot::test
