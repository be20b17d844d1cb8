#include "vm/tool/arguments.h"
#include "vm/tool/commands.h"
#include "vm/tool/forms.h"
#include "vm/tool/interrupt.h"
#include "vm/tool/outputs.h"

namespace ingot::tool {
namespace {

struct Options {
  RunArguments run;
  MachineOptions machine;
  OutputOptions output;
};

int run(const Options& options, const Sources& sources) {
  const api::Executable executable = sources.load(options.run.file, options.machine.load_options());
  api::Session session = make_session(executable, options.machine);
  const std::string& function = options.run.function;
  const Params params = executable.params(function);
  const std::vector<Value> inputs =
      parse_inputs(options.run.inputs, params, function,
                   [&](const api::Param& param, size_t) { return refuse_missing(param, function); });
  for (size_t i = 0; i < inputs.size(); ++i) session.set(i, to_api(inputs[i]), function);
  const CancelOnInterrupt interrupt;
  api::RunOptions run_options = options.machine.run_options();
  run_options.cancel = interrupt.token();
  session.run(function, run_options);
  std::vector<Output> outputs;
  for (size_t i = 0; i < session.output_count(); ++i) outputs.push_back(output_of(session.output(i)));
  return deliver(outputs, options.output);
}

}  // namespace

Tool::Command configure_run(CLI::App& command, const Sources& sources) {
  const auto options = std::make_shared<Options>();
  add_run_arguments(command, options->run);
  add_machine_options(command, options->machine);
  add_output_options(command, options->output);
  return [options, &sources] { return run(*options, sources); };
}

}  // namespace ingot::tool
