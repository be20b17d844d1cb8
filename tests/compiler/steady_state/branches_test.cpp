// Memory of tensors that only one side of a branch reads.
#include <gtest/gtest.h>

#include "runtime/tensor/tensor.h"
#include "tests/compiler/compiled_text.h"
#include "vm/interpreter/session.h"
#include "vm/loader/function_plan.h"
#include "vm/loader/linked.h"

namespace ingot {
namespace {

constexpr size_t kMatrix = 32 * 32 * sizeof(float);

std::string branching(const std::string& yes, const std::string& no) {
  return R"(def @main(%x: Tensor[(32, 32), float32], %w: Tensor[(32, 32), float32], %c: bool, %d: bool) {
    let %a = matmul(%x, %w);
    if (%c) { )" +
         yes + " } else { " + no + " }\n}";
}

Value matrix(float scale) {
  const std::vector<int64_t> dims = {32, 32};
  auto tensor = make_tensor(nullptr, DType::Float32, dims);
  for (size_t i = 0; i < 32 * 32; ++i) tensor->elements<float>()[i] = scale * static_cast<float>(i % 13) - 0.1f;
  return Value(std::move(tensor));
}

std::vector<float> elements_of(const Value& value) {
  const auto* tensor = value.get<TensorObject>();
  return {tensor->elements<float>(), tensor->elements<float>() + 32 * 32};
}

void expect_arena(const std::string& text, size_t matrices) {
  const auto executable = loaded_program(parsed_text(text));
  const auto plan = executable->plan(*executable->find("main"), {});
  size_t scratch = 0;
  for (const auto& kernel : plan->kernels)
    scratch = std::max(scratch, kernel.kernel ? kernel.kernel->scratch_bytes() : 0);
  EXPECT_LE(plan->memory.total, matrices * kMatrix + scratch) << text;
  EXPECT_GE(plan->memory.total, matrices * kMatrix) << text;
  const auto reference = loaded_program(parsed_text(text), "all", "reference");
  const auto fast = vm::Session::create(executable), slow = vm::Session::create(reference);
  for (const bool c : {false, true})
    for (const bool d : {false, true}) {
      const std::vector<Value> args = {matrix(0.01f), matrix(0.02f), Value::scalar(DType::Bool, c),
                                       Value::scalar(DType::Bool, d)};
      const auto a = elements_of(fast->run("main", args)), b = elements_of(slow->run("main", args));
      for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4f * std::abs(b[i]) + 1e-5f) << i;
    }
}

const std::string kThree = "matmul(matmul(matmul(%x, %w), %w), %w)";

TEST(Branches, WhatTheOtherSideReadsTakesNoPlace) {
  expect_arena(branching(kThree, "matmul(%a, %w)"), 2);
  expect_arena(branching("matmul(%a, %w)", kThree), 2);
}

TEST(Branches, WhatBothSidesReadDoes) { expect_arena(branching("matmul(" + kThree + ", %a)", "matmul(%a, %w)"), 3); }

TEST(Branches, NestedOnesToo) {
  expect_arena(branching(kThree, "if (%d) { " + kThree + " } else { matmul(%a, %w) }"), 2);
  expect_arena(branching("if (%d) { " + kThree + " } else { matmul(matmul(%a, %w), %w) }", "matmul(%a, %a)"), 2);
}

TEST(Branches, AcrossLoopsThingsStay) {
  const std::string text = R"(private def @loop(%x: Tensor[(32, 32), float32], %w: Tensor[(32, 32), float32], %k: int64)
      -> Tensor[(32, 32), float32] attrs {noinline=True} {
    let %a = matmul(%x, %w);
    if (%k == 0i64) { matmul(matmul(%x, %w), %w) } else { @loop(matmul(%a, %w), %w, %k - 1i64) }
  }
  def @main(%x: Tensor[(32, 32), float32], %w: Tensor[(32, 32), float32]) { @loop(%x, %w, 4i64) })";
  const std::vector<Value> args = {matrix(0.01f), matrix(0.02f)};
  const auto fast = vm::Session::create(loaded_program(parsed_text(text)));
  const auto slow = vm::Session::create(loaded_program(parsed_text(text), "all", "reference"));
  const auto a = elements_of(fast->run("main", args)), b = elements_of(slow->run("main", args));
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4f * std::abs(b[i]) + 1e-5f) << i;
}

}  // namespace
}  // namespace ingot
