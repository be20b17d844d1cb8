#include <functional>

#include <gtest/gtest.h>

#include "compiler/evaluator/evaluator.h"
#include "runtime/base/stack.h"
#include "runtime/tensor/element_text.h"
#include "tests/compiler/arithmetic/reference.h"
#include "tests/compiler/compiled_text.h"
#include "vm/interpreter/session.h"

// Every operator of the arithmetic table on every dtype: on scalars (instructions) and tensors (kernels), in the
// evaluator and in the VM, with passes, without them and with reference kernels, against reference.h.
namespace ingot {
namespace {

constexpr std::string_view kArithmetic[] = {"add",          "subtract",  "multiply", "divide",  "mod",
                                            "floor_divide", "floor_mod", "power",    "minimum", "maximum"};
constexpr std::string_view kBits[] = {"bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"};
constexpr std::string_view kComparisons[] = {"equal",         "not_equal",   "less",       "less_equal", "greater",
                                             "greater_equal", "logical_and", "logical_or", "logical_xor"};
constexpr std::string_view kIntegerUnary[] = {"negative", "abs", "sign", "bitwise_not"};
constexpr std::string_view kFloatUnary[] = {"negative", "abs", "sign", "floor", "ceil", "round", "trunc"};

// One program, run in all ways.
class Program {
 public:
  explicit Program(const std::string& text) {
    const ir::Module module = parsed_text(text);
    const ir::Module typed = typed_program(module);
    ways_.emplace_back("eval", [typed](std::string_view function, std::span<const Value> args) {
      return evaluator::evaluate(typed, function, args, {});
    });
    add("VM", module, "", "");
    add("VM --without all", module, "all", "");
    add("VM with reference kernels", module, "", "reference");
  }

  using Judge = std::function<void(const Value& result)>;
  // Null: the run must fail with DivisionByZero.
  void run(const std::string& function, std::span<const Value> args, const Judge& judge) {
    for (const auto& [name, run] : ways_) {
      SCOPED_TRACE(name + ": @" + function);
      try {
        const Value result = run(function, args);
        if (judge) {
          judge(result);
        } else {
          ADD_FAILURE() << "a division by zero gave a value";
        }
      } catch (const Error& error) {
        EXPECT_TRUE(!judge && error.code() == ErrorCode::DivisionByZero) << error.label() << ": " << error.what();
      }
    }
  }

 private:
  using Run = std::function<Value(std::string_view, std::span<const Value>)>;

  void add(const char* name, const ir::Module& module, const char* without, const char* kernels) {
    const auto session = vm::Session::create(loaded_program(module, without, kernels));
    ways_.emplace_back(name, [session](std::string_view function, std::span<const Value> args) {
      return session->run(function, args);
    });
  }

  std::vector<std::pair<std::string, Run>> ways_;
};

template <Element T>
std::vector<T> edges() {
  if constexpr (std::same_as<T, bool>) {
    return {false, true};
  } else if constexpr (IntElement<T>) {
    using Limits = std::numeric_limits<T>;
    return {0,
            1,
            2,
            3,
            7,
            static_cast<T>(8 * sizeof(T) - 1),
            static_cast<T>(8 * sizeof(T)),
            100,
            static_cast<T>(-1),
            static_cast<T>(-2),
            static_cast<T>(-3),
            Limits::min(),
            static_cast<T>(Limits::min() + 1),
            Limits::max(),
            static_cast<T>(Limits::max() - 1)};
  } else {
    std::vector<T> values;
    for (const double value : {0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 0.5, 1.5, 2.5, -2.5, -3.0, 1e-8, 300.0, -1e4, 65504.0})
      values.push_back(narrow<T>(static_cast<Wide<T>>(value)));
    for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan("")})
      values.push_back(narrow<T>(static_cast<Wide<T>>(value)));
    return values;
  }
}

// More for casts: what is not exact in the other dtype, and ties.
template <Element T>
std::vector<T> edges_of_casts() {
  std::vector<T> values = edges<T>();
  if constexpr (std::same_as<T, double>)
    values.insert(values.end(), {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-30, 0x1p31, 0x1p32, 0x1p63, 0x1p64, -0x1p63,
                                 255.99, 1e300, -1e300, 16777217.0, 1e-45});
  if constexpr (std::same_as<T, float>) values.insert(values.end(), {0x1p31f, 0x1p63f, 1 + 0x1p-8f, 1e38f, 1e-40f});
  if constexpr (IntElement<T> && sizeof(T) >= 4)
    values.insert(values.end(), {static_cast<T>(16777217), static_cast<T>(16842753), static_cast<T>(2049)});
  return values;
}

template <Element T>
Value scalar(T element) {
  Value value = Value::scalar(kDTypeOf<T>, element);
  return value;
}

template <Element T>
Value tensor(const std::vector<T>& elements) {
  const int64_t dims[] = {static_cast<int64_t>(elements.size())};
  auto made = make_tensor(nullptr, kDTypeOf<T>, dims);
  for (size_t i = 0; i < elements.size(); ++i) store_element(made->data + i * sizeof(T), elements[i]);
  return to_value(std::move(made));
}

template <Element T>
std::string text_of(T element) {
  std::string text;
  append_element(text, kDTypeOf<T>, &element);
  return text;
}

template <Element T>
bool same(T a, T b, double tolerance) {
  const auto x = widen(a), y = widen(b);
  if constexpr (FloatElement<T>) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (tolerance > 0 && std::isfinite(x) && std::isfinite(y))
      return std::fabs(static_cast<double>(x) - static_cast<double>(y)) <=
             tolerance * std::fabs(static_cast<double>(y));
  }
  return x == y;
}

// Holds a result of any rank against what each element must be.
template <Element T>
Program::Judge expect(std::vector<T> expected, std::string cases, double tolerance = 0) {
  return [=](const Value& result) {
    const auto made = to_tensor(nullptr, result);
    ASSERT_EQ(made->dtype, kDTypeOf<T>);
    ASSERT_EQ(made->bytes, expected.size() * sizeof(T));
    size_t shown = 0;
    for (size_t i = 0; i < expected.size() && shown < 3; ++i) {
      const T actual = load_element<T>(made->data + i * sizeof(T));
      if (same(actual, expected[i], tolerance)) continue;
      ++shown;
      ADD_FAILURE() << text_of(actual) << " instead of " << text_of(expected[i]) << ", element " << i << " of "
                    << cases;
    }
  };
}

// Functions of one or two parameters, each for scalars and for tensors.
std::string functions(std::string_view name, DType dtype, size_t params, const std::string& call) {
  std::string text;
  for (const std::string_view rank : {"scalar", "tensor"}) {
    const std::string type =
        rank == "scalar" ? std::string(dtype_name(dtype)) : fmt::format("Tensor[(n,), {}]", dtype_name(dtype));
    text += fmt::format("def @{}_{}(%x: {}{}) {{ {} }}\n", name, rank, type,
                        params == 2 ? fmt::format(", %y: {}", type) : "", call);
  }
  return text;
}

template <Element T, Element R>
void check_binary(Program& program, std::string_view op, const std::function<std::optional<R>(T, T)>& expected) {
  const double tolerance = op == "power" ? (sizeof(T) == 2 ? 1e-2 : 1e-5) : 0;
  const std::string name(op);
  std::vector<T> lefts, rights;
  std::vector<R> results;
  for (const T a : edges<T>())
    for (const T b : edges<T>()) {
      const std::string cases = fmt::format("{}({}, {})", op, text_of(a), text_of(b));
      const auto result = expected(a, b);
      const Value scalars[] = {scalar(a), scalar(b)};
      program.run(name + "_scalar", scalars, result ? expect<R>({*result}, cases, tolerance) : nullptr);
      if (result) {
        lefts.push_back(a);
        rights.push_back(b);
        results.push_back(*result);
      } else {
        const Value tensors[] = {tensor<T>({1, a}), tensor<T>({1, b})};
        program.run(name + "_tensor", tensors, nullptr);
      }
    }
  const Value tensors[] = {tensor(lefts), tensor(rights)};
  program.run(name + "_tensor", tensors, expect(results, name, tolerance));
  const Value empty[] = {tensor<T>({}), tensor<T>({})};
  program.run(name + "_tensor", empty, expect<R>({}, name));
}

template <Element T, Element R>
void check_unary(Program& program, const std::string& name, const std::vector<T>& values,
                 const std::function<R(T)>& expected) {
  std::vector<R> results;
  for (const T value : values) {
    results.push_back(expected(value));
    const Value args[] = {scalar(value)};
    program.run(name + "_scalar", args, expect<R>({results.back()}, fmt::format("{}({})", name, text_of(value))));
  }
  const Value args[] = {tensor(values)};
  program.run(name + "_tensor", args, expect(results, name));
}

template <Element T>
void check_casts() {
  std::string text;
#define X(to, to_name, brief, type, bytes, cls) \
  text += functions(to_name, kDTypeOf<T>, 1, "cast(%x, dtype=\"" to_name "\")");
  INGOT_FOR_EACH_DTYPE(X)
#undef X
  Program program(text);
#define X(to, to_name, brief, type, bytes, cls) \
  check_unary<T, type>(program, to_name, edges_of_casts<T>(), [](T value) { return reference::cast<type>(value); });
  INGOT_FOR_EACH_DTYPE(X)
#undef X
}

template <NumericElement T>
void check_operators() {
  std::vector<std::string_view> binary(std::begin(kArithmetic), std::end(kArithmetic));
  if (IntElement<T>) binary.insert(binary.end(), std::begin(kBits), std::end(kBits));
  std::vector<std::string_view> unary;
  if (IntElement<T>) {
    unary.assign(std::begin(kIntegerUnary), std::end(kIntegerUnary));
  } else {
    unary.assign(std::begin(kFloatUnary), std::end(kFloatUnary));
  }
  std::string text;
  for (const auto op : binary) text += functions(op, kDTypeOf<T>, 2, fmt::format("{}(%x, %y)", op));
  for (const auto op : kComparisons) text += functions(op, kDTypeOf<T>, 2, fmt::format("{}(%x, %y)", op));
  for (const auto op : unary) text += functions(op, kDTypeOf<T>, 1, fmt::format("{}(%x)", op));
  Program program(text);
  for (const auto op : binary) check_binary<T, T>(program, op, [op](T a, T b) { return reference::binary(op, a, b); });
  for (const auto op : kComparisons)
    check_binary<T, bool>(program, op, [op](T a, T b) { return std::optional(reference::comparison(op, a, b)); });
  for (const auto op : unary)
    check_unary<T, T>(program, std::string(op), edges<T>(), [op](T a) { return reference::unary(op, a); });
}

class Arithmetic : public testing::TestWithParam<DType> {};

TEST_P(Arithmetic, OperatorsFollowTheTable) {
  if (GetParam() == DType::Bool) return;
  run_with_stack(size_t{64} << 20, [] {
    with_element(GetParam(), []<typename T>() {
      if constexpr (NumericElement<T>) check_operators<T>();
    });
  });
}

TEST_P(Arithmetic, CastsFollowTheTable) {
  run_with_stack(size_t{64} << 20, [] { with_element(GetParam(), []<typename T>() { check_casts<T>(); }); });
}

std::vector<DType> all_dtypes() {
  std::vector<DType> dtypes;
#define X(name, text, brief, type, bytes, cls) dtypes.push_back(DType::name);
  INGOT_FOR_EACH_DTYPE(X)
#undef X
  return dtypes;
}

INSTANTIATE_TEST_SUITE_P(DTypes, Arithmetic, testing::ValuesIn(all_dtypes()),
                         [](const auto& instance) { return std::string(dtype_name(instance.param)); });

}  // namespace
}  // namespace ingot
