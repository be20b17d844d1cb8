#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>

#include <sys/wait.h>

#include <gtest/gtest.h>

#include "compiler/evaluator/evaluator.h"
#include "runtime/base/stack.h"
#include "runtime/tensor/value_text.h"
#include "tests/compiler/compiled_text.h"
#include "tests/counting_new.h"
#include "vm/interpreter/session.h"

// Compilation takes time and memory in proportion to the program, however long or deeply nested. INGOT_SOAK=1 measures
// the full sizes as well.

namespace ingot {
namespace {

using Make = std::string (*)(size_t size);

template <typename Line>
std::string repeated(size_t count, const Line& line) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += line(i);
  return text;
}

std::string tensor_bindings(size_t n) {
  return "def @main(%v0: Tensor[(n, 4), float32]) {\n" +
         repeated(n,
                  [](size_t i) {
                    return fmt::format("let %v{} = {}(%v{}{});\n", i + 1, i % 3 == 0 ? "relu" : "add", i,
                                       i % 3 == 0 ? "" : ", %v0");
                  }) +
         fmt::format("%v{}\n}}\n", n);
}
std::string scalar_bindings(size_t n) {
  return "def @main(%v0: int32) -> int32 {\n" +
         repeated(n, [](size_t i) { return fmt::format("let %v{} = %v{} + {};\n", i + 1, i, i % 7); }) +
         fmt::format("%v{}\n}}\n", n);
}
std::string chained_additions(size_t n) {
  return "def @main(%v0: Tensor[(4, 4), float32]) {\n" +
         repeated(n, [](size_t i) { return fmt::format("let %v{} = add(%v{}, 1f);\n", i + 1, i); }) +
         fmt::format("%v{}\n}}\n", n);
}
std::string different_constants(size_t n) {
  return "def @main(%v0: Tensor[(4,), float32]) {\n" +
         repeated(n, [](size_t i) { return fmt::format("let %v{} = add(%v{}, {}f);\n", i + 1, i, i); }) +
         fmt::format("%v{}\n}}\n", n);
}
std::string mixed_operators(size_t n) {
  const char* forms[] = {"matmul(%v{}, %w)", "relu(%v{})", "add(%v{}, %w)", "reshape(%v{}, shape(4, 4))",
                         "softmax(%v{})"};
  return "def @main(%v0: Tensor[(4, 4), float32], %w: Tensor[(4, 4), float32]) {\n" +
         repeated(n,
                  [&](size_t i) {
                    return fmt::format("let %v{} = {};\n", i + 1, fmt::format(fmt::runtime(forms[i % 5]), i));
                  }) +
         fmt::format("%v{}\n}}\n", n);
}
std::string dataflow_bindings(size_t n) {
  return "def @main(%v0: Tensor[(n, 4), float32]) {\ndataflow {\n" +
         repeated(n, [](size_t i) { return fmt::format("let %v{} = add(%v{}, %v0);\n", i + 1, i); }) +
         fmt::format("output(%v{0});\n}}\n%v{0}\n}}\n", n);
}
std::string graph_bindings(size_t n) {
  return "def @main(%0: Tensor[(n, 4), float32]) {\n" +
         repeated(n, [](size_t i) { return fmt::format("%{} = tanh(%{})\n", i + 1, i); }) + fmt::format("%{}\n}}\n", n);
}
std::string branches(size_t n) {
  return "def @main(%v0: Tensor[(n, 4), float32], %c: bool) {\n" +
         repeated(n,
                  [](size_t i) {
                    return fmt::format("let %v{} = if (%c) {{ tanh(%v{}) }} else {{ let %t = relu(%v{}); %t + %t }};\n",
                                       i + 1, i, i);
                  }) +
         fmt::format("%v{}\n}}\n", n);
}
std::string closures(size_t n) {
  return "def @main(%v0: int32) -> int32 {\n" +
         repeated(n,
                  [](size_t i) {
                    return fmt::format(
                        "let %f{0} = fn(%x: int32) -> int32 {{ %x + %v{0} }};\nlet %v{1} = %f{0}({0});\n", i, i + 1);
                  }) +
         fmt::format("%v{}\n}}\n", n);
}
std::string functions(size_t n) {
  return "def @f0(%x: int32) -> int32 { %x }\n" +
         repeated(n,
                  [](size_t i) { return fmt::format("def @f{}(%x: int32) -> int32 {{ 1 + @f{}(%x) }}\n", i + 1, i); }) +
         fmt::format("def @main(%x: int32) -> int32 {{ @f{}(%x) }}\n", n);
}
std::string nested_ifs(size_t n) {
  return "def @main(%x: int32) -> int32 {\n" +
         repeated(n, [](size_t i) { return fmt::format("let %y{0} = %x + {0}; if (%x != {0}) {{\n", i); }) + "%x" +
         repeated(n, [n](size_t i) { return fmt::format("}} else {{ %y{} }}\n", n - 1 - i); }) + "}\n";
}
std::string nested_elses(size_t n) {
  return "def @main(%x: int32) -> int32 {\n" +
         repeated(n, [](size_t i) { return fmt::format("if (%x == {0}) {{ {0} }} else {{\n", i); }) + "%x" +
         repeated(n, [](size_t) { return "}\n"; }) + "}\n";
}
std::string nested_tuples(size_t n) {
  return "def @main(%x: int32) {\n" + std::string(n, '(') + "%x" + repeated(n, [](size_t) { return ",)"; }) + "\n}\n";
}
std::string nested_calls(size_t n) {
  return "def @main(%x: int32) -> int32 {\n" + repeated(n, [](size_t) { return "negative("; }) + "%x" +
         std::string(n, ')') + "\n}\n";
}
// Each has a type as deep as what it holds, and captures the parameter of the outermost function.
std::string nested_functions(size_t n) {
  return "def @main(%x: int32) {\nlet %f = " + repeated(n, [](size_t) { return "fn() { "; }) + "%x" +
         repeated(n, [](size_t) { return " }"; }) + ";\n%f" + repeated(n, [](size_t) { return "()"; }) + "\n}\n";
}
std::string nested_captures(size_t n) {
  return "def @main(%x: Tensor[(m,), float32]) {\nlet %f = " +
         repeated(n, [](size_t i) { return fmt::format("fn(%a{0}: Tensor[(n{0},), float32]) {{ ", i); }) + "%x" +
         repeated(n, [](size_t) { return " }"; }) + ";\n%f" + repeated(n, [](size_t) { return "(%x)"; }) + "\n}\n";
}

void compile(const std::string& text) {
  run_with_stack(size_t{512} << 20, [&] {
    transform::PassContext context;
    codegen::generate(transform::lower(parsed_text(text), context));
  });
}

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Cost {
  size_t allocations;
  double seconds;
};

Cost cost_of(const std::string& text) {
  Cost least{SIZE_MAX, 1e9};
  for (int i = 0; i < 3; ++i) {
    const size_t before = test::allocations;
    const double start = seconds();
    compile(text);
    least.seconds = std::min(least.seconds, seconds() - start);
    least.allocations = std::min<size_t>(least.allocations, test::allocations - before);
  }
  return least;
}

struct Growth {
  const char* name;
  Make make;
  size_t size, full;
};

class LargePrograms : public testing::TestWithParam<Growth> {};

TEST_P(LargePrograms, CostAsMuchAsTheyAreLarge) {
  const auto& [name, make, size, full] = GetParam();
  const Cost small = cost_of(make(size)), large = cost_of(make(8 * size));
  const double allocated = static_cast<double>(large.allocations) / static_cast<double>(small.allocations);
  EXPECT_LT(allocated, 8 * 1.4) << small.allocations << " allocations for " << size;
  EXPECT_LT(large.seconds, 8 * 3 * small.seconds + 0.05) << small.seconds << " s for " << size;
  if (std::getenv("INGOT_SOAK") == nullptr) return;
  const auto seconds_of = [make = make](size_t count) {
    const double start = seconds();
    compile(make(count));
    return seconds() - start;
  };
  // Of a smaller part less would fall out of the caches.
  const double half = seconds_of(full / 2), whole = seconds_of(full);
  std::cerr << name << ": " << full << " in " << whole << " s of processor time, a half in " << half << " s\n";
  EXPECT_LT(whole, 5);
  EXPECT_LT(whole, 2 * 1.3 * half + 0.1);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, LargePrograms,
    testing::Values(Growth{"tensor_bindings", tensor_bindings, 250, 100'000},
                    Growth{"scalar_bindings", scalar_bindings, 250, 100'000},
                    Growth{"chained_additions", chained_additions, 250, 100'000},
                    Growth{"different_constants", different_constants, 250, 100'000},
                    Growth{"mixed_operators", mixed_operators, 250, 100'000},
                    Growth{"dataflow_bindings", dataflow_bindings, 250, 100'000},
                    Growth{"graph_bindings", graph_bindings, 250, 100'000}, Growth{"branches", branches, 100, 20'000},
                    Growth{"closures", closures, 100, 10'000}, Growth{"functions", functions, 250, 10'000},
                    Growth{"nested_ifs", nested_ifs, 125, 1000}, Growth{"nested_elses", nested_elses, 125, 1000},
                    Growth{"nested_tuples", nested_tuples, 125, 1000}, Growth{"nested_calls", nested_calls, 125, 1000}),
    [](const auto& instance) { return instance.param.name; });

std::string evaluated(const ir::Module& module, const Value& x) {
  return value_text(evaluator::evaluate(typed_program(module), "main", std::vector<Value>{x}, {}));
}
std::string run(const ir::Module& module, const Value& x) {
  return value_text(vm::Session::create(loaded_program(module))->run("main", std::vector<Value>{x}));
}

TEST(LargePrograms, AThousandLevelsRun) {
  run_with_stack(size_t{512} << 20, [] {
    const Value x = Value::scalar(DType::Int32, int32_t{500});
    for (const auto& [make, expected] : std::vector<std::pair<Make, std::string>>{{nested_ifs, "i32=1000"},
                                                                                  {nested_elses, "i32=500"},
                                                                                  {nested_calls, "i32=500"},
                                                                                  {nested_functions, "i32=500"}}) {
      const ir::Module module = parsed_text(make(1000));
      EXPECT_EQ(evaluated(module, x), expected);
      EXPECT_EQ(run(module, x), expected);
    }
    const ir::Module tuples = parsed_text(nested_tuples(1000));
    EXPECT_EQ(run(tuples, x), evaluated(tuples, x));
  });
}

// The types of all of them have together as many parts as the square of their number.
TEST(LargePrograms, FunctionsInFunctionsCostAsMuchAsTheirTypes) {
  for (const Make make : {nested_functions, nested_captures}) {
    const Cost small = cost_of(make(40)), large = cost_of(make(320));
    EXPECT_LT(large.allocations, 8 * 8 * 1.4 * static_cast<double>(small.allocations)) << small.allocations;
    EXPECT_LT(large.seconds, 8 * 8 * 2 * small.seconds + 0.1) << small.seconds << " s";
  }
}

// Each operand has a dimension of its own that may be 1.
std::string unknown_dimensions(size_t n) {
  return "def @main(%x: int32) {\nlet %v0 = ones(shape(2), dtype=float32);\nlet %o: Object = %v0;\n" +
         repeated(n,
                  [](size_t i) {
                    return fmt::format("let %v{} = %v{} + match_cast(%o, Tensor[(?,), float32]);\n", i + 1, i);
                  }) +
         fmt::format("%v{}\n}}\n", n);
}

TEST(LargePrograms, UnknownDimensionsDoNotPileUp) {
  const ir::Module module = parsed_text(unknown_dimensions(300));
  const Value x = Value::scalar(DType::Int32, int32_t{1});
  EXPECT_EQ(evaluated(module, x), "2xf32=301 301");
  EXPECT_EQ(run(module, x), "2xf32=301 301");
}

// Exit code of `ingot compile` on the text, with the least stack that systems give.
int compile_with_small_stack(const std::string& text) {
  const auto folder = std::filesystem::path(testing::TempDir());
  std::ofstream(folder / "nested.relax") << text;
  const std::string command =
      fmt::format("ulimit -s 256; {}/ingot compile {} -o {} 2>/dev/null", std::getenv("INGOT_BIN"),
                  (folder / "nested.relax").string(), (folder / "nested.ingot").string());
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(LargePrograms, TheToolNeedsNoLargeStackOfItsOwn) {
  if (std::getenv("INGOT_BIN") == nullptr) GTEST_SKIP() << "INGOT_BIN is not set";
  EXPECT_EQ(compile_with_small_stack(nested_ifs(1000)), 0);
  EXPECT_EQ(compile_with_small_stack(nested_tuples(1000)), 0);
  EXPECT_EQ(compile_with_small_stack(nested_calls(1000)), 0);
  const std::string open(1'000'000, '('), close(1'000'000, ')');
  EXPECT_EQ(compile_with_small_stack("def @main(%x: int32) { " + open + "%x" + close + " }"), 1);
  EXPECT_EQ(compile_with_small_stack("def @main(%x: int32) { " + open), 1);
}

}  // namespace
}  // namespace ingot
