#include "runtime/tir/interpreter.h"

#include <chrono>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "functions.h"
#include "reference.h"
#include "runtime/base/half.h"

namespace ingot::tir {
namespace {

// Runs both and compares; gives the outputs' bytes.
std::vector<Bytes> run_both(const PrimFunc& func, const Dims& dims, std::vector<Bytes> inputs,
                            const std::vector<uint64_t>& scalars = {}) {
  std::vector<Bytes> buffers = std::move(inputs);
  for (size_t i = buffers.size(); i < func.params; ++i)
    buffers.emplace_back(buffer_bytes(func, dims, i), std::byte{0x77});
  std::vector<Bytes> expected = buffers;
  const RunStatus reference = run_reference(func, dims, expected, scalars);
  const RunStatus status = run_interpreter(func, dims, buffers, scalars);
  EXPECT_EQ(status.failed, reference.failed) << func.name << ": " << (status.message ? status.message : "");
  if (reference.failed) {
    EXPECT_EQ(status.code, reference.code) << func.name;
  } else {
    for (size_t i = 0; i < func.params; ++i) EXPECT_EQ(buffers[i], expected[i]) << func.name << ", buffer " << i;
  }
  return buffers;
}

std::vector<float> random_floats(size_t count, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = std::uniform_real_distribution<float>(-3, 3)(random);
  return values;
}

TEST(Interpreter, Relu) {
  const auto result = run_both(relu_func(), {{2, 3}, {2, 3}}, {to_bytes<float>({-1, 2, -3, 4, NAN, -0.f})});
  const auto y = from_bytes<float>(result[1]);
  EXPECT_EQ(y[1], 2);
  EXPECT_EQ(y[2], 0);
  EXPECT_TRUE(std::isnan(y[4]));
  for (const int64_t n : {0, 1, 7}) {
    for (const int64_t m : {0, 1, 255, 256, 257, 1000}) {
      run_both(relu_func(), {{n, m}, {n, m}}, {to_bytes(random_floats(static_cast<size_t>(n * m)))});
    }
  }
}

TEST(Interpreter, SoftmaxOverTemporaries) {
  const auto result = run_both(softmax_func(), {{2, 3}, {2, 3}}, {to_bytes<float>({1, 2, 3, 5, 5, 5})});
  const auto y = from_bytes<float>(result[1]);
  EXPECT_NEAR(y[0], 0.0900306f, 1e-6);
  EXPECT_NEAR(y[4], 1.f / 3, 1e-6);
  run_both(softmax_func(), {{5, 1000}, {5, 1000}}, {to_bytes(random_floats(5000))});
  run_both(softmax_func(), {{1000, 5}, {1000, 5}}, {to_bytes(random_floats(5000))});
}

TEST(Interpreter, GatherChecksIndicesFromMemory) {
  const Dims dims = {{4}, {3}, {3}, {3}};
  const Bytes x = to_bytes<float>({10, 11, 12, 13});
  const auto result = run_both(gather_func(), dims, {x, to_bytes<int64_t>({3, 99, 1}), to_bytes<uint8_t>({1, 0, 7})});
  EXPECT_EQ(from_bytes<float>(result[3]), (std::vector<float>{13, 10, 11}));
  for (const int64_t bad : {int64_t{-1}, int64_t{4}, INT64_MIN, INT64_MAX})
    run_both(gather_func(), dims, {x, to_bytes<int64_t>({0, bad, 1}), to_bytes<uint8_t>({1, 1, 1})});
}

TEST(Interpreter, BroadcastTransposeAndConcat) {
  const PrimExpr n = make_sym_var("n"), c = make_sym_var("c"), h = make_sym_var("h"), w = make_sym_var("w");
  FuncBuilder norm("norm");
  {
    const BufferId x = norm.input("x", DType::Float32, {n, c, h, w});
    const BufferId scale = norm.input("scale", DType::Float32, {c});
    const BufferId y = norm.output("y", DType::Float32, {n, c, h, w});
    norm.compute(y, [&](const Indices& i) {
      return binary(ExprOp::Mul, norm.load(x, i), unary(ExprOp::Exp, norm.load(scale, {i[1]})));
    });
  }
  run_both(norm.finish(), {{2, 3, 5, 7}, {3}, {2, 3, 5, 7}},
           {to_bytes(random_floats(210)), to_bytes(random_floats(3))});

  FuncBuilder transpose("transpose");
  {
    const BufferId x = transpose.input("x", DType::UInt8, {n, h, w});
    const BufferId y = transpose.output("y", DType::UInt8, {w, n, h});
    transpose.compute(y, [&](const Indices& i) { return transpose.load(x, {i[1], i[2], i[0]}); });
  }
  std::vector<uint8_t> bytes(3 * 5 * 300);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37);
  run_both(transpose.finish(), {{3, 5, 300}, {300, 3, 5}}, {to_bytes(bytes)});

  FuncBuilder concat("concat");
  {
    const PrimExpr m = make_sym_var("m");
    const BufferId a = concat.input("a", DType::Float32, {n, h});
    const BufferId b = concat.input("b", DType::Float32, {n, m});
    const BufferId y = concat.output("y", DType::Float32, {n, h + m});
    const auto part = [&](BufferId from, const PrimExpr& extent, const PrimExpr& begin) {
      const SymVar i = make_sym_var("i"), j = make_sym_var("j");
      concat.append(
          loop(i, n, LoopKind::Parallel,
               {loop(j, extent, LoopKind::Serial, {store(y, {i, begin + PrimExpr(j)}, concat.load(from, {i, j}))})}));
    };
    part(a, h, 0);
    part(b, m, h);
  }
  run_both(concat.finish(), {{3, 4}, {3, 6}, {3, 10}}, {to_bytes(random_floats(12)), to_bytes(random_floats(18))});
}

TEST(Interpreter, ReductionsKeepTheirOrder) {
  const PrimExpr n = make_sym_var("n"), m = make_sym_var("m"), k = make_sym_var("k");
  struct Case {
    DType dtype;
    ExprOp op;
    double init;
  };
  for (const Case& each :
       {Case{DType::Float32, ExprOp::Add, 0}, Case{DType::Float32, ExprOp::Max, -INFINITY},
        Case{DType::Float16, ExprOp::Add, 0}, Case{DType::BFloat16, ExprOp::Mul, 1}, Case{DType::Int8, ExprOp::Add, 0},
        Case{DType::UInt64, ExprOp::Min, 1e18}, Case{DType::Bool, ExprOp::And, 1}, Case{DType::Bool, ExprOp::Or, 0}}) {
    for (const int axis : {0, 1, 2}) {
      FuncBuilder f("reduce");
      const std::vector<PrimExpr> dims = {n, m, k};
      std::vector<PrimExpr> kept = dims;
      kept.erase(kept.begin() + axis);
      const BufferId x = f.input("x", each.dtype, dims);
      const BufferId y = f.output("y", each.dtype, kept);
      f.reduce(y, each.op, constant(each.dtype, each.init), {dims[static_cast<size_t>(axis)]},
               [&](const Indices& i, const Indices& r) {
                 Indices at = i;
                 at.insert(at.begin() + axis, r[0]);
                 return f.load(x, at);
               });
      std::vector<int64_t> full = {3, 4, 300};
      std::vector<int64_t> rest = full;
      rest.erase(rest.begin() + axis);
      const PrimFunc func = f.finish();
      std::mt19937 random(5);
      Bytes input(3 * 4 * 300 * dtype_bytes(each.dtype));
      if (each.dtype == DType::Float16) {
        std::vector<Half> values(3600);
        for (Half& value : values) value = Half(std::uniform_real_distribution<float>(-1, 1)(random));
        std::memcpy(input.data(), values.data(), input.size());
      } else if (each.dtype == DType::BFloat16) {
        std::vector<BHalf> values(3600);
        for (BHalf& value : values) value = BHalf(std::uniform_real_distribution<float>(-1.1f, 1.1f)(random));
        std::memcpy(input.data(), values.data(), input.size());
      } else if (each.dtype == DType::Float32) {
        input = to_bytes(random_floats(3600));
      } else {
        for (std::byte& byte : input) byte = static_cast<std::byte>(random() % 3);
      }
      run_both(func, {full, rest}, {input});
    }
  }
}

TEST(Interpreter, LoopsThatCarryValuesRunInOrder) {
  const PrimExpr n = make_sym_var("n");
  FuncBuilder f("cumsum");
  const BufferId x = f.input("x", DType::Int32, {n});
  const BufferId y = f.output("y", DType::Int32, {n});
  const SymVar i = make_sym_var("i");
  f.append(loop(
      i, n, LoopKind::Serial,
      {branch(binary(ExprOp::Equal, index_value(i), constant_int(DType::Int64, 0)), {store(y, {i}, f.load(x, {i}))},
              {store(y, {i}, binary(ExprOp::Add, f.load(y, {PrimExpr(i) - 1}), f.load(x, {i})))})}));
  std::vector<int32_t> values(1000);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<int32_t>(k * k);
  run_both(f.finish(), {{1000}, {1000}}, {to_bytes(values)});
}

TEST(Interpreter, ArgmaxTakesTheLowestIndex) {
  const PrimExpr n = make_sym_var("n"), m = make_sym_var("m");
  FuncBuilder f("argmax");
  const BufferId x = f.input("x", DType::Float32, {n, m});
  const BufferId y = f.output("y", DType::Int64, {n});
  const BufferId best = f.temporary("best", DType::Float32, {n});
  const SymVar i = make_sym_var("i"), k = make_sym_var("k");
  f.append(loop(i, n, LoopKind::Parallel,
                {store(best, {i}, f32(-INFINITY)), store(y, {i}, constant_int(DType::Int64, 0)),
                 loop(k, m, LoopKind::Serial,
                      {branch(binary(ExprOp::Greater, f.load(x, {i, k}), f.load(best, {i})),
                              {store(best, {i}, f.load(x, {i, k})), store(y, {i}, index_value(k))})})}));
  const PrimFunc func = f.finish();
  const auto result = run_both(func, {{2, 4}, {2}}, {to_bytes<float>({1, 5, 5, 2, 7, 1, 7, 0})});
  EXPECT_EQ(from_bytes<int64_t>(result[1]), (std::vector<int64_t>{1, 0}));
  run_both(func, {{300, 7}, {300}}, {to_bytes(random_floats(2100))});
  run_both(func, {{7, 300}, {7}}, {to_bytes(random_floats(2100))});
}

TEST(Interpreter, PaddingEvaluatesOnlyTheChosenBranch) {
  const PrimExpr n = make_sym_var("n");
  FuncBuilder f("pad");
  const BufferId x = f.input("x", DType::Float32, {n});
  const BufferId y = f.output("y", DType::Float32, {n + 5});
  f.compute(y, [&](const Indices& i) {
    const Expr at = index_value(i[0]);
    const Expr inside = binary(ExprOp::And, binary(ExprOp::GreaterEqual, at, constant_int(DType::Int64, 2)),
                               binary(ExprOp::Less, at, index_value(n + 2)));
    return select(inside, f.load(x, {i[0] - 2}), f32(9));
  });
  const PrimFunc func = f.finish();
  for (const int64_t size : {0, 1, 300})
    run_both(func, {{size}, {size + 5}}, {to_bytes(random_floats(static_cast<size_t>(size)))});
}

TEST(Interpreter, IntegerDivisionFaultsOnlyWhereItIsEvaluated) {
  const PrimExpr n = make_sym_var("n");
  for (const bool guarded : {false, true}) {
    FuncBuilder f("divide");
    const BufferId a = f.input("a", DType::Int32, {n});
    const BufferId b = f.input("b", DType::Int32, {n});
    const BufferId y = f.output("y", DType::Int32, {n});
    const Expr zero = constant_int(DType::Int32, 0);
    f.compute(y, [&](const Indices& i) {
      const Expr quotient = binary(ExprOp::Div, f.load(a, i), f.load(b, i));
      return guarded ? select(binary(ExprOp::NotEqual, f.load(b, i), zero), quotient, zero) : quotient;
    });
    const PrimFunc func = f.finish();
    run_both(func, {{4}, {4}, {4}}, {to_bytes<int32_t>({7, -7, INT32_MIN, 1}), to_bytes<int32_t>({2, 2, -1, 3})});
    run_both(func, {{4}, {4}, {4}}, {to_bytes<int32_t>({7, -7, INT32_MIN, 1}), to_bytes<int32_t>({2, 0, -1, 0})});
  }
}

TEST(Interpreter, ScalarsAndIndexArithmetic) {
  const PrimExpr n = make_sym_var("n");
  FuncBuilder f("roll");
  const BufferId x = f.input("x", DType::Int64, {n});
  const BufferId y = f.output("y", DType::Int64, {n});
  const LetRef shift = f.scalar("shift", DType::Int64);
  const LetRef factor = f.scalar("factor", DType::Int64);
  f.compute(y, [&](const Indices& i) {
    const PrimExpr from = floor_mod(i[0] + PrimExpr(shift->index), n);
    return binary(ExprOp::Mul, f.load(x, {from}), let_value(factor));
  });
  const PrimFunc func = f.finish();
  std::vector<int64_t> values(300);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<int64_t>(k);
  for (const int64_t by : {int64_t{0}, int64_t{5}, int64_t{-7}, INT64_MAX})
    run_both(func, {{300}, {300}}, {to_bytes(values)}, {static_cast<uint64_t>(by), 3});

  const auto shared = std::make_shared<const PrimFunc>(func);
  const Dims dims = {{4}, {4}};
  const Interpreter prepared(shared, dims, std::vector<int64_t>{1, 2});
  std::vector<int64_t> in = {1, 2, 3, 4}, out(4);
  const int64_t one = 1, two = 2;
  alignas(64) static std::byte scratch[1 << 16];
  ASSERT_LE(prepared.scratch_bytes(), sizeof scratch);
  std::byte* const buffers[] = {reinterpret_cast<std::byte*>(in.data()), reinterpret_cast<std::byte*>(out.data())};
  const void* const good[] = {&one, &two};
  EXPECT_FALSE(prepared.run(buffers, good, scratch, {}).failed);
  EXPECT_EQ(out, (std::vector<int64_t>{4, 6, 8, 2}));
  const void* const other[] = {&two, &two};
  EXPECT_EQ(prepared.run(buffers, other, scratch, {}).code, ErrorCode::ShapeMismatch);
}

TEST(Interpreter, OutputsThatAreNotWrittenWholeAreZero) {
  const PrimExpr n = make_sym_var("n");
  FuncBuilder f("first");
  const BufferId x = f.input("x", DType::Float32, {n});
  const BufferId y = f.output("y", DType::Float32, {n});
  f.append(store(y, {0}, f.load(x, {0})));
  const auto result = run_both(f.finish(), {{3}, {3}}, {to_bytes<float>({5, 6, 7})});
  EXPECT_EQ(from_bytes<float>(result[1]), (std::vector<float>{5, 0, 0}));
}

TEST(Interpreter, DimensionsMustFit) {
  const auto func = std::make_shared<const PrimFunc>(relu_func());
  const auto prepare = [&](const Dims& dims) { return Interpreter(func, dims, {}).work(); };
  EXPECT_EQ(prepare({{2, 3}, {2, 3}}), 6u);
  EXPECT_THROW(prepare({{2, 3}, {2, 4}}), Error);
  EXPECT_THROW(prepare({{2, 3}, {2}}), Error);
  EXPECT_THROW(prepare({{2, 3}}), Error);
  EXPECT_THROW(prepare({{-2, 3}, {-2, 3}}), Error);
  EXPECT_THROW(prepare({{INT64_MAX, INT64_MAX}, {INT64_MAX, INT64_MAX}}), Error);
}

TEST(Interpreter, LongRunsAskWhetherToStop) {
  const PrimExpr n = make_sym_var("n");
  FuncBuilder f("spin");
  const BufferId x = f.input("x", DType::Float32, {n});
  const BufferId y = f.output("y", DType::Float32, {});
  f.reduce(y, ExprOp::Add, f32(0), {n * 1000000, PrimExpr(1000000)},
           [&](const Indices&, const Indices&) { return f.load(x, {0}); });
  int polls = 0;
  const PollPoint poll{[](void* context) { return ++*static_cast<int*>(context) == 3; }, &polls};
  std::vector<Bytes> buffers = {to_bytes<float>({1}), Bytes(4)};
  const auto begin = std::chrono::steady_clock::now();
  const RunStatus status = run_interpreter(f.finish(), {{1}, {}}, buffers, {}, poll);
  EXPECT_TRUE(status.failed);
  EXPECT_EQ(status.code, ErrorCode::Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
}

}  // namespace
}  // namespace ingot::tir
