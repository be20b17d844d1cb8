#include "runtime/tensor/tensor.h"

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/object/objects.h"

namespace ingot {
namespace {

using Dims = std::vector<int64_t>;

template <typename F>
void expect_error(ErrorCode code, const std::string& text, F&& run) {
  try {
    run();
    ADD_FAILURE() << "no error, wanted: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(std::string(error.what()), text);
  }
}

TEST(Tensor, CountsElementsAndBytes) {
  EXPECT_EQ(element_count({}), 1u);
  EXPECT_EQ(element_count(Dims{2, 3}), 6u);
  EXPECT_EQ(element_count(Dims{2, 0}), 0u);
  EXPECT_EQ(byte_size(DType::Float16, Dims{2, 3}), 12u);
  expect_error(ErrorCode::ShapeMismatch, "shape (2, -1) has the negative dimension -1", [] {
    element_count(Dims{2, -1});
  });
  expect_error(ErrorCode::ShapeMismatch, "shape (4294967296, 4294967296) has more than 2^63 - 1 elements", [] {
    element_count(Dims{1LL << 32, 1LL << 32});
  });
  EXPECT_THROW(element_count(Dims{0, 1LL << 32, 1LL << 32}), Error);
  EXPECT_THROW(byte_size(DType::Float32, Dims{1LL << 61}), Error);
  EXPECT_THROW(element_count(Dims(65, 1)), Error);
}

TEST(Tensor, ShapesPrintAsTuples) {
  EXPECT_EQ(shape_text({}), "()");
  EXPECT_EQ(shape_text(Dims{2}), "(2,)");
  EXPECT_EQ(shape_text(Dims{2, 3}), "(2, 3)");
}

TEST(Tensor, OwnsAlignedElements) {
  for (const Dims& dims : {Dims{}, Dims{3}, Dims{2, 3, 5}, Dims{0, 4}}) {
    auto tensor = make_tensor(nullptr, DType::Int64, dims);
    EXPECT_EQ(Dims(tensor->dims().begin(), tensor->dims().end()), dims);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data) % kTensorAlignment, 0u);
    EXPECT_EQ(tensor->bytes, element_count(dims) * 8);
    std::fill_n(tensor->elements<int64_t>(), element_count(dims), 7);
  }
}

TEST(Tensor, WrapsForeignMemoryAndReleasesIt) {
  auto memory = std::make_shared<std::vector<float>>(6, 1.5f);
  std::weak_ptr<std::vector<float>> watch = memory;
  auto* data = reinterpret_cast<std::byte*>(memory->data());
  auto tensor = wrap_tensor(nullptr, DType::Float32, Dims{2, 3}, data, std::move(memory));
  EXPECT_EQ(tensor->elements<float>()[5], 1.5f);
  auto view = make_view(nullptr, std::move(tensor), Dims{6});
  EXPECT_FALSE(watch.expired());
  view = {};
  EXPECT_TRUE(watch.expired());
  expect_error(ErrorCode::InvalidArgument, "strings cannot be wrapped: their tensors own them",
               [] { wrap_tensor(nullptr, DType::String, Dims{0}, nullptr, nullptr); });
}

TEST(Tensor, ViewsKeepTheRootAlive) {
  auto root = make_tensor(nullptr, DType::Int32, Dims{2, 6});
  std::iota(root->elements<int32_t>(), root->elements<int32_t>() + 12, 0);
  root->read_only = true;
  const auto* root_object = root.get();
  auto view = make_view(nullptr, make_view(nullptr, std::move(root), Dims{12}), Dims{3, 4});
  EXPECT_EQ(view->base.get(), root_object);
  EXPECT_EQ(root_object->count, 1u);
  EXPECT_TRUE(view->read_only);
  EXPECT_EQ(view->elements<int32_t>()[11], 11);
  expect_error(ErrorCode::ShapeMismatch,
               "a tensor of shape (3, 4) has 12 elements and cannot be viewed as (5,), which has 5",
               [&] { make_view(nullptr, view, Dims{5}); });
}

TEST(Tensor, CopiesComeOutRowMajor) {
  auto tensor = make_tensor(nullptr, DType::Int16, Dims{2, 3, 2, 2});
  // Element (n, c, p) holds 100 n + 10 c + p.
  int16_t* out = tensor->elements<int16_t>();
  for (int n = 0; n < 2; ++n)
    for (int p = 0; p < 4; ++p)
      for (int c = 0; c < 3; ++c) *out++ = static_cast<int16_t>(100 * n + 10 * c + p);
  tensor->layout = Layout::ChannelsLast;
  auto copy = copy_tensor(nullptr, *tensor);
  EXPECT_EQ(copy->layout, Layout::RowMajor);
  const int16_t* in = copy->elements<int16_t>();
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 3; ++c)
      for (int p = 0; p < 4; ++p) EXPECT_EQ(*in++, 100 * n + 10 * c + p);
}

TEST(Tensor, StringTensorsOwnTheirStrings) {
  auto text = make_string(nullptr, "x");
  auto tensor = make_tensor(nullptr, DType::String, Dims{2});
  EXPECT_EQ(tensor->elements<StringObject*>()[1], nullptr);
  tensor->elements<StringObject*>()[0] = Ref(text).detach();
  auto copy = copy_tensor(nullptr, *tensor);
  EXPECT_EQ(text->count, 3u);
  auto view = make_view(nullptr, copy, Dims{2, 1});
  copy = {};
  tensor = {};
  EXPECT_EQ(text->count, 2u);
  view = {};
  EXPECT_EQ(text->count, 1u);
}

TEST(Tensor, RankZeroBecomesAScalar) {
  auto tensor = make_tensor(nullptr, DType::Bool, {});
  tensor->data[0] = std::byte{0x80};
  const Value value = to_value(tensor);
  EXPECT_EQ(value.kind(), Kind::Scalar);
  EXPECT_EQ(value.slot().dtype, DType::Bool);
  EXPECT_EQ(value.slot().bits, 1u);

  auto back = to_tensor(nullptr, Value::scalar(DType::Float64, 2.5));
  EXPECT_EQ(back->rank, 0u);
  EXPECT_EQ(*back->elements<double>(), 2.5);

  auto vector = make_tensor(nullptr, DType::Float32, Dims{1});
  const Value same = to_value(vector);
  EXPECT_EQ(same.get<TensorObject>(), vector.get());
  EXPECT_EQ(to_tensor(nullptr, same).get(), vector.get());
  expect_error(ErrorCode::TypeError, "a tensor is wanted, not a prim value",
               [] { to_tensor(nullptr, Value::prim(int64_t{1})); });
}

}  // namespace
}  // namespace ingot
