#include <cstdio>

#include "compiler/driver/commands.h"
#include "compiler/evaluator/evaluator.h"
#include "runtime/base/error.h"
#include "runtime/base/stack.h"
#include "runtime/checks/faults.h"
#include "vm/tool/arguments.h"
#include "vm/tool/outputs.h"

namespace ingot::driver {
namespace {

struct Options {
  tool::RunArguments run;
  tool::OutputOptions output;
  std::vector<std::string> allow;
};

void print_to_stderr(std::string_view line) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

std::vector<tool::Output> outputs_of(const Value& result) {
  std::vector<tool::Output> outputs;
  if (result.kind() != Kind::Tuple) {
    outputs.push_back(tool::output_of(result));
    return outputs;
  }
  for (const Slot& field : result.get<TupleObject>()->fields())
    outputs.push_back(tool::output_of(Value::copy_of(field)));
  return outputs;
}

constexpr size_t kStack = size_t{2} << 30;
constexpr size_t kSmallStack = size_t{512} << 20;
constexpr size_t kBesidesCalls = size_t{16} << 20;

std::vector<tool::Output> evaluate(const Options& options, size_t stack_bytes) {
  ir::Diagnostics diagnostics;
  const ir::Module module = run_passes(options.run.file, {"infer_struct_info"}, {}, diagnostics);
  const auto& name = options.run.function;
  const auto* definition = module.find(name);
  if (definition == nullptr || definition->function == nullptr || !definition->exported) {
    print_warnings(diagnostics);
    std::vector<std::string> exported;
    for (const auto& other : module.definitions())
      if (other.function != nullptr && other.exported) exported.push_back(other.name);
    fail_function(name, exported);
  }
  tool::Params params;
  for (const auto& param : definition->function->params) params.push_back({param->name, to_text(param->info)});
  const auto inputs = tool::parse_inputs(options.run.inputs, params, name, [&](const api::Param& param, size_t) {
    return tool::refuse_missing(param, name);
  });
  evaluator::Options evaluation;
  evaluation.stack_bytes = stack_bytes - kBesidesCalls;
  evaluation.allow.emplace(options.allow.begin(), options.allow.end());
  evaluation.log = print_to_stderr;
  evaluation.print = tool::print_line;
  const Value result = evaluator::evaluate(module, name, inputs, evaluation);
  print_warnings(diagnostics);
  return outputs_of(result);
}

}  // namespace

tool::Tool::Command configure_eval(CLI::App& command, const tool::Sources&) {
  const auto options = std::make_shared<Options>();
  tool::add_run_arguments(command, options->run);
  tool::add_output_options(command, options->output);
  command.add_option("--allow", options->allow, "accepted as for run; the evaluator calls only ingot.* names")
      ->allow_extra_args(false);
  return [options] {
    std::vector<tool::Output> outputs;
    // Reserved, not taken; a system that does not even reserve so much gets the stack of a compilation.
    const size_t stack_bytes = may_have_stack(kStack) ? kStack : kSmallStack;
    run_with_stack(stack_bytes, [&] { outputs = evaluate(*options, stack_bytes); });
    return tool::deliver(outputs, options->output);
  };
}

}  // namespace ingot::driver
