#include "runtime/tir/same_func.h"
#include "runtime/tir/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functions.h"
#include "reference.h"
#include "runtime/base/error.h"
#include "runtime/tir/literals.h"

namespace ingot::tir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

PrimFunc parsed(std::string_view text) {
  size_t offset = 0;
  PrimFunc func = parse(text, offset);
  EXPECT_EQ(text.substr(offset).find_first_not_of(" \n"), std::string_view::npos);
  return func;
}

void expect_error(std::string_view text, ErrorCode code, const char* message) {
  try {
    size_t offset = 0;
    parse(text, offset);
    FAIL() << "no error for " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

// A function of A: float32[n] and I: int64[n] to B: float32[n] with this body.
std::string with_body(std::string_view body) {
  return fmt::format(
      "prim_func @f(A: Buffer[(n,), float32], I: Buffer[(n,), int64], out B: Buffer[(n,), float32]) {{{}}}", body);
}

TEST(TirText, TheExampleOfTheDesign) {
  const PrimFunc func = parsed(R"(prim_func @scale(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {
    for i in k { B[i] = A[i] * 2f32; }
  })");
  EXPECT_EQ(func.name, "scale");
  EXPECT_EQ(func.params, 2u);
  EXPECT_EQ(func.outputs, 1u);
  EXPECT_EQ(print(func), R"(prim_func @scale(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {
  for i in k {
    B[i] = A[i] * 2f32;
  }
}
)");
  std::vector<Bytes> buffers = {to_bytes<float>({1, 2, 3}), Bytes(12)};
  EXPECT_FALSE(run_interpreter(func, {{3}, {3}}, buffers).failed);
  EXPECT_EQ(from_bytes<float>(buffers[1]), (std::vector<float>{2, 4, 6}));
}

TEST(TirText, EveryConstruct) {
  const char* text =
      R"(prim_func @"odd name"(A: Buffer[(n, m), float32], I: Buffer[(n,), int64], B: Buffer[(n,), float32], C: Buffer[(), int32], shift: int64, scale: float32) {
  alloc T: Buffer[(n * 2, m), bool];
  for i in n parallel {
    let at = I[i] % 7i64;
    B[i] = 0f32;
    for k in min(m, 8) reduce {
      B[i] = B[i] + A[i, k] * scale;
    }
    if (index(at + shift) < 3i64 && !(i == 2i64)) {
      T[i * 2, (at + 1) / 2 % m] = is_nan(B[i]);
    } else {
      B[i] = select(T[i * 2, 0], cast(i, float32), -exp(-(1f32)) - (1.5f32 - infinity_free(0f32)));
    }
  }
  C[] = cast(bits(0x7fc00001, float32), int32) + max(-128i32, bit_xor(3i32, 1i32)) / 2i32;
}
)";
  std::string source = text;
  source.replace(source.find("infinity_free(0f32)"), 19, "-inff32 * nanf32");
  const PrimFunc func = parsed(source);
  EXPECT_EQ(print(func), source);
  EXPECT_EQ(func.outputs, 2u);
  EXPECT_TRUE(same_func(func, parsed(print(func))));
}

TEST(TirText, BuiltFunctionsRoundTrip) {
  for (const PrimFunc& func : {relu_func(), softmax_func(), gather_func()}) {
    EXPECT_TRUE(same_func(func, parsed(print(func)))) << print(func);
  }
  EXPECT_FALSE(same_func(relu_func(), softmax_func()));
}

TEST(TirText, LiteralsTakeTheDtypeOfTheirContext) {
  const auto value = [](std::string_view expr) {
    const PrimFunc func = parsed(with_body(fmt::format("B[0] = {};", expr)));
    return print(func).substr(print(func).find("B[0] = "));
  };
  EXPECT_THAT(value("A[0] * 2 + 1.5"), StartsWith("B[0] = A[0] * 2f32 + 1.5f32;"));
  EXPECT_THAT(value("1"), StartsWith("B[0] = 1f32;"));
  EXPECT_THAT(value("select(I[0] > 3, 1, -2.5)"), StartsWith("B[0] = select(I[0] > 3i64, 1f32, -2.5f32);"));
  EXPECT_THAT(value("cast(1 + 2, float32)"), StartsWith("B[0] = cast(1i32 + 2i32, float32);"));
  EXPECT_THAT(value("cast(1 / 2.0, float32)"), StartsWith("B[0] = cast(1f32 / 2f32, float32);"));
  EXPECT_THAT(value("select(1 < 2.5 || is_inf(3), inf, nan)"),
              StartsWith("B[0] = select(1f32 < 2.5f32 || is_inf(3f32), inff32, nanf32);"));
  EXPECT_THAT(value("2f"), StartsWith("B[0] = 2f32;"));
  EXPECT_THAT(value("cast(-9223372036854775808i64, float32)"), HasSubstr("-9223372036854775808i64"));
  EXPECT_THAT(value("cast(18446744073709551615u64, float32)"), HasSubstr("18446744073709551615u64"));
}

TEST(TirText, ErrorsNameLineAndColumn) {
  constexpr auto kParse = ErrorCode::ParseError;
  constexpr auto kType = ErrorCode::TypeError;
  expect_error("prim_func @f() {\n  x[0] = 1;\n}", kParse, "2:3: x is not defined");
  expect_error("prim_func @f(", kParse, "1:14: expected a parameter, found the end of the text");
  expect_error("prim_func @f(A: Buffer[(n,), float31]) {}", kParse, "'float31' is not a dtype of elements");
  expect_error("prim_func @f(A: Buffer[(n,), f32], A: Buffer[(n,), f32]) {}", kParse, "A is defined twice");
  expect_error(with_body("B[0] = 1i32;"), kType, "int32 is stored to B of dtype float32; use cast(..., float32)");
  expect_error(with_body("B[0] = A[0] + I[0];"), kType, "'+' is applied to float32 and int64; use cast");
  expect_error(with_body("B[0, 1] = 0;"), kType, "B has 1 dimensions but 2 indices");
  expect_error(with_body("B[0] = exp(I[0]);"), kType, "'exp' takes floats, not int64");
  expect_error(with_body("let x = 300i8;"), kType, "300 is not a int8");
  expect_error(with_body("let x = 2.5i8;"), kType, "2.5 is not a int8");
  expect_error(with_body("let x = 1q8;"), kParse, "'q8' is no suffix of a number");
  expect_error(with_body("B[A[0]] = 0;"), kParse, "A is a buffer; bind its element by let");
  expect_error(with_body("let x = 1f; B[x] = 0;"), kType, "x is float32; an index takes int64");
  expect_error(with_body("let exp = 1f;"), kParse, "'exp' cannot be a name");
  expect_error(with_body("B[0] = foo(1);"), kParse, "foo is not a function of prim_funcs");
  expect_error(with_body("B[0] = max(1);"), kType, "max takes 2 arguments, not 1");
  expect_error(with_body("if (1 + 1) {}"), kType, "1 is not a bool");
  expect_error(with_body("A[0] = 1;"), ErrorCode::WellFormedness, "1:1: prim_func @f: the input A is written");
  expect_error(with_body("for i in n parallel { B[0] = 1; }"), ErrorCode::WellFormedness, "make the loop serial");
  expect_error("prim_func @f(A: Buffer[(n,), f32], B: Buffer[(n,), f32]) { A[0] = 1; }", kParse,
               "A is written but comes before B");
}

TEST(TirText, NestingIsLimited) {
  const std::string many(1000000, '(');
  expect_error(with_body("B[0] = " + many), ErrorCode::ParseError, "nested deeper than 256");
  expect_error(with_body("B[" + many), ErrorCode::ParseError, "nested deeper than 256");
  expect_error(with_body("B[0] = " + std::string(1000000, '-')), ErrorCode::ParseError, "nested deeper than 256");
  std::string sum = "B[0] = 0";
  for (int i = 0; i < 1000; ++i) sum += " + 1";
  expect_error(with_body(sum + ";"), ErrorCode::ParseError, "nested deeper than 512");
  std::string loops;
  for (int i = 0; i < 100000; ++i) loops += "for i in 2 {";
  expect_error(with_body(loops), ErrorCode::ParseError, "nested deeper than 64");
}

TEST(TirText, NamesThatCannotBeWrittenAreReplaced) {
  FuncBuilder f("a\"b\\c");
  const BufferId x = f.input("conv/1:0", DType::Float32, {PrimExpr(make_sym_var("for"))});
  const BufferId y = f.output("conv/1:0", DType::Float32, {});
  f.append(store(y, {}, f.load(x, {0})));
  const PrimFunc func = f.finish();
  EXPECT_THAT(print(func),
              HasSubstr("@\"a\\\"b\\\\c\"(conv_1_0: Buffer[(_for,), float32], conv_1_0_1: Buffer[(), float32])"));
  EXPECT_TRUE(same_func(func, parsed(print(func))));
}

TEST(TirText, LiteralsOfEveryDtypeRoundTrip) {
  for (size_t i = 1; i + 1 < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::Bool) continue;
    for (const uint64_t pattern : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{0x7f7f7f7f7f7f7f7f},
                                   uint64_t{0x8000800080008000}, uint64_t{0x3c003c003dcccccd}}) {
      const size_t width = 8 * dtype_bytes(dtype);
      const uint64_t bits = width == 64 ? pattern : pattern & ((uint64_t{1} << width) - 1);
      const std::string text = fmt::format("prim_func @f(B: Buffer[(), {0}]) {{ B[] = {1}; }}", dtype_name(dtype),
                                           literal_text(dtype, bits));
      const PrimFunc func = parsed(text);
      EXPECT_EQ(std::get<Store>(func.body[0]->node).value->bits, bits) << text;
    }
  }
}

}  // namespace
}  // namespace ingot::tir
