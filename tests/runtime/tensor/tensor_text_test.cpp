#include "runtime/tensor/tensor_text.h"

#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "runtime/base/arithmetic.h"
#include "runtime/base/error.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/element_text.h"

namespace ingot {
namespace {

using arithmetic::is_nan;

std::string element(DType dtype, const void* value) {
  std::string text;
  append_element(text, dtype, value);
  return text;
}

std::string error_of(std::string_view text) {
  try {
    parse_tensor(text);
    return "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    return error.what();
  }
}

TEST(TensorText, RoundTrips) {
  for (const std::string_view text :
       {"2x3xf32=1 2 3 4 5 6", "f32=1.5", "i64=3", "bool=1", "0x3xi64=", "3xbool=0 1 1", "2xi8=-128 127",
        "1xu64=18446744073709551615", "1xi64=-9223372036854775808", "4xf64=0.1 -0 inf -inf", "2xf32=nan 1e-45",
        "3xf16=0.1 65504 6e-08", "2xbf16=3.14 1e+38", "2xu8=0 255", "2xstr=\"a \\\"b\\\"\" \"\\n\\x01\\\\\"",
        "5xf32=100000 1.5e+20 0.001 1e-05 16777216"})
    EXPECT_EQ(tensor_text(*parse_tensor(text)), text);
}

TEST(TensorText, ReadsWhatPeopleWrite) {
  EXPECT_EQ(tensor_text(*parse_tensor("2x2xfloat32=1.0, 2, +3 , 4e0")), "2x2xf32=1 2 3 4");
  EXPECT_EQ(tensor_text(*parse_tensor("2xbool=true false")), "2xbool=1 0");
  EXPECT_EQ(tensor_text(*parse_tensor("2xf32=NaN -inf")), "2xf32=nan -inf");
}

TEST(TensorText, ErrorsSayWhatIsWrong) {
  const std::string form = "; wanted is a form like 2x3xf32=1 2 3 4 5 6 or f32=1.5";
  EXPECT_EQ(error_of("2x3xf32"), "'2x3xf32' is not a tensor: there is no '='" + form);
  EXPECT_EQ(error_of("2x3xfoo=1"), "'2x3xfoo=1' is not a tensor: 'foo' is not a dtype" + form);
  EXPECT_EQ(error_of("2x3=1"), "'2x3=1' is not a tensor: there is no dtype behind the dimensions" + form);
  EXPECT_EQ(error_of("99999999999999999999xf32=1"),
            "'99999999999999999999xf32=1' is not a tensor: dimension 99999999999999999999 does not fit int64" + form);
  EXPECT_EQ(error_of("-1xf32=1"), "'-1xf32=1' is not a tensor: '-1xf32' is not a dtype" + form);
  EXPECT_EQ(error_of("2x3xf32=1 2 3"), "2x3xf32 has 6 elements, but 3 are given");
  EXPECT_EQ(error_of("f32="), "f32 has 1 elements, but 0 are given");
  EXPECT_EQ(error_of("2xi32=1 2.5"), "2xi32: element 1: '2.5' is not a number of dtype int32");
  EXPECT_EQ(error_of("1xi8=128"), "1xi8: element 0: 128 does not fit int8");
  EXPECT_EQ(error_of("1xu8=-1"), "1xu8: element 0: '-1' is not a number of dtype uint8");
  EXPECT_EQ(error_of("1xf16=70000"), "1xf16: element 0: 70000 does not fit float16");
  EXPECT_EQ(error_of("1xf32=1e99"), "1xf32: element 0: 1e99 does not fit float32");
  EXPECT_EQ(error_of("bool=2"), "bool: element 0: '2' is not a bool: 0, 1, false or true");
  EXPECT_EQ(error_of("str=a"), "str: element 0: a is not a string in quotes");
  EXPECT_EQ(error_of("str=random"), "str: there are no random strings");
  EXPECT_NE(error_of("str=\"\\x1\""), "no error");
  EXPECT_NE(error_of("str=\"\\"), "no error");
}

TEST(TensorText, HugeShapesAreRefusedBeforeMemoryIsTaken) {
  EXPECT_EQ(error_of("1000000000x1000000000xf32=1"),
            "1000000000x1000000000xf32 has 1000000000000000000 elements, but 1 are given");
  EXPECT_THROW(parse_tensor("9000000000x9000000000x9000000000xf32=1"), Error);
}

TEST(TensorText, LongTensorsAreCutWhereAsked) {
  const auto tensor = parse_tensor("5xi32=1 2 3 4 5");
  EXPECT_EQ(tensor_text(*tensor, 2), "5xi32=1 2 ...");
  EXPECT_EQ(tensor_text(*tensor, 0), "5xi32=...");
  EXPECT_EQ(tensor_text(*tensor, 5), "5xi32=1 2 3 4 5");
}

TEST(TensorText, ChannelsLastPrintsInLogicalOrder) {
  auto tensor = parse_tensor("1x2x2xi32=1 2 3 4");
  tensor->layout = Layout::ChannelsLast;
  EXPECT_EQ(tensor_text(*tensor), "1x2x2xi32=1 3 2 4");
}

TEST(TensorText, RandomIsDeterministicAndInRange) {
  EXPECT_EQ(tensor_text(*parse_tensor("100xf32=random", 7)), tensor_text(*parse_tensor("100xf32=random", 7)));
  EXPECT_NE(tensor_text(*parse_tensor("100xf32=random", 7)), tensor_text(*parse_tensor("100xf32=random", 8)));
  for (const std::string dtype : {"f16", "bf16", "f32", "f64", "i8", "u64", "bool"}) {
    const auto tensor = parse_tensor("1000x" + dtype + "=random");
    std::set<double> values;
    with_element(tensor->dtype, [&]<typename T>() {
      for (size_t i = 0; i < 1000; ++i) values.insert(convert<double>(load_element<T>(tensor->data + i * sizeof(T))));
    });
    EXPECT_GE(*values.begin(), 0);
    EXPECT_LT(*values.rbegin(), is_float(tensor->dtype) ? 1 : tensor->dtype == DType::Bool ? 2 : 10);
    EXPECT_GE(values.size(), tensor->dtype == DType::Bool ? 2u : 10u);
  }
}

TEST(ElementText, EveryHalfReadsBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    Half half;
    half.bits = static_cast<uint16_t>(bits);
    BHalf brain;
    brain.bits = static_cast<uint16_t>(bits);
    Half half_back;
    BHalf brain_back;
    parse_element(element(DType::Float16, &half), DType::Float16, &half_back);
    parse_element(element(DType::BFloat16, &brain), DType::BFloat16, &brain_back);
    ASSERT_TRUE(is_nan(half) || half == half_back) << bits;
    ASSERT_TRUE(is_nan(brain) || brain == brain_back) << bits;
  }
}

RC_GTEST_PROP(ElementText, EveryNumberReadsBack, (uint32_t single, uint64_t twice)) {
  const auto narrow_value = std::bit_cast<float>(single);
  const auto wide_value = std::bit_cast<double>(twice);
  float narrow_back = 0;
  double wide_back = 0;
  parse_element(element(DType::Float32, &narrow_value), DType::Float32, &narrow_back);
  parse_element(element(DType::Float64, &wide_value), DType::Float64, &wide_back);
  RC_ASSERT(narrow_value != narrow_value || narrow_value == narrow_back);
  RC_ASSERT(wide_value != wide_value || wide_value == wide_back);
}

}  // namespace
}  // namespace ingot
