#include "runtime/tensor/dlpack.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor_text.h"

namespace ingot::dlpack {
namespace {

// A tensor of another library that counts how often it is released.
struct Foreign {
  std::vector<float> elements{1, 2, 3, 4, 5, 6, 7};
  std::vector<int64_t> shape{2, 3};
  std::vector<int64_t> strides;
  ManagedTensor managed{};
  int released = 0;

  ManagedTensor* get() {
    managed.tensor = {elements.data(),
                      {kDeviceCpu, 0},
                      static_cast<int32_t>(shape.size()),
                      {TypeCode::Float, 32, 1},
                      shape.data(),
                      strides.empty() ? nullptr : strides.data(),
                      0};
    managed.context = this;
    managed.deleter = [](ManagedTensor* self) { ++static_cast<Foreign*>(self->context)->released; };
    return &managed;
  }
};

template <typename Change>
void expect_refused(ErrorCode code, const std::string& text, Change change) {
  Foreign foreign;
  change(*foreign.get());
  try {
    import_tensor(nullptr, &foreign.managed);
    ADD_FAILURE() << "no error, wanted: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(std::string(error.what()), text);
  }
  EXPECT_EQ(foreign.released, 0) << "what was refused still belongs to the caller";
}

TEST(DLPack, DenseTensorsAreNotCopied) {
  Foreign foreign;
  for (const std::vector<int64_t>& strides : {std::vector<int64_t>{}, {3, 1}}) {
    foreign.strides = strides;
    foreign.released = 0;
    auto tensor = import_tensor(nullptr, foreign.get());
    EXPECT_EQ(tensor->data, reinterpret_cast<std::byte*>(foreign.elements.data()));
    EXPECT_EQ(tensor_text(*tensor), "2x3xf32=1 2 3 4 5 6");
    auto second = tensor;
    tensor = {};
    EXPECT_EQ(foreign.released, 0);
    second = {};
    EXPECT_EQ(foreign.released, 1);
  }
}

TEST(DLPack, StridedTensorsAreCopied) {
  Foreign foreign;
  foreign.strides = {1, 2};
  EXPECT_EQ(tensor_text(*import_tensor(nullptr, foreign.get())), "2x3xf32=1 3 5 2 4 6");
  EXPECT_EQ(foreign.released, 1);
  foreign.strides = {0, 1};
  EXPECT_EQ(tensor_text(*import_tensor(nullptr, foreign.get())), "2x3xf32=1 2 3 1 2 3");
  foreign.strides = {-3, -1};
  foreign.get()->tensor.byte_offset = 5 * sizeof(float);
  EXPECT_EQ(tensor_text(*import_tensor(nullptr, &foreign.managed)), "2x3xf32=6 5 4 3 2 1");
}

TEST(DLPack, OffsetsCountBytesAndMisalignedTensorsAreCopied) {
  Foreign foreign;
  foreign.get()->tensor.byte_offset = 4;
  EXPECT_EQ(tensor_text(*import_tensor(nullptr, &foreign.managed)), "2x3xf32=2 3 4 5 6 7");
  foreign.get()->tensor.byte_offset = 2;
  EXPECT_NE(import_tensor(nullptr, &foreign.managed)->data, reinterpret_cast<std::byte*>(foreign.elements.data()) + 2);
  EXPECT_EQ(foreign.released, 2);
}

TEST(DLPack, OddTensorsAreRefused) {
  expect_refused(ErrorCode::Unsupported,
                 "the DLPack tensor lies on a device of type 2; only the CPU's memory (1) is read",
                 [](ManagedTensor& managed) { managed.tensor.device.type = 2; });
  expect_refused(ErrorCode::Unsupported, "DLPack elements of code 2, 32 bits and 4 lanes have no dtype here",
                 [](ManagedTensor& managed) { managed.tensor.dtype.lanes = 4; });
  expect_refused(ErrorCode::InvalidArgument, "the DLPack tensor has rank -1; 0 to 64 are allowed",
                 [](ManagedTensor& managed) { managed.tensor.ndim = -1; });
  expect_refused(ErrorCode::InvalidArgument, "the DLPack tensor has no data",
                 [](ManagedTensor& managed) { managed.tensor.data = nullptr; });
  expect_refused(ErrorCode::ShapeMismatch, "shape (-2, 3) has the negative dimension -2",
                 [](ManagedTensor& managed) { managed.tensor.shape[0] = -2; });
}

TEST(DLPack, ExportsRoundTripForEveryDType) {
  for (const std::string_view text :
       {"2x3xf32=1 2 3 4 5 6", "f64=2", "2xbool=0 1", "0x2xi8=", "2xbf16=1 2", "2xf16=1 2", "2xu64=1 2", "1xi16=7"}) {
    auto tensor = parse_tensor(text);
    const auto* data = tensor->data;
    ManagedTensor* exported = export_tensor(std::move(tensor));
    EXPECT_EQ(exported->tensor.data, data);
    EXPECT_EQ(tensor_text(*import_tensor(nullptr, exported)), text);
  }
}

TEST(DLPack, TheDeleterMayRunInAnotherThread) {
  auto tensor = parse_tensor("2xf32=1 2");
  ManagedTensor* exported = export_tensor(tensor);
  EXPECT_EQ(tensor->count, 2u);
  std::thread([exported] { exported->deleter(exported); }).join();
  EXPECT_EQ(tensor->count, 1u);
}

TEST(DLPack, TensorsThatMayVanishAreCopied) {
  auto tensor = parse_tensor("1x2x2xi32=1 2 3 4");
  tensor->layout = Layout::ChannelsLast;
  tensor->counting = Counting::Uncounted;
  ManagedTensor* exported = export_tensor(tensor);
  EXPECT_NE(exported->tensor.data, tensor->data);
  EXPECT_EQ(tensor_text(*import_tensor(nullptr, exported)), "1x2x2xi32=1 3 2 4");
  destroy(tensor.detach());
}

TEST(DLPack, StringsCannotLeave) { EXPECT_THROW(export_tensor(parse_tensor("str=\"a\"")), Error); }

}  // namespace
}  // namespace ingot::dlpack
