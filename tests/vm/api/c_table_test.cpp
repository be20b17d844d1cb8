#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "example_programs.h"
#include <ingot/ingot.h>

// The C table as a C program uses it.
namespace {

using ingot::vm::testing::mlp_bytes;
using ::testing::HasSubstr;

const ingot_api& api() { return *ingot_get_api(INGOT_API_VERSION); }

struct ErrorText {
  ingot_status status = INGOT_INTERNAL;
  std::string message;
};

ErrorText take(ingot_error* error) {
  if (error == nullptr) return {INGOT_INTERNAL, "no error"};
  ErrorText text{api().error_status(error), api().error_message(error)};
  api().error_destroy(error);
  return text;
}

class CTable : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto bytes = mlp_bytes();
    ASSERT_EQ(api().load_memory(bytes.data(), bytes.size(), nullptr, &executable_), nullptr);
    ASSERT_EQ(api().session_create(executable_, nullptr, &session_), nullptr);
  }
  void TearDown() override {
    api().session_destroy(session_);
    api().executable_destroy(executable_);
  }

  ingot_executable* executable_ = nullptr;
  ingot_session* session_ = nullptr;
};

TEST(ApiVersion, OlderOnesAreServedNewerOnesAreNot) {
  EXPECT_NE(ingot_get_api(1), nullptr);
  EXPECT_EQ(ingot_get_api(INGOT_API_VERSION + 1), nullptr);
  EXPECT_EQ(api().version, INGOT_API_VERSION);
}

TEST_F(CTable, TellsSignatures) {
  ASSERT_EQ(api().function_count(executable_), 1u);
  EXPECT_STREQ(api().function_name(executable_, 0), "main");
  EXPECT_EQ(api().function_name(executable_, 1), nullptr);
  ASSERT_EQ(api().param_count(executable_, 0), 1u);
  EXPECT_STREQ(api().param_name(executable_, 0, 0), "a");
  EXPECT_STREQ(api().param_info(executable_, 0, 0), "Tensor[(n, 3), float32]");
}

TEST_F(CTable, RunsAndShowsTheOutput) {
  const std::array<int64_t, 2> dims = {2, 3};
  std::array<float, 6> elements = {1, 2, 3, 4, 5, 6};
  const ingot_tensor tensor = {INGOT_FLOAT32, 2, dims.data(), elements.data()};
  ingot_value* x = nullptr;
  ASSERT_EQ(api().value_from_tensor(&tensor, &x), nullptr);
  ASSERT_EQ(api().set_input(session_, "main", 0, x), nullptr);
  api().value_destroy(x);
  ASSERT_EQ(api().run(session_, "main", nullptr), nullptr);
  size_t count = 0;
  ASSERT_EQ(api().output_count(session_, &count), nullptr);
  EXPECT_EQ(count, 1u);
  ingot_value* y = nullptr;
  ASSERT_EQ(api().output(session_, 0, &y), nullptr);
  ingot_tensor view = {};
  ASSERT_EQ(api().value_tensor(y, &view), nullptr);
  ASSERT_EQ(view.rank, 2u);
  EXPECT_EQ(view.dims[0], 2);
  EXPECT_EQ(view.dims[1], 2);
  const auto* data = static_cast<const float*>(view.data);
  EXPECT_THAT(std::vector<float>(data, data + 4), ::testing::ElementsAre(1 + 3, 2 + 3, 4 + 6, 5 + 6));
  std::string text;
  const auto append = [](void* context, const char* t, size_t n) { static_cast<std::string*>(context)->append(t, n); };
  ASSERT_EQ(api().value_print(y, 0, append, &text), nullptr);
  EXPECT_EQ(text, "2x2xf32=4 5 10 11");
  api().value_destroy(y);
}

TEST_F(CTable, ReportsErrors) {
  EXPECT_THAT(take(api().run(session_, "main", nullptr)).message,
              HasSubstr("input %a was not set; it is Tensor[(n, 3), float32]"));
  EXPECT_THAT(take(api().run(session_, "other", nullptr)).message, HasSubstr("exports @main"));
  ingot_value* out = nullptr;
  EXPECT_EQ(take(api().output(session_, 0, &out)).status, INGOT_INVALID_ARGUMENT);
  const std::array<int64_t, 2> dims = {2, 4};
  std::array<float, 8> elements = {};
  const ingot_tensor tensor = {INGOT_FLOAT32, 2, dims.data(), elements.data()};
  ingot_value* x = nullptr;
  ASSERT_EQ(api().value_from_tensor(&tensor, &x), nullptr);
  ASSERT_EQ(api().set_input(session_, "main", 0, x), nullptr);
  EXPECT_EQ(take(api().set_input(session_, "main", 1, x)).status, INGOT_ARITY_MISMATCH);
  api().value_destroy(x);
  const ErrorText wrong = take(api().run(session_, "main", nullptr));
  EXPECT_EQ(wrong.status, INGOT_SHAPE_MISMATCH);
  EXPECT_EQ(wrong.message, "@main: %a has dimension 1 = 4, expected 3");
  ingot_executable* broken = nullptr;
  EXPECT_EQ(take(api().load_memory("nonsense", 8, nullptr, &broken)).status, INGOT_CORRUPT_FILE);
  EXPECT_EQ(take(api().load_file("/nowhere/x.ingot", nullptr, &broken)).status, INGOT_IO);
  EXPECT_EQ(take(api().load_file(nullptr, nullptr, &broken)).status, INGOT_INVALID_ARGUMENT);
}

TEST_F(CTable, WrapsMemoryOfTheHostAndReleasesIt) {
  const std::array<int64_t, 2> dims = {1, 3};
  std::array<float, 3> elements = {1, 2, 3};
  const ingot_tensor tensor = {INGOT_FLOAT32, 2, dims.data(), elements.data()};
  bool released = false;
  ingot_value* x = nullptr;
  const auto release = [](void* context) { *static_cast<bool*>(context) = true; };
  ASSERT_EQ(api().value_wrap_tensor(&tensor, &released, release, &x), nullptr);
  ingot_tensor view = {};
  ASSERT_EQ(api().value_tensor(x, &view), nullptr);
  EXPECT_EQ(view.data, elements.data());
  EXPECT_FALSE(released);
  api().value_destroy(x);
  EXPECT_TRUE(released);
}

}  // namespace
