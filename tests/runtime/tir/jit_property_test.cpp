#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "jit_compare.h"
#include "random_func.h"
#include "runtime/base/error.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/nest.h"
#include "runtime/tir/text.h"
#include "runtime/tir/vectorize.h"
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
    const bool common = (expr.op >= ExprOp::Exp && expr.op <= ExprOp::Sigmoid) || expr.op == ExprOp::Gelu ||
                        expr.op == ExprOp::Pow || expr.op == ExprOp::Atan2;
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

// The most values that the body adds to, or multiplies with, one element; `around`: loops that the element moves with
// or not.
double most_terms(const std::vector<NestStmt>& body, std::vector<const NestLoop*>& around) {
  double most = 1;
  for (const NestStmt& stmt : body) {
    if (const auto* loop = std::get_if<NestLoop>(&stmt.node)) {
      around.push_back(loop);
      most = std::max(most, most_terms(loop->body, around));
      around.pop_back();
    } else if (const auto* branch = std::get_if<NestIf>(&stmt.node)) {
      most = std::max({most, most_terms(branch->then_body, around), most_terms(branch->else_body, around)});
    } else if (const auto* store = std::get_if<NestStore>(&stmt.node)) {
      double terms = 1;
      for (const NestLoop* each : around) {
        bool moves = false;
        for (const PrimExpr& index : store->place.indices) moves |= mentions_any(index, {each->var.get()});
        if (!moves) terms *= static_cast<double>(each->extent.as_const().value_or(64));
      }
      most = std::max(most, terms);
    }
  }
  return most;
}

// Sums in another order: half a unit for each term, and as much again for what is computed before and behind. Functions
// of f32 may be 4 units off, which what follows makes larger.
double tolerance_of(DType dtype, double terms) {
  switch (dtype) {
    case DType::Float16:
      return std::min((terms + 16) * 0x1p-12, 0.06);
    case DType::BFloat16:
      return std::min((terms + 16) * 0x1p-9, 0.06);
    case DType::Float32:
      return std::min((terms + 64) * 0x1p-20, 0.02);
    default:
      return (terms + 64) * 0x1p-20;
  }
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
    std::vector<const NestLoop*> around;
    const double terms = most_terms(make_nest(func, dims, {}).body, around);
    for (size_t i = 0; i < func.params && !both.reference.failed; ++i) {
      const DType dtype = func.buffers[i].dtype;
      if (!close_elements(dtype, buffers[i], expected[i], is_exact(func) ? 0 : tolerance_of(dtype, terms)))
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
