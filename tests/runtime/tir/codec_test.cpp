#include "runtime/tir/codec.h"

#include <cmath>

#include <gtest/gtest.h>

#include "functions.h"
#include "runtime/base/error.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/same_func.h"
#include "runtime/tir/text.h"

namespace ingot::tir {
namespace {

PrimFunc scaled_func() {
  const PrimExpr n = make_sym_var("n");
  FuncBuilder f("scaled");
  const BufferId x = f.input("x", DType::Float16, {n});
  const BufferId y = f.output("y", DType::Float16, {});
  const LetRef factor = f.scalar("factor", DType::Float16);
  const LetRef shift = f.scalar("shift", DType::Int64);
  f.reduce(y, ExprOp::Add, constant(DType::Float16, 0), {n}, [&](const Indices&, const Indices& k) {
    const Expr at = binary(ExprOp::Mul, index_value(k[0] + PrimExpr(shift->index)), let_value(shift));
    return select(binary(ExprOp::Less, at, constant_int(DType::Int64, 7)),
                  binary(ExprOp::Mul, f.load(x, k), let_value(factor)), constant(DType::Float16, NAN));
  });
  return f.finish();
}

TEST(TirCodec, FunctionsRoundTrip) {
  for (const PrimFunc& func : {relu_func(), softmax_func(), gather_func(), scaled_func()}) {
    ByteWriter out;
    encode(out, func);
    ByteReader in(out.bytes(), "test");
    const PrimFunc decoded = decode_prim_func(in);
    in.expect_done();
    EXPECT_TRUE(same_func(func, decoded)) << print(func) << print(decoded);
    EXPECT_NO_THROW(check(decoded));
  }
}

// Whatever can be decoded is either refused by the checker or can be printed.
TEST(TirCodec, DamagedBytesAreRefusedOrMeanSomething) {
  for (const PrimFunc& func : {gather_func(), scaled_func()}) {
    ByteWriter out;
    encode(out, func);
    const auto try_bytes = [&](std::vector<std::byte> bytes) {
      try {
        ByteReader in(bytes, "test");
        const PrimFunc decoded = decode_prim_func(in);
        check(decoded);
        EXPECT_FALSE(print(decoded).empty());
        prove_bounds(decoded);
        for (BufferId id = 0; id < decoded.params; ++id) writes_whole(decoded, id);
      } catch (const Error& error) {
        EXPECT_NE(error.code(), ErrorCode::Internal) << error.what();
      }
    };
    for (size_t i = 0; i < out.size(); ++i) {
      const auto begin = out.bytes().begin();
      try_bytes({begin, begin + static_cast<std::ptrdiff_t>(i)});
      for (const int flip : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
        std::vector<std::byte> damaged(begin, out.bytes().end());
        damaged[i] ^= static_cast<std::byte>(flip);
        try_bytes(std::move(damaged));
      }
    }
  }
}

}  // namespace
}  // namespace ingot::tir
