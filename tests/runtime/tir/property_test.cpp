#include <cmath>

#include <gtest/gtest.h>

#include "functions.h"
#include "random_func.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/codec.h"
#include "runtime/tir/same_func.h"
#include "runtime/tir/text.h"

namespace ingot::tir {
namespace {

bool well_formed(const PrimFunc& func) {
  try {
    check(func);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::WellFormedness) << error.what() << "\n" << print(func);
    return false;
  }
}

// Any NaN is as good as another.
bool same_elements(DType dtype, const Bytes& a, const Bytes& b) {
  return a.size() == b.size() && with_element(dtype, [&]<typename T>() {
           for (size_t at = 0; at < a.size(); at += sizeof(T)) {
             const T x = load_element<T>(a.data() + at);
             const T y = load_element<T>(b.data() + at);
             if constexpr (FloatElement<T>)
               if (std::isnan(widen(x)) && std::isnan(widen(y))) continue;
             if (std::memcmp(&x, &y, sizeof(T)) != 0) return false;
           }
           return true;
         });
}

TEST(TirProperty, InterpreterDoesWhatTheObviousEvaluatorDoes) {
  int compared = 0;
  int faults = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    RandomFunc random(seed);
    const PrimFunc func = random.make();
    if (!well_formed(func)) continue;
    for (int round = 0; round < 2; ++round) {
      const Dims dims = random.dims();
      std::vector<Bytes> expected = random.inputs(dims);
      std::vector<Bytes> buffers = expected;
      const RunStatus reference = run_reference(func, dims, expected);
      const RunStatus status = run_interpreter(func, dims, buffers);
      ASSERT_EQ(status.failed, reference.failed) << "seed " << seed << "\n" << print(func);
      ++(status.failed ? faults : compared);
      for (size_t i = 0; i < func.params && !status.failed; ++i)
        ASSERT_TRUE(same_elements(func.buffers[i].dtype, buffers[i], expected[i]))
            << "seed " << seed << ", " << func.buffers[i].name << "\n"
            << print(func);
    }
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(faults, 15);
}

TEST(TirProperty, TextAndBytesRoundTrip) {
  int round_trips = 0;
  for (uint32_t seed = 10000; seed < 10300; ++seed) {
    const PrimFunc func = RandomFunc(seed).make();
    if (!well_formed(func)) continue;
    ++round_trips;
    const std::string text = print(func);
    size_t offset = 0;
    const PrimFunc again = parse(text, offset);
    ASSERT_TRUE(same_func(func, again)) << text << print(again);
    ASSERT_EQ(print(again), text);
    ByteWriter out;
    encode(out, func);
    ByteReader in(out.bytes(), "test");
    ASSERT_TRUE(same_func(func, decode_prim_func(in))) << text;
  }
  EXPECT_GT(round_trips, 90);
}

// What the checker lets pass stays within its buffers, whatever it is; the sanitizers watch.
TEST(TirProperty, DamagedFunctionsStayInBounds) {
  std::vector<PrimFunc> functions = {relu_func(), softmax_func(), gather_func()};
  for (uint32_t seed = 1; seed < 20; ++seed)
    if (PrimFunc func = RandomFunc(seed).make(); well_formed(func)) functions.push_back(std::move(func));
  std::mt19937 random(7);
  int runs = 0;
  for (const PrimFunc& func : functions) {
    ByteWriter out;
    encode(out, func);
    for (int round = 0; round < 150; ++round) {
      std::vector<std::byte> bytes(out.bytes().begin(), out.bytes().end());
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << (random() % 8));
      try {
        ByteReader in(bytes, "test");
        const PrimFunc damaged = decode_prim_func(in);
        check(damaged);
        Dims dims;
        for (size_t i = 0; i < damaged.params; ++i) dims.emplace_back(damaged.buffers[i].dims.size(), 3);
        const Interpreter interpreter(std::make_shared<const PrimFunc>(damaged), dims, {});
        if (interpreter.scratch_bytes() > (1u << 24)) continue;
        std::vector<Bytes> buffers;
        for (size_t i = 0; i < damaged.params; ++i) buffers.emplace_back(buffer_bytes(damaged, dims, i), std::byte{1});
        const std::vector<uint64_t> scalars(damaged.scalars.size(), 2);
        run_interpreter(damaged, dims, buffers, scalars, {[](void*) { return true; }, nullptr});
        ++runs;
      } catch (const Error& error) {
        EXPECT_NE(error.code(), ErrorCode::Internal) << error.what();
      }
    }
  }
  EXPECT_GT(runs, 100);
}

}  // namespace
}  // namespace ingot::tir
