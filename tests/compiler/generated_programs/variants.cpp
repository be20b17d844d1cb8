#include "tests/compiler/generated_programs/variants.h"

#include <optional>
#include <regex>

#include <fmt/format.h>

#include "compiler/evaluator/evaluator.h"
#include "compiler/ir/structural_equal.h"
#include "compiler/text/printer.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/tensor_text.h"
#include "runtime/tensor/value_text.h"
#include "tests/compiler/compiled_text.h"
#include "vm/interpreter/session.h"

namespace ingot::generated {
namespace {

constexpr uint64_t kMostInstructions = 100'000;

// How a run ended.
struct Outcome {
  Value value;
  std::optional<ErrorCode> error;
  std::string message;
  std::string log;
};

template <typename Body>
Outcome outcome_of(const Body& body) {
  Outcome outcome;
  try {
    outcome.value = body([&](std::string_view line) { (outcome.log += line) += '\n'; });
  } catch (const Error& error) {
    outcome.error = error.code();
    outcome.message = error.label() + ": " + error.what();
  }
  return outcome;
}

std::string difference(const Value& actual, const Value& expected) {
  const auto differ = [&] { return fmt::format("{} instead of {}", value_text(actual), value_text(expected)); };
  if (actual.kind() == Kind::Tuple && expected.kind() == Kind::Tuple) {
    const auto a = actual.get<TupleObject>()->fields(), b = expected.get<TupleObject>()->fields();
    if (a.size() != b.size()) return differ();
    for (size_t i = 0; i < a.size(); ++i) {
      const std::string inner = difference(Value::copy_of(a[i]), Value::copy_of(b[i]));
      if (!inner.empty()) return inner;
    }
    return {};
  }
  const bool tensors = (actual.kind() == Kind::Tensor || actual.kind() == Kind::Scalar) &&
                       (expected.kind() == Kind::Tensor || expected.kind() == Kind::Scalar);
  if (!tensors) return value_text(actual) == value_text(expected) ? "" : differ();
  const auto a = to_tensor(nullptr, actual), b = to_tensor(nullptr, expected);
  if (a->dtype != b->dtype || !std::ranges::equal(a->dims(), b->dims())) return differ();
  return compare_tensors(*a, *b, {1e-4, 1e-5}).matches() ? "" : differ();
}

// Of an operator whose shapes turn out not to fit only the code is compared: docs/language.md tells why.
bool is_of_shapes(const Outcome& outcome) {
  static const std::regex named("ShapeMismatch: \\w+: .*");
  return outcome.error == ErrorCode::ShapeMismatch && std::regex_match(outcome.message, named);
}

std::string difference(const Outcome& actual, const Outcome& expected) {
  const bool same_text = actual.message == expected.message || is_of_shapes(actual) || is_of_shapes(expected);
  if (actual.error != expected.error || !same_text)
    return fmt::format("{} instead of {}", actual.error ? actual.message : value_text(actual.value),
                       expected.error ? expected.message : value_text(expected.value));
  if (actual.log != expected.log) return fmt::format("the log\n{}instead of\n{}", actual.log, expected.log);
  return expected.error ? "" : difference(actual.value, expected.value);
}

// A program brought to each form once, and run in its ways.
class Subject {
 public:
  explicit Subject(const Program& program) : module_(parsed_text(program.text)) {
    for (const auto& input : program.inputs) inputs_.push_back(to_value(parse_tensor(input)));
  }

  std::string printed_otherwise() const {
    std::string where;
    const std::string text = text::print(module_);
    return ir::structurally_equal(parsed_text(text), module_, &where)
               ? ""
               : fmt::format("the printed program differs: {}\n{}", where, text);
  }

  Outcome evaluated() const {
    const ir::Module module = typed_program(module_);
    return outcome_of([&](auto log) {
      evaluator::Options options;
      options.log = options.print = log;
      return evaluator::evaluate(module, "main", inputs_, options);
    });
  }

  Outcome run(const std::string& without, const std::string& kernels = {}) const {
    return run(loaded_program(module_, without, kernels));
  }

  // What is printed behind a pass, read and run.
  Outcome run_reread(const std::string& pass) const {
    transform::PassContext context;
    const ir::Module module = transform::run_passes(module_, std::vector<std::string>{pass}, context);
    return run(loaded_program(parsed_text(text::print(module)), "all"));
  }

 private:
  Outcome run(const std::shared_ptr<const vm::Executable>& executable) const {
    return outcome_of([&](auto log) {
      vm::SessionOptions options;
      options.log = options.print = log;
      vm::RunOptions limits;
      limits.instruction_budget = kMostInstructions;
      return vm::Session::create(executable, options)->run("main", inputs_, limits);
    });
  }

  ir::Module module_;
  std::vector<Value> inputs_;
};

Verdict judge(const Program& program) {
  const Subject subject(program);
  Verdict verdict;
  verdict.mismatch = subject.printed_otherwise();
  if (!verdict.mismatch.empty()) return verdict;

  const Outcome best = subject.run("");
  verdict.too_long = best.error == ErrorCode::ResourceExhausted;
  verdict.failed = best.error.has_value();
  if (verdict.too_long) return verdict;
  const Outcome expected = subject.evaluated();
  const auto hold = [&](const std::string& name, const Outcome& outcome) {
    const std::string found = difference(outcome, expected);
    if (verdict.mismatch.empty() && !found.empty()) verdict.mismatch = fmt::format("{}: {}", name, found);
  };
  hold("VM", best);
  hold("VM with reference kernels", subject.run("", "reference"));
  hold("VM --without all", subject.run("all"));
  for (const auto& pass : transform::passes())
    if (pass.optional) hold(fmt::format("VM --without {}", pass.name), subject.run(std::string(pass.name)));
  // One of the passes that leave programs of the language, in turn; kernel calls cannot be written.
  std::vector<std::string> readable;
  for (const auto& pass : transform::passes())
    if (pass.leaves <= ir::Form::Typed && pass.name != "fuse_library_kernels") readable.emplace_back(pass.name);
  const std::string& pass = readable[program.text.size() % readable.size()];
  hold(fmt::format("VM, read again behind {}", pass), subject.run_reread(pass));
  return verdict;
}

}  // namespace

Verdict check(const Program& program) {
  try {
    return judge(program);
  } catch (const ir::CompileError& error) {
    return {false, false, "does not compile\n" + ir::render(error.errors())};
  } catch (const Error& error) {
    return {false, false, "does not compile: " + error.label() + ": " + error.what()};
  }
}

}  // namespace ingot::generated
