#include <random>

#include <gmock/gmock.h>

#include "programs.h"
#include "runtime/tensor/tensor.h"
#include "vm/loader/function_plan.h"
#include "vm/loader/linked.h"

namespace ingot::vm::testing {
namespace {

using Dims = std::vector<int64_t>;

std::vector<PrimExpr> exprs(const Dims& dims) { return {dims.begin(), dims.end()}; }

KernelCall call_of(Contract contract, uint16_t inputs) {
  KernelCall call;
  call.contract = contract;
  call.inputs = inputs;
  return call;
}

KernelCall conv2d(int64_t padding) {
  KernelCall call = call_of(Contract::conv2d, 2);
  call.set("strides", Dims{1, 1});
  call.set("dilation", Dims{1, 1});
  call.set("padding", Dims(4, padding));
  call.set("groups", int64_t{1});
  call.set("has_bias", int64_t{0});
  return call;
}

std::vector<float> random_floats(size_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> floats(count);
  for (float& f : floats) f = uniform(engine);
  return floats;
}

Constant weight(const Dims& dims, const std::vector<float>& elements) {
  Constant constant;
  constant.kind = Kind::Tensor;
  constant.dtype = DType::Float32;
  constant.dims = dims;
  constant.bytes = std::as_bytes(std::span(elements));
  return constant;
}

const std::vector<float> kFirst = random_floats(8 * 3 * 3 * 3, 1);
const std::vector<float> kSecond = random_floats(8 * 8 * 3 * 3, 2);

// Two convolutions; what lies between them is in the arena. With `escapes`, it is also returned.
Program two_convolutions(bool escapes) {
  const StructInfo image = tensor_info(DType::Float32, exprs({2, 3, 9, 9}));
  FunctionBuilder main("main", {image}, tuple_info({tensor_info(DType::Float32, 4), tensor_info(DType::Float32, 4)}),
                       8);
  main.exported();
  const uint32_t inner = main.storage(DType::Float32, exprs({2, 8, 9, 9}));
  const uint32_t outer = main.storage(DType::Float32, exprs({2, 8, 7, 7}));
  CodeBuilder& code = main.code;
  code.emit(Opcode::Plan, RegisterList{});
  code.emit(Opcode::LoadConst, 1, 0);
  code.emit(Opcode::AllocTensor, 2, inner);
  code.emit(Opcode::CallKernel, 0, RegisterList{0, 1, 2});
  code.emit(Opcode::LoadConst, 3, 1);
  code.emit(Opcode::NewTensor, 4, outer);
  code.emit(Opcode::CallKernel, 1, RegisterList{2, 3, 4});
  if (escapes) {
    code.emit(Opcode::Own, 5, 2);
  } else {
    code.emit(Opcode::Copy, 5, 4);
  }
  code.emit(Opcode::Kill, 0);
  code.emit(Opcode::MakeTuple, 6, RegisterList{4, 5});
  code.emit(Opcode::Return, 6);
  Program program;
  program.constants = {weight({8, 3, 3, 3}, kFirst), weight({8, 8, 3, 3}, kSecond)};
  program.kernels = {conv2d(1), conv2d(0)};
  program.functions = {main.finish()};
  return program;
}

std::vector<float> field(const Value& tuple, size_t index) {
  const auto* tensor = static_cast<const TensorObject*>(tuple.get<TupleObject>()->fields()[index].object);
  EXPECT_EQ(tensor->layout, Layout::RowMajor);
  return {tensor->elements<float>(), tensor->elements<float>() + tensor->bytes / sizeof(float)};
}

Value run(const std::shared_ptr<const Executable>& executable) {
  const Dims dims = {2, 3, 9, 9};
  auto image = make_tensor(nullptr, DType::Float32, dims);
  const auto elements = random_floats(image->bytes / sizeof(float), 3);
  std::copy(elements.begin(), elements.end(), image->elements<float>());
  return Session::create(executable)->run("main", std::vector<Value>{Value(std::move(image))});
}

TEST(Layouts, TensorsBetweenSpatialKernelsLieChannelsLastAndNobodySeesIt) {
  LoadOptions reference;
  reference.kernels = "reference";
  for (const bool escapes : {false, true}) {
    const auto best = Executable::from_program(two_convolutions(escapes));
    const Layout between = best->linked().functions[0].layouts[0];
    EXPECT_EQ(between, escapes ? Layout::RowMajor : Layout::ChannelsLast);
    const Value actual = run(best);
    const Value expected = run(Executable::from_program(two_convolutions(escapes), reference));
    for (size_t i = 0; i < 2; ++i)
      EXPECT_THAT(field(actual, i), ::testing::Pointwise(::testing::FloatNear(1e-4f), field(expected, i)));
  }
}

TEST(Layouts, StaticFunctionsArePlannedWhenLoaded) {
  const auto executable = Executable::from_program(two_convolutions(false));
  EXPECT_GT(executable->packed_weight_bytes(), 0u);
  const auto plan = executable->plan(0, {});
  EXPECT_EQ(plan->kernels.size(), 2u);
  EXPECT_NE(plan->kernels[0].kernel, nullptr);
  EXPECT_GE(plan->memory.total, size_t{2 * 8 * 9 * 9 * 4});
}

TEST(Layouts, AKernelThatDoesNotFitFailsWhenItIsReached) {
  Program program = two_convolutions(false);
  program.kernels[1].set("padding", Dims(4, 5));
  const auto executable = Executable::from_program(std::move(program));
  try {
    run(executable);
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.code(), ErrorCode::ShapeMismatch);
    EXPECT_THAT(fault.what(), ::testing::HasSubstr("conv2d"));
  }
}

}  // namespace
}  // namespace ingot::vm::testing
