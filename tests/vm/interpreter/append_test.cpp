#include <gmock/gmock.h>

#include "programs.h"

namespace ingot::vm::testing {
namespace {

using ::testing::HasSubstr;

const StructInfo kInt = scalar_info(DType::Int32);

std::vector<int32_t> numbers(const Slot& tuple) {
  std::vector<int32_t> result;
  for (const Slot& field : static_cast<const TupleObject*>(tuple.object)->fields())
    result.push_back(field.as<int32_t>());
  return result;
}

// main(x) = (s, t, u): s = (x,), t = s with x behind it `times` times, u = t with x behind it; s and t stay as they
// are.
Program growing_program(int32_t times) {
  FunctionBuilder main("main", {kInt}, object_info(), 8);
  main.exported();
  CodeBuilder& code = main.code;
  code.emit(Opcode::Copy, 1, 0);
  code.emit(Opcode::MakeTuple, 2, RegisterList{1});
  code.emit(Opcode::Copy, 3, 2);
  for (int32_t i = 0; i < times; ++i) {
    code.emit(Opcode::Copy, 1, 0);
    code.emit(Opcode::Append, 4, 3, 1);
    code.emit(Opcode::Move, 3, 4);
  }
  code.emit(Opcode::Copy, 4, 3);
  code.emit(Opcode::Append, 5, 4, 0);
  code.emit(Opcode::MakeTuple, 6, RegisterList{2, 3, 5});
  code.emit(Opcode::Return, 6);
  Program program;
  program.functions = {main.finish()};
  return program;
}

TEST(Append, GrowsWhatNobodyElseHolds) {
  for (const int32_t count : {0, 1, 3, 4, 5, 100}) {
    const Value result = run_one<int32_t>(*session_of(growing_program(count)), "main", {7});
    const auto fields = result.get<TupleObject>()->fields();
    ASSERT_EQ(fields.size(), 3U);
    std::vector<int32_t> all(static_cast<size_t>(count) + 1, 7);
    EXPECT_EQ(numbers(fields[0]), std::vector<int32_t>{7});
    EXPECT_EQ(numbers(fields[1]), all);
    all.push_back(7);
    EXPECT_EQ(numbers(fields[2]), all);
  }
}

// What another session, or the host, holds as well is copied.
TEST(Append, LeavesArgumentsAlone) {
  FunctionBuilder main("main", {object_info(), kInt}, object_info(), 5);
  main.exported();
  main.code.emit(Opcode::Own, 2, 0);
  main.code.emit(Opcode::Copy, 3, 1);
  main.code.emit(Opcode::Append, 4, 2, 3);
  main.code.emit(Opcode::Return, 4);
  Program program;
  program.functions = {main.finish()};
  const auto session = session_of(std::move(program));
  Value field = Value::scalar(DType::Int32, 1);
  const Value given(make_tuple(nullptr, {&field, 1}));
  const Value result = session->run("main", std::vector{given, Value::scalar(DType::Int32, 2)});
  EXPECT_EQ(numbers(result.slot()), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(numbers(given.slot()), std::vector<int32_t>{1});
  try {
    session->run("main", std::vector{Value::scalar(DType::Int32, 1), Value::scalar(DType::Int32, 2)});
    FAIL() << "a scalar is no sequence";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::TypeError);
    EXPECT_THAT(error.what(), HasSubstr("append: the sequence is a"));
  }
}

}  // namespace
}  // namespace ingot::vm::testing
