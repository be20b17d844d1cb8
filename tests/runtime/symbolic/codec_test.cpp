#include "runtime/symbolic/codec.h"

#include <functional>

#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

struct Encoded {
  std::vector<std::byte> bytes;
  SymVarTable vars;
};

template <typename T>
Encoded encoded(const T& value) {
  Encoded result;
  ByteWriter out;
  encode(out, value, result.vars);
  result.bytes = out.take();
  return result;
}

class CodecTest : public ::testing::Test {
 protected:
  PrimExpr n = make_sym_var("n"), m = make_sym_var("m");
};

TEST_F(CodecTest, ExpressionsRoundTrip) {
  const PrimExpr condition = PrimExpr::make(PrimOp::And, {PrimExpr::make(PrimOp::LessEqual, {n, m}), PrimExpr(1)});
  const PrimExpr expr = PrimExpr::make(
      PrimOp::Select, {condition, floor_div(n * -7, m) + floor_mod(n, 3), max(min(n, INT64_MIN), INT64_MAX)});
  const Encoded e = encoded(expr);
  ByteReader in(e.bytes, "test");
  EXPECT_TRUE(same_expr(decode_prim_expr(in, e.vars), expr));
  in.expect_done();
}

TEST_F(CodecTest, StructInfosRoundTrip) {
  const StructInfo infos[] = {
      object_info(),
      tensor_info(),
      tensor_info(DType::Float32, 3u),
      tensor_info(DType::None, {n, m * 2}),
      tensor_info(DType::Int8, make_sym_var("s"), 2),
      shape_info(),
      shape_info({n}),
      prim_info(DType::Int64, n + 1),
      tuple_info({}),
      tuple_info({object_info(), shape_info(2)}),
      func_info({tensor_info(DType::Float32, {n, m})}, tuple_info({prim_info(DType::Bool)}), true),
      packed_func_info(object_info()),
  };
  for (const StructInfo& info : infos) {
    const Encoded e = encoded(info);
    ByteReader in(e.bytes, "test");
    EXPECT_TRUE(same_info(decode_struct_info(in, e.vars), info)) << to_text(info);
    in.expect_done();
  }
}

TEST_F(CodecTest, DamagedBytesAreCorruptOrMeanSomething) {
  const StructInfo info = func_info({tensor_info(DType::Float32, {n, m * 2}), shape_info({n})},
                                    tuple_info({prim_info(DType::Int64, floor_div(n, m))}), false);
  const Encoded e = encoded(info);
  const auto read = [&](std::vector<std::byte> bytes) {
    try {
      ByteReader in(bytes, "test");
      to_text(decode_struct_info(in, e.vars));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::CorruptFile) << error.what();
    }
  };
  for (size_t i = 0; i < e.bytes.size(); ++i) {
    read({e.bytes.begin(), e.bytes.begin() + static_cast<std::ptrdiff_t>(i)});
    for (int value = 0; value < 256; ++value) {
      std::vector<std::byte> damaged = e.bytes;
      damaged[i] = static_cast<std::byte>(value);
      read(std::move(damaged));
    }
  }
}

TEST_F(CodecTest, NestingIsLimited) {
  ByteWriter deep;
  for (int i = 0; i < 100000; ++i) deep.put(PrimOp::Not);
  const SymVarTable none;
  ByteReader in(deep.bytes(), "test");
  EXPECT_THROW(decode_prim_expr(in, none), Error);

  StructInfo tuple = object_info();
  for (int i = 0; i < 1500; ++i) tuple = tuple_info({tuple});
  const Encoded e = encoded(tuple);
  ByteReader accepted(e.bytes, "test");
  EXPECT_TRUE(same_info(decode_struct_info(accepted, e.vars), tuple));
  for (int i = 0; i < 600; ++i) tuple = tuple_info({tuple});
  EXPECT_THROW(encoded(tuple), Error);
  ByteWriter endless;
  for (int i = 0; i < 100000; ++i) {
    endless.put(InfoKind::Tuple);
    endless.put(DType::None);
    endless.put(uint8_t{16 + 32});
    endless.put(uint32_t{1});
  }
  ByteReader refused(endless.bytes(), "test");
  EXPECT_THROW(decode_struct_info(refused, none), Error);
}

}  // namespace
}  // namespace ingot
