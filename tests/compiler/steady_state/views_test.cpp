// Operators that only say a tensor's shape anew: no element is copied, no kernel runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/tensor/tensor.h"
#include "tests/compiler/compiled_text.h"
#include "vm/interpreter/session.h"

namespace ingot {
namespace {

Value tensor_of(std::vector<int64_t> dims) {
  auto tensor = make_tensor(nullptr, DType::Float32, dims);
  for (size_t i = 0; i < tensor->bytes / sizeof(float); ++i) tensor->elements<float>()[i] = static_cast<float>(i);
  return Value(std::move(tensor));
}

struct Run {
  Value result;
  size_t kernels = 0;  // calls
};

Run run(const std::string& text, const std::vector<Value>& args) {
  const auto executable = loaded_program(parsed_text(text));
  vm::RunOptions options;
  options.profile = std::make_shared<vm::Profile>(vm::ProfileOptions{});
  Run run{vm::Session::create(executable)->run("main", args, options)};
  for (const vm::KernelTime& kernel : options.profile->kernels()) run.kernels += kernel.calls;
  return run;
}

const std::byte* data_of(const Value& value) { return value.get<TensorObject>()->data; }
const TensorObject& field(const Value& tuple, size_t i) {
  return *static_cast<const TensorObject*>(tuple.get<TupleObject>()->fields()[i].object);
}

TEST(Views, CopyNothing) {
  const Value x = tensor_of({2, 1, 6});
  for (const char* const body : {"reshape(%x, (3, 4))", "reshape(%x, (-1,))", "squeeze(%x)", "squeeze(%x, axis=[1])",
                                 "expand_dims(%x, axis=1)", "expand_dims(%x, axis=0, num_newaxis=2)", "flatten(%x)",
                                 "batch_flatten(%x)", "reshape(squeeze(%x), (12, 1))", "reverse_reshape(%x, (-1, 3))"})
    for (const char* const info : {"Tensor[(2, 1, 6), float32]", "Tensor[(n, 1, 6), float32]"}) {
      const auto [result, kernels] = run(fmt::format("def @main(%x: {}) {{ {} }}", info, body), {x});
      EXPECT_EQ(data_of(result), data_of(x)) << body << " of " << info;
      EXPECT_EQ(kernels, 0u) << body << " of " << info;
    }
}

TEST(Views, CopyNothingWhereSizesAreFoundOnTheWay) {
  const Value x = tensor_of({3, 4});
  const auto [result, kernels] = run(R"(def @main(%x: Tensor) {
    let %y = match_cast(%x, Tensor[(n, m), float32]);
    reshape(%y, shape(m * n))
  })",
                                     {x});
  EXPECT_EQ(data_of(result), data_of(x));
  EXPECT_EQ(kernels, 0u);
}

// One kernel before and one behind it; the view in between takes neither a kernel nor a place.
TEST(Views, TakeNoKernelBetweenOthers) {
  const auto [result, kernels] = run(R"(def @main(%x: Tensor[(4, 6), float32], %w: Tensor[(12, 5), float32]) {
    let %a = softmax(%x);
    let %b = reshape(%a, (2, 12));
    matmul(%b, %w)
  })",
                                     {tensor_of({4, 6}), tensor_of({12, 5})});
  EXPECT_EQ(kernels, 2u);
}

// Both see the same elements; neither is overwritten by what comes later.
TEST(Views, LetTheirTensorLive) {
  const Value x = tensor_of({2, 3});
  const auto [result, kernels] = run(R"(def @main(%x: Tensor[(2, 3), float32]) {
    let %y = reshape(%x, (3, 2));
    let %z = %y + 1f;
    (%y, reshape(%z, (6,)))
  })",
                                     {x});
  EXPECT_EQ(field(result, 0).data, data_of(x));
  EXPECT_EQ(kernels, 1u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(field(result, 0).elements<float>()[i], static_cast<float>(i));
    EXPECT_EQ(field(result, 1).elements<float>()[i], static_cast<float>(i) + 1);
  }
}

}  // namespace
}  // namespace ingot
