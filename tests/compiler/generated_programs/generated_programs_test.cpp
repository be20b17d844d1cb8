#include <chrono>
#include <cstdlib>
#include <iostream>

#include <rapidcheck.h>

#include <gtest/gtest.h>

#include "runtime/base/stack.h"
#include "tests/compiler/generated_programs/variants.h"

// Differential tests over generated programs. Program number k is the same in every run; INGOT_SOAK=1 runs 100,000 of
// them, INGOT_PROGRAMS=first:last those, INGOT_PROGRAMS=number shows that one.
namespace ingot::generated {
namespace {

rc::Shrinkable<Recipe> recipe_of(uint64_t number) {
  const int size = 20 + static_cast<int>(number % 8) * 20;
  const auto byte = rc::gen::resize(100, rc::gen::arbitrary<uint8_t>());
  const auto bytes = rc::gen::resize(size, rc::gen::container<std::vector<uint8_t>>(byte));
  return rc::gen::container<Recipe>(bytes)(rc::Random(number), 5);
}

std::string shown(const Program& program) {
  std::string text = "// RUN: ingot run";
  for (const auto& input : program.inputs) text += " --input \"" + input + "\"";
  return text + "\n" + program.text;
}

// The smallest program that still fails, as far as rapidcheck finds one within a number of attempts.
std::string smallest_failure(rc::Shrinkable<Recipe> recipe) {
  std::string mismatch = check(generate(recipe.value())).mismatch;
  for (int attempts = 3000; attempts > 0;) {
    bool smaller = false;
    for (auto shrinks = recipe.shrinks(); attempts > 0;) {
      auto candidate = shrinks.next();
      if (!candidate) break;
      --attempts;
      const Verdict verdict = check(generate(candidate->value()));
      if (verdict.mismatch.empty()) continue;
      mismatch = verdict.mismatch;
      recipe = *candidate;
      smaller = true;
      break;
    }
    if (!smaller) break;
  }
  return mismatch + "\n" + shown(generate(recipe.value()));
}

struct Range {
  uint64_t first, last;
};

void check_programs(Range range) {
  size_t failed = 0, too_long = 0, mismatches = 0;
  auto told = std::chrono::steady_clock::now();
  for (uint64_t number = range.first; number < range.last && mismatches < 5; ++number) {
    const auto recipe = recipe_of(number);
    if (range.last - range.first == 1) std::cerr << shown(generate(recipe.value())) << std::endl;
    const Verdict verdict = check(generate(recipe.value()));
    failed += verdict.failed ? 1 : 0;
    too_long += verdict.too_long ? 1 : 0;
    if (!verdict.mismatch.empty()) {
      ++mismatches;
      ADD_FAILURE() << "program " << number << ": " << smallest_failure(recipe);
    }
    if (std::chrono::steady_clock::now() - told > std::chrono::seconds(60)) {
      told = std::chrono::steady_clock::now();
      std::cerr << number + 1 - range.first << " programs, " << failed << " of them end with an error, " << too_long
                << " are too long" << std::endl;
    }
  }
  const uint64_t count = range.last - range.first;
  std::cerr << count << " programs: " << failed << " end with an error, " << too_long << " are too long" << std::endl;
  // Otherwise the programs say little about values.
  EXPECT_LT(failed + too_long, count / 2 + 10);
}

TEST(GeneratedPrograms, RunAlikeInAllWays) {
  Range range{0, 2000};
  if (std::getenv("INGOT_SOAK") != nullptr) range.last = 100'000;
  if (const char* asked = std::getenv("INGOT_PROGRAMS"); asked != nullptr) {
    char* end = nullptr;
    range.first = std::strtoull(asked, &end, 10);
    range.last = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : range.first + 1;
  }
  run_with_stack(size_t{512} << 20, [&] { check_programs(range); });
}

}  // namespace
}  // namespace ingot::generated
