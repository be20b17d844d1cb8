// What a new shape costs, and that its results stay.
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>

#include <gtest/gtest.h>

#include "runtime/base/cpu.h"
#include "runtime/kernels/kernel.h"
#include "runtime/tensor/tensor.h"
#include "tests/compiler/compiled_text.h"
#include "vm/interpreter/session.h"
#include "vm/loader/function_plan.h"

namespace ingot {
namespace {

const char* const kChain = R"(def @main(%x: Tensor[(n, 32), float32], %w: Tensor[(32, 32), float32]) {
  softmax(tanh(matmul(%x, %w)) + %x)
})";

Value tensor_of(std::vector<int64_t> dims) {
  auto tensor = make_tensor(nullptr, DType::Float32, dims);
  const size_t count = tensor->bytes / sizeof(float);
  for (size_t i = 0; i < count; ++i) tensor->elements<float>()[i] = static_cast<float>(i % 11) * 0.125f - 0.5f;
  return Value(std::move(tensor));
}

std::vector<float> elements_of(const Value& value) {
  const auto tensor = to_tensor(nullptr, value);
  return {tensor->elements<float>(), tensor->elements<float>() + tensor->bytes / sizeof(float)};
}

// Bytes of memory with these rights that is no file: our code has r-xp, oneDNN's rwxp.
size_t bytes_with(std::string_view wanted) {
  std::ifstream maps("/proc/self/maps");
  size_t total = 0;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, file, path;
    words >> range >> rights >> offset >> device >> file >> path;
    if (rights != wanted || !path.empty()) continue;
    const size_t dash = range.find('-');
    total += std::stoull(range.substr(dash + 1), nullptr, 16) - std::stoull(range.substr(0, dash), nullptr, 16);
  }
  return total;
}

size_t code_bytes() { return bytes_with("r-xp"); }

void expect_close(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(std::isnan(a[i]), std::isnan(b[i])) << i;
    if (!std::isnan(a[i])) {
      ASSERT_NEAR(a[i], b[i], 1e-5f) << i;
    }
  }
}

// In whatever session, however often: users compare results of threads and of days.
TEST(Shapes, EachRunOfOneGivesTheSameBits) {
  const auto executable = loaded_program(parsed_text(kChain));
  const std::vector<Value> args = {tensor_of({20, 32}), tensor_of({32, 32})};
  const auto session = vm::Session::create(executable);
  const std::vector<float> first = elements_of(session->run("main", args));
  for (int i = 0; i < 40; ++i) ASSERT_EQ(elements_of(session->run("main", args)), first) << i;
  EXPECT_EQ(elements_of(vm::Session::create(executable)->run("main", args)), first);
  EXPECT_EQ(elements_of(vm::Session::create(loaded_program(parsed_text(kChain)))->run("main", args)), first);
}

// Of a program that takes [n, 32] and [32, 32].
void expect_shared_code(const std::string& text) {
  const auto executable = loaded_program(parsed_text(text));
  const auto reference = loaded_program(parsed_text(text), "", "reference");
  const auto session = vm::Session::create(executable), slow = vm::Session::create(reference);
  const auto run = [&](vm::Session& on, int64_t n) {
    return elements_of(on.run("main", std::vector<Value>{tensor_of({n, 32}), tensor_of({32, 32})}));
  };
  run(*session, 5);
  const size_t before = code_bytes();
  for (int64_t n = 1; n <= 40; ++n) expect_close(run(*session, n), run(*slow, n));
  EXPECT_LE(code_bytes(), before + (size_t{64} << 10));
}

TEST(Shapes, NewOnesShareTheCode) { expect_shared_code(kChain); }

// Dimensions that no result has.
TEST(Shapes, AreThoseOfInputsToo) {
  for (const char* body : {"mean(%x, axis=0)", "sum(%x)", "matmul(transpose(%x, axes=(1, 0)), %x)", "matmul(%w, %x)",
                           "softmax(matmul(%w, gelu(%x)))"}) {
    SCOPED_TRACE(body);
    const auto executable = loaded_program(parsed_text(
        "def @main(%x: Tensor[(n, 32), float32], %w: Tensor[(8, n), float32]) { " + std::string(body) + " }"));
    const auto plan = executable->plan(*executable->find("main"), std::vector<int64_t>{20}, SIZE_MAX);
    EXPECT_TRUE(plan->peak.whole);
    for (const vm::PlannedKernel& planned : plan->kernels) EXPECT_NE(planned.kernel, nullptr);
    const auto reference =
        loaded_program(parsed_text("def @main(%x: Tensor[(n, 32), float32], %w: Tensor[(8, n), float32]) { " +
                                   std::string(body) + " }"),
                       "", "reference");
    const auto session = vm::Session::create(executable), slow = vm::Session::create(reference);
    for (const int64_t n : {20, 1, 0, 33}) {
      const std::vector<Value> args = {tensor_of({n, 32}), tensor_of({8, n})};
      expect_close(elements_of(session->run("main", args)), elements_of(slow->run("main", args)));
    }
  }
}

// What no entry dimension changes.
TEST(Shapes, ShareWholeKernels) {
  const auto executable = loaded_program(parsed_text(
      "def @main(%x: Tensor[(n, 32), float32], %w: Tensor[(8, 8), float32]) { (softmax(%x), cumsum(cumsum(%w))) }"));
  const auto plan = [&](int64_t n) {
    return executable->plan(*executable->find("main"), std::vector<int64_t>{n}, SIZE_MAX);
  };
  const auto first = plan(20), second = plan(30);
  size_t shared = 0;
  for (size_t k = 0; k < first->kernels.size(); ++k) shared += first->kernels[k].kernel == second->kernels[k].kernel;
  EXPECT_EQ(first->kernels.size(), 3u);
  EXPECT_EQ(shared, 2u);
}

TEST(Shapes, FoundOnTheWayShareTheCode) {
  expect_shared_code(
      "def @main(%x: Tensor, %w: Tensor[(32, 32), float32]) { let %y = match_cast(%x, Tensor[(n, 32), float32]); "
      "softmax(tanh(matmul(%y, %w)) + %y) * mean(%y, axis=0) }");
}

// Kernels for all shapes, kernels for one, and tiles of matrix products.
TEST(Shapes, NoPageIsWritableAndExecutable) {
  if (detect_cpu() < Cpu::Avx2) GTEST_SKIP() << "no generated code on this machine";
  const size_t code = code_bytes(), both = bytes_with("rwxp");
  const auto executable = loaded_program(parsed_text(
      "def @main(%x: Tensor[(n, 32), float32], %w: Tensor[(32, 32), float32]) { transpose(softmax(matmul(%x, %w))) }"));
  const auto session = vm::Session::create(executable);
  for (const int64_t n : {3, 20, 70}) {
    session->run("main", std::vector<Value>{tensor_of({n, 32}), tensor_of({32, 32})});
    EXPECT_GT(code_bytes(), code);
    EXPECT_LE(bytes_with("rwxp"), both);
  }
}

// Far more shapes than plans are kept, of functions whose code needs the dimensions.
TEST(Shapes, CodeOfManyShapesStaysBounded) {
  const auto executable = loaded_program(parsed_text("def @main(%x: Tensor[(n, m), float32]) { transpose(%x) * 2f }"));
  const auto session = vm::Session::create(executable);
  const auto run = [&](int64_t n) {
    const Value x = tensor_of({n, 3});
    const std::vector<float> from = elements_of(x), to = elements_of(session->run("main", std::vector<Value>{x}));
    for (size_t i = 0; i < from.size(); ++i)
      ASSERT_EQ(to[i % 3 * static_cast<size_t>(n) + i / 3], 2 * from[i]) << n << ", " << i;
  };
  int64_t n = 1;
  while (n <= 100) run(n++);
  const size_t full = code_bytes();
  while (n <= 600) run(n++);
  EXPECT_LE(code_bytes(), full + (size_t{64} << 10));
}

}  // namespace
}  // namespace ingot
