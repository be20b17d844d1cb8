#pragma once
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "runtime/object/value.h"
#include <ingot/ingot.hpp>

namespace ingot::tool {

// Which function is run on what: shared by run, bench, eval and profile.
struct RunArguments {
  std::string file;
  std::string function = "main";
  std::vector<std::string> inputs;
};
void add_run_arguments(CLI::App& command, RunArguments& arguments);

// How executables are loaded and what their programs may do.
struct MachineOptions {
  api::LoadOptions load;
  std::string jit = "on";
  std::vector<std::string> plugins;
  std::vector<std::string> allow;
  uint64_t budget = 0;
  double deadline_ms = 0;
  size_t memory_limit = 0;
  size_t frame_limit = 0;

  api::LoadOptions load_options() const;
  api::RunOptions run_options() const;
};
void add_machine_options(CLI::App& command, MachineOptions& options);

// A parameter as programs name it.
using Params = std::vector<api::Param>;

// The value for each parameter: inputs with names stand where the name says, the others fill the places that are left,
// in order. Those that no input gives come from `missing`, which may throw. InvalidArgument for an
// unknown name, for two values of one parameter and for too many.
std::vector<Value> parse_inputs(const std::vector<std::string>& inputs, const Params& params,
                                const std::string& function,
                                const std::function<Value(const api::Param& param, size_t index)>& missing);
// For `missing`: an error that says what the parameter wants.
Value refuse_missing(const api::Param& param, const std::string& function);

// A session whose program may print to stdout, log to stderr, and call what plugins register and --allow names.
api::Session make_session(const api::Executable& executable, const MachineOptions& options);

}  // namespace ingot::tool
