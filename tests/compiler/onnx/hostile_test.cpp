#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/stack.h"
#include "tests/compiler/onnx/model.h"

namespace ingot::onnx_import::test {
namespace {

using testing::HasSubstr;

constexpr int32_t kFloat = onnx::TensorProto::FLOAT;
constexpr size_t kStack = size_t{512} << 20;

onnx::ModelProto one_input() {
  auto model = empty_model();
  set_tensor(*model.mutable_graph()->add_input(), "x", kFloat, {2});
  set_tensor(*model.mutable_graph()->add_output(), "y", kFloat, {2});
  return model;
}

TEST(OnnxHostile, ACycleIsNamed) {
  auto model = one_input();
  add_node(*model.mutable_graph(), "Add", {"x", "y"}, {"a"});
  add_node(*model.mutable_graph(), "Relu", {"a"}, {"y"});
  EXPECT_THAT(import_error(model), HasSubstr("'y' is used before node #1 (Relu) gives it"));
}

TEST(OnnxHostile, ANodeThatNeedsItselfIsNamed) {
  auto model = one_input();
  add_node(*model.mutable_graph(), "Relu", {"y"}, {"y"});
  EXPECT_THAT(import_error(model), HasSubstr("'y' is used before node #0 (Relu) gives it"));
}

TEST(OnnxHostile, ANameIsDefinedOnce) {
  auto model = one_input();
  add_node(*model.mutable_graph(), "Relu", {"x"}, {"y"});
  add_node(*model.mutable_graph(), "Abs", {"x"}, {"y"});
  EXPECT_THAT(import_error(model), HasSubstr("the name 'y' is defined twice"));
}

TEST(OnnxHostile, AMissingInputIsNamed) {
  auto model = one_input();
  add_node(*model.mutable_graph(), "Relu", {"nowhere"}, {"y"});
  EXPECT_THAT(import_error(model), HasSubstr("node #0 (Relu): 'nowhere' is not defined"));
  model.mutable_graph()->mutable_node(0)->clear_input();
  EXPECT_THAT(import_error(model), HasSubstr("node #0 (Relu)"));
}

TEST(OnnxHostile, AMissingOutputIsNamed) {
  auto model = one_input();
  EXPECT_THAT(import_error(model), HasSubstr("'y' is not defined"));
}

TEST(OnnxHostile, AFunctionThatCallsItselfIsRefused) {
  auto model = one_input();
  for (const char* names : {"ab", "ba"}) {
    auto& function = *model.add_functions();
    function.set_domain("own");
    function.set_name(std::string(1, names[0]));
    function.add_input("x");
    function.add_output("y");
    function.add_opset_import()->set_version(16);
    auto& node = *function.add_node();
    node.set_op_type(std::string(1, names[1]));
    node.set_domain("own");
    node.add_input("x");
    node.add_output("y");
  }
  model.add_opset_import()->set_domain("own");
  add_node(*model.mutable_graph(), "a", {"x"}, {"y"}).set_domain("own");
  EXPECT_THAT(import_error(model), HasSubstr("the function 'a' calls itself"));
}

TEST(OnnxHostile, FunctionsThatDoubleEachTimeAreRefusedOrEnd) {
  auto model = one_input();
  for (int i = 0; i < 40; ++i) {
    auto& function = *model.add_functions();
    function.set_domain("own");
    function.set_name("f" + std::to_string(i));
    function.add_input("x");
    function.add_output("y");
    function.add_opset_import()->set_version(16);
    for (int k = 0; k < 2; ++k) {
      auto& node = *function.add_node();
      node.set_op_type(i == 0 ? "Relu" : "f" + std::to_string(i - 1));
      if (i > 0) node.set_domain("own");
      node.add_input(k == 0 ? "x" : "t");
      node.add_output(k == 0 ? "t" : "y");
    }
  }
  model.add_opset_import()->set_domain("own");
  add_node(*model.mutable_graph(), "f39", {"x"}, {"y"}).set_domain("own");
  EXPECT_THAT(import_error(model), HasSubstr("Unsupported"));
}

// Ifs inside of one another.
onnx::ModelProto nested(int depth) {
  auto model = one_input();
  set_tensor(*model.mutable_graph()->add_input(), "c", onnx::TensorProto::BOOL, {});
  onnx::GraphProto* graph = model.mutable_graph();
  for (int i = 0; i < depth; ++i) {
    const std::string name = i == 0 ? "y" : "y" + std::to_string(i);
    auto& node = add_node(*graph, "If", {"c"}, {name});
    auto& otherwise = add_graph(node, "else_branch");
    add_node(otherwise, "Abs", {"x"}, {"e" + std::to_string(i)});
    otherwise.add_output()->set_name("e" + std::to_string(i));
    graph = &add_graph(node, "then_branch");
    graph->add_output()->set_name(i + 1 == depth ? "t" : "y" + std::to_string(i + 1));
  }
  add_node(*graph, "Relu", {"x"}, {"t"});
  return model;
}

TEST(OnnxHostile, DeepNestsEndInAnError) {
  run_with_stack(kStack, [] {
    EXPECT_THAT(import_error(nested(1000)), HasSubstr("graphs are nested more than 200 deep"));
    EXPECT_EQ(import_error(nested(40)), "");
  });
}

TEST(OnnxHostile, AHundredThousandNodesTakeLinearTime) {
  const auto chain = [](int count) {
    auto model = one_input();
    for (int i = 0; i < count; ++i)
      add_node(*model.mutable_graph(), "Relu", {i == 0 ? "x" : "t" + std::to_string(i - 1)},
               {i + 1 == count ? "y" : "t" + std::to_string(i)});
    return model;
  };
  const auto model = chain(100'000);
  EXPECT_LT(processor_seconds([&] { EXPECT_EQ(import_error(model), ""); }), 10);
}

// x0, x1, ... go in; `op` takes the first `operands` of them.
onnx::ModelProto many_inputs(int count, std::string_view op, int operands) {
  auto model = empty_model();
  auto& node = add_node(*model.mutable_graph(), std::string(op), {}, {"y"});
  for (int i = 0; i < operands; ++i) node.add_input("x" + std::to_string(i));
  for (int i = 0; i < count; ++i) set_tensor(*model.mutable_graph()->add_input(), "x" + std::to_string(i), kFloat, {2});
  set_tensor(*model.mutable_graph()->add_output(), "y", kFloat, {2});
  return model;
}

TEST(OnnxHostile, SixtyThousandInputsTakeLinearTime) {
  const auto one = many_inputs(60'000, "Identity", 1);
  EXPECT_LT(processor_seconds([&] { EXPECT_EQ(import_error(one), ""); }), 10);
  auto all = many_inputs(60'000, "Concat", 60'000);
  auto& axis = *all.mutable_graph()->mutable_node(0)->add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  EXPECT_LT(processor_seconds([&] { EXPECT_EQ(import_error(all), ""); }), 10);
}

TEST(OnnxHostile, AHundredThousandInputsAreTooMany) {
  EXPECT_THAT(import_error(many_inputs(100'000, "Identity", 1)), HasSubstr("inputs that are no initializers, at most"));
}

TEST(OnnxHostile, ATensorSmallerThanItsShapeSays) {
  auto model = one_input();
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(kFloat);
  tensor.add_dims(int64_t{1} << 40);
  tensor.set_raw_data("abcd");
  add_node(*model.mutable_graph(), "Relu", {"x"}, {"y"});
  EXPECT_THAT(import_error(model), HasSubstr("CorruptFile"));
  tensor.set_dims(0, -1);
  EXPECT_NE(import_error(model), "");
  tensor.set_dims(0, INT64_MAX);
  tensor.add_dims(INT64_MAX);
  EXPECT_NE(import_error(model), "");
}

TEST(OnnxHostile, ASparseTensorIsNotLargerThanMemory) {
  auto model = one_input();
  auto& sparse = *model.mutable_graph()->add_sparse_initializer();
  sparse.mutable_values()->set_name("w");
  sparse.mutable_values()->set_data_type(kFloat);
  sparse.mutable_values()->add_dims(0);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(0);
  sparse.add_dims(int64_t{1} << 42);
  add_node(*model.mutable_graph(), "Relu", {"x"}, {"y"});
  EXPECT_THAT(import_error(model), HasSubstr("Unsupported"));
}

}  // namespace
}  // namespace ingot::onnx_import::test
