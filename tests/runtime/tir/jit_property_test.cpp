#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "jit_compare.h"
#include "random_func.h"
#include "runtime/base/error.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/nest.h"
#include "runtime/tir/text.h"
#include "runtime/tir/walk.h"

// Generated code against the interpreter, over generated functions. Function number k is the same in every run;
// INGOT_SOAK=1 runs 100,000 of every operator, INGOT_FUNCS=FIRST[:LAST] those numbers.
namespace ingot::tir {
namespace {

bool is_well_formed(const PrimFunc& func) {
  try {
    check(func);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Without sums whose order may change and without the functions that generated code has of its own.
bool is_exact(const PrimFunc& func) {
  bool exact = true, reduces = false;
  const auto own_function = [](const ExprNode& expr) {
    const bool common =
        (expr.op >= ExprOp::Exp && expr.op <= ExprOp::Sigmoid) || expr.op == ExprOp::Pow || expr.op == ExprOp::Atan2;
    return common && is_float(expr.dtype) && expr.dtype != DType::Float64;
  };
  for_each_stmt(func.body, [&](const StmtNode& stmt) {
    for_each_expr(stmt, [&](const ExprNode& expr) { exact &= !own_function(expr); });
    if (const auto* loop = std::get_if<For>(&stmt.node)) reduces |= loop->kind == LoopKind::Reduce;
  });
  for_each_stmt(func.body, [&](const StmtNode& stmt) {
    const auto* store = std::get_if<Store>(&stmt.node);
    if (store == nullptr || !is_float(store->value->dtype)) return;
    const ExprNode& value = *store->value;
    const bool least = value.op == ExprOp::Min || value.op == ExprOp::Max;
    if (!least && !(reduces && (value.op == ExprOp::Add || value.op == ExprOp::Mul))) return;
    for (const Expr& operand : value.operands) exact &= operand->op != ExprOp::Load || operand->buffer != store->buffer;
  });
  return exact;
}

struct Range {
  uint32_t first, last;
};
struct Counts {
  int compared = 0, shaped = 0, faults = 0, refused = 0, inexact = 0;
};

class Comparison {
 public:
  Comparison(Cpu cpu, Breadth breadth) : cpu_(cpu), breadth_(breadth) {}

  Counts run(Range range) {
    for (uint32_t seed = range.first; seed < range.last && !::testing::Test::HasFailure(); ++seed) {
      RandomFunc random(seed, breadth_);
      const PrimFunc func = random.make();
      if (!is_well_formed(func)) continue;
      if (range.last - range.first == 1) std::cerr << print(func) << std::endl;
      for (int round = 0; round < 3; ++round) compare(seed, func, random);
    }
    return counts_;
  }

 private:
  static constexpr uint64_t kMostWork = 200'000;

  void compare(uint32_t seed, const PrimFunc& func, RandomFunc& random) {
    const Dims dims = random.dims();
    std::vector<Bytes> expected = random.inputs(dims);
    std::vector<Bytes> buffers = expected;
    const uint64_t work = make_nest(func, dims, {}).work;
    if (work > kMostWork) return;
    const RunStatus reference = run_interpreter(func, dims, expected);
    const ThreadTeam& team = work > 10'000 ? two_ : one_;
    std::vector<Bytes> shaped = buffers;
    const Outcome outcome = run_jit(func, dims, buffers, cpu_, team);
    if (!outcome.compiled) {
      ++counts_.refused;
      return;
    }
    const bool exact = is_exact(func);
    if (!exact && breadth_ == Breadth::All) {
      ++counts_.inexact;
      return;
    }
    ++(reference.failed ? counts_.faults : counts_.compared);
    expect_close(seed, func, dims, {outcome, reference}, buffers, expected);
    const Outcome for_all = run_shaped(func, dims, shaped, cpu_, team);
    if (!for_all.compiled) return;
    ++counts_.shaped;
    expect_close(seed, func, dims, {for_all, reference}, shaped, expected);
  }

  struct Outcomes {
    Outcome outcome;
    RunStatus reference;
  };
  static void expect_close(uint32_t seed, const PrimFunc& func, const Dims& dims, const Outcomes& both,
                           const std::vector<Bytes>& buffers, const std::vector<Bytes>& expected) {
    const auto told = [&] {
      std::string text = "function " + std::to_string(seed) + ", dimensions";
      for (const auto& shape : dims) {
        text += " (";
        for (const int64_t dim : shape) text += " " + std::to_string(dim);
        text += " )";
      }
      return text + "\n" + print(func);
    };
    if (both.outcome.status.failed != both.reference.failed) {
      ADD_FAILURE() << (both.reference.failed ? "should fault: " : "faults: ") << told();
      return;
    }
    for (size_t i = 0; i < func.params && !both.reference.failed; ++i) {
      // Sums of halves round every time: 256 terms in another order may differ by 256 half units, 6 % in float16.
      const double tolerance = is_exact(func) ? 0 : dtype_bytes(func.buffers[i].dtype) == 2 ? 0.06 : 0.02;
      if (!close_elements(func.buffers[i].dtype, buffers[i], expected[i], tolerance))
        ADD_FAILURE() << func.buffers[i].name << ", " << difference(func.buffers[i].dtype, buffers[i], expected[i])
                      << ", of " << told();
    }
  }

  Cpu cpu_;
  Breadth breadth_;
  ThreadTeam one_{1}, two_{2};
  Counts counts_;
};

void expect_same(Cpu cpu, Breadth breadth) {
  if (detect_cpu() < cpu) GTEST_SKIP() << "needs " << cpu_name(cpu);
  Range range{0, breadth == Breadth::All ? 500u : 300u};
  if (std::getenv("INGOT_SOAK") != nullptr) range.last = 100'000;
  if (const char* asked = std::getenv("INGOT_FUNCS"); asked != nullptr) {
    char* end = nullptr;
    range.first = static_cast<uint32_t>(std::strtoul(asked, &end, 10));
    range.last = *end == ':' ? static_cast<uint32_t>(std::strtoul(end + 1, nullptr, 10)) : range.first + 1;
  }
  const Counts counts = Comparison(cpu, breadth).run(range);
  std::cerr << counts.compared << " compared, " << counts.shaped << " shaped, " << counts.faults << " fault, "
            << counts.refused << " refused, " << counts.inexact << " inexact" << std::endl;
  if (range.last - range.first < 300) return;
  EXPECT_GT(counts.compared, 200);
  EXPECT_GT(counts.shaped, 50);
  EXPECT_GT(counts.faults, 100);
  EXPECT_LT(counts.refused, counts.compared / 5);
}

TEST(JitProperty, Avx512DoesWhatTheInterpreterDoes) { expect_same(Cpu::Avx512, Breadth::Common); }
TEST(JitProperty, Avx2DoesWhatTheInterpreterDoes) { expect_same(Cpu::Avx2, Breadth::Common); }
TEST(JitProperty, Avx512DoesWhatTheInterpreterDoesForAllOperators) { expect_same(Cpu::Avx512, Breadth::All); }
TEST(JitProperty, Avx2DoesWhatTheInterpreterDoesForAllOperators) { expect_same(Cpu::Avx2, Breadth::All); }

}  // namespace
}  // namespace ingot::tir
