#include <gmock/gmock.h>

#include "example_programs.h"
#include <ingot/ingot.hpp>

namespace ingot::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Embedding, LoadsRunsAndReads) {
  const auto bytes = vm::testing::mlp_bytes();

  const auto model = Executable::load(bytes);
  Session session(model);
  const std::vector<float> pixels = {1, 2, 3, 4, 5, 6};
  session.set("a", Value::tensor<float>(pixels, {2, 3}));
  session.run();
  const Value y = session.output(0);

  EXPECT_THAT(y.elements<float>(), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(y.dims(), ElementsAre(2, 2));
  EXPECT_EQ(y.to_string(2), "2x2xf32=4 5 ...");
  EXPECT_EQ(model.signature("main"), "fn(Tensor[(n, 3), float32]) -> Tensor[(n, 2), float32]");
}

TEST(Embedding, ThrowsWhatTheLibraryReports) {
  const auto model = Executable::load(vm::testing::mlp_bytes());
  Session session(model);
  EXPECT_THROW(session.set("b", Value::scalar(1.0f)), Error);
  session.set("a", Value::scalar(1.0f));
  try {
    session.run();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), INGOT_SHAPE_MISMATCH);
    EXPECT_EQ(error.label(), "ShapeMismatch");
    EXPECT_STREQ(error.what(), "@main: %a has rank 0 (shape ()), expected 2");
    EXPECT_THAT(error.backtrace(), HasSubstr("at @main"));
  }
}

TEST(Embedding, ResultsOutliveSessionAndExecutable) {
  Value y;
  {
    Session session(Executable::load(vm::testing::mlp_bytes()));
    session.set(0, Value::tensor<float>(std::vector<float>{1, 2, 3}, {1, 3}));
    session.run();
    y = session.output(0);
  }
  EXPECT_THAT(y.elements<float>(), ElementsAre(4, 5));
}

TEST(Embedding, TrimGivesMemoryBack) {
  Session session(Executable::load(vm::testing::mlp_bytes()));
  const Value a = Value::tensor<float>(std::vector<float>(3000), {1000, 3});
  session.set(0, a);
  session.run();
  EXPECT_GT(session.memory().kept, 0u);
  session.trim();
  EXPECT_EQ(session.memory().kept, 0u);
  session.run();
  EXPECT_EQ(session.output(0).dims()[0], 1000);
}

TEST(Embedding, ValuesOfAllKindsGoInAndOut) {
  EXPECT_EQ(Value::scalar(int64_t{3}).item<int64_t>(), 3);
  EXPECT_EQ(Value::prim(4).prim_int(), 4);
  EXPECT_EQ(Value::text("hello").text(), "hello");
  const std::vector<int64_t> dims = {2, 5};
  EXPECT_THAT(Value::shape(dims).dims(), ElementsAre(2, 5));
  const std::vector<Value> fields = {Value::prim(1), Value::text("x")};
  const Value tuple = Value::tuple(fields);
  ASSERT_EQ(tuple.tuple_size(), 2u);
  EXPECT_EQ(tuple.field(1).text(), "x");
  EXPECT_THROW(tuple.field(2), Error);
  EXPECT_THROW(Value::prim(1).text(), Error);
}

TEST(Embedding, PackedFuncsOfTheHostAreCalled) {
  vm::testing::FunctionBuilder main("main", {tensor_info(DType::Float32)}, object_info(), 3);
  main.exported();
  main.code.emit(vm::Opcode::Own, 2, 0);
  main.code.emit(vm::Opcode::CallPacked, 1, 0, vm::RegisterList{2});
  main.code.emit(vm::Opcode::Kill, 2);
  main.code.emit(vm::Opcode::Return, 1);
  vm::Program program;
  program.functions = {main.finish()};
  program.imports = {{"host.keep", {}}};
  const auto model = Executable::load(vm::write_program(program));
  Session session(model);
  session.set(0, Value::tensor<float>(std::vector<float>{1, 2}, {2}));
  EXPECT_THROW(session.run(), Error);
  Value kept;
  session.add("host.keep", [&](std::span<const Value> args) {
    kept = args[0];
    return Value::prim(static_cast<int64_t>(args[0].elements<float>().size()));
  });
  session.run();
  EXPECT_EQ(session.result().prim_int(), 2);
  EXPECT_THAT(kept.elements<float>(), ElementsAre(1, 2));
  session.add("host.keep", [](std::span<const Value>) -> Value { throw std::runtime_error("not today"); });
  try {
    session.run();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), INGOT_FOREIGN_ERROR);
    EXPECT_STREQ(error.what(), "host.keep: not today");
  }
}

// A setting of the process, so the host makes it; runs are the same whatever it is.
TEST(Embedding, BoundsTheCacheOfPrimitives) {
  set_primitive_cache_capacity(0);
  Session session(Executable::load(vm::testing::mlp_bytes()));
  session.set("a", Value::tensor<float>(std::vector<float>{1, 2, 3}, {1, 3}));
  session.run();
  EXPECT_THAT(session.output(0).elements<float>(), ElementsAre(4, 5));
  set_primitive_cache_capacity(1024);
  EXPECT_THROW(set_primitive_cache_capacity(SIZE_MAX), Error);
}

}  // namespace
}  // namespace ingot::api
