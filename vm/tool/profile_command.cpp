#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "vm/interpreter/session.h"
#include "vm/loader/linked.h"
#include "vm/tool/arguments.h"
#include "vm/tool/commands.h"
#include "vm/tool/forms.h"

namespace ingot::tool {
namespace {

struct Options {
  RunArguments run;
  MachineOptions machine;
  size_t runs = 5;
  bool json = false;
};

vm::LoadOptions load_options(const MachineOptions& options) {
  vm::LoadOptions result;
  if (!options.load.cpu.empty()) result.cpu = parse_cpu(options.load.cpu);
  result.jit = options.jit == "on";
  result.threads = options.load.threads;
  result.kernels = options.load.kernels;
  return result;
}

Params params_of(const vm::Function& function) {
  Params params;
  for (size_t i = 0; i < function.params; ++i)
    params.push_back({i < function.param_names.size() ? function.param_names[i] : std::to_string(i),
                      i < function.signature->fields.size() ? to_text(function.signature->fields[i]) : "Object"});
  return params;
}

// What a kernel call computes: "conv2d", "@fused_add_relu".
std::string kernel_name(const vm::Executable& executable, const vm::KernelTime& time) {
  for (const vm::KernelSite& site : executable.facts().functions[time.function].kernels) {
    if (site.unit != time.unit) continue;
    const KernelCall& call = executable.program().kernels[site.kernel];
    return call.prim_func != nullptr ? "@" + call.prim_func->name : std::string(contract_name(call.contract));
  }
  return "kernel";
}

void print(const vm::Executable& executable, const vm::Profile& profile, const Options& options) {
  const double total = std::max(1.0, static_cast<double>(profile.nanoseconds()));
  nlohmann::json rows = nlohmann::json::array();
  if (!options.json)
    print_line(fmt::format("{:>7} {:>8} {:>12} {:>12}  {}", "share", "calls", "total ms", "mean us", "kernel"));
  for (const vm::KernelTime& time : profile.kernels()) {
    const auto ns = static_cast<double>(time.nanoseconds);
    const vm::Function& function = executable.program().functions[time.function];
    const std::string name = kernel_name(executable, time);
    if (options.json) {
      rows.push_back({{"function", function.name},
                      {"unit", time.unit},
                      {"kernel", name},
                      {"calls", time.calls},
                      {"total_ns", time.nanoseconds},
                      {"share", ns / total}});
    } else {
      print_line(fmt::format("{:>6.2f}% {:>8} {:>12.3f} {:>12.2f}  {} in @{}, unit {}", 100 * ns / total, time.calls,
                             ns / 1e6, ns / 1e3 / static_cast<double>(time.calls), name, function.name, time.unit));
    }
  }
  if (options.json) print_line(nlohmann::json{{"kernels", std::move(rows)}}.dump());
}

int profile_runs(const Options& options, const Sources& sources) {
  const auto executable =
      vm::Executable::from_program(sources.program(options.run.file), load_options(options.machine));
  const std::string& name = options.run.function;
  const auto index = executable->find(name);
  if (!index) fail(ErrorCode::InvalidArgument, "there is no exported function @{}", name);
  const std::vector<Value> inputs = parse_inputs(options.run.inputs, params_of(executable->program().functions[*index]),
                                                 name, [&](const api::Param& param, size_t i) {
                                                   auto value = random_value(param.info, i);
                                                   return value ? *value : refuse_missing(param, name);
                                                 });
  const auto session = vm::Session::create(executable);
  session->run(*index, inputs);
  vm::RunOptions run_options;
  run_options.profile = std::make_shared<vm::Profile>();
  for (size_t i = 0; i < options.runs; ++i) session->recycle(session->run(*index, inputs, run_options));
  print(*executable, *run_options.profile, options);
  return 0;
}

}  // namespace

Tool::Command configure_profile(CLI::App& command, const Sources& sources) {
  const auto options = std::make_shared<Options>();
  add_run_arguments(command, options->run);
  add_machine_options(command, options->machine);
  command.add_option("--runs", options->runs, "how many runs to measure, after one that is not")->capture_default_str();
  command.add_flag("--json", options->json, "print JSON");
  return [options, &sources] { return profile_runs(*options, sources); };
}

}  // namespace ingot::tool
