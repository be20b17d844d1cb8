#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "vm/interpreter/session.h"
#include "vm/loader/linked.h"
#include "vm/tool/arguments.h"
#include "vm/tool/commands.h"
#include "vm/tool/forms.h"
#include "vm/tool/profile_export.h"

namespace ingot::tool {
namespace {

struct Options {
  RunArguments run;
  MachineOptions machine;
  size_t runs = 5;
  bool json = false;
  bool kernels_only = false;
  std::string trace;
  std::string folded;
  size_t max_events = 200'000;
};

vm::LoadOptions load_options(const MachineOptions& options) {
  vm::LoadOptions result;
  if (!options.load.cpu.empty()) result.cpu = parse_cpu(options.load.cpu);
  result.jit = options.jit == "on";
  result.perf_map = options.load.perf_map;
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

// One line of a table.
struct Row {
  uint64_t count;
  uint64_t nanoseconds;
  std::string name;
  nlohmann::json details;  // what JSON says besides
};

struct Table {
  std::string title;       // of JSON's list
  std::string count_name;  // "calls"
  std::vector<Row> rows;
};

Table kernel_table(const vm::Executable& executable, const vm::Profile& profile) {
  Table table{"kernels", "calls", {}};
  for (const vm::KernelTime& time : profile.kernels()) {
    const std::string& function = executable.program().functions[time.function].name;
    const std::string kernel = kernel_name(executable, time.function, time.unit);
    table.rows.push_back({time.calls,
                          time.nanoseconds,
                          fmt::format("{} in @{}, unit {}", kernel, function, time.unit),
                          {{"kernel", kernel}, {"function", function}, {"unit", time.unit}}});
  }
  return table;
}

Table function_table(const vm::Executable& executable, const vm::Profile& profile) {
  Table table{"functions", "calls", {}};
  for (const vm::FunctionTime& time : profile.functions()) {
    const std::string& name = executable.program().functions[time.function].name;
    table.rows.push_back(
        {time.calls,
         time.nanoseconds,
         fmt::format("@{}, {:.3f} ms with callees", name, static_cast<double>(time.with_callees) / 1e6),
         {{"function", name}, {"with_callees_ns", time.with_callees}}});
  }
  return table;
}

Table instruction_table(const vm::Profile& profile) {
  Table table{"instructions", "count", {}};
  for (const vm::InstructionTime& time : profile.instructions()) {
    const std::string mnemonic(vm::opcode_info(time.opcode).mnemonic);
    table.rows.push_back({time.count, time.nanoseconds, mnemonic, {{"instruction", mnemonic}}});
  }
  return table;
}

// Shares are of the table's total: that of kernels is a part of the functions' and instructions'.
double total_of(const Table& table) {
  double total = 0;
  for (const Row& row : table.rows) total += static_cast<double>(row.nanoseconds);
  return std::max(1.0, total);
}

double mean_of(const Row& row) {
  return static_cast<double>(row.nanoseconds) / static_cast<double>(std::max<uint64_t>(1, row.count));
}

void print(const Table& table) {
  if (table.rows.empty()) return;
  print_line(
      fmt::format("{:>7} {:>10} {:>12} {:>12}  {}", "share", table.count_name, "total ms", "mean us", table.title));
  for (const Row& row : table.rows) {
    const auto ns = static_cast<double>(row.nanoseconds);
    print_line(fmt::format("{:>6.2f}% {:>10} {:>12.3f} {:>12.3f}  {}", 100 * ns / total_of(table), row.count, ns / 1e6,
                           mean_of(row) / 1e3, row.name));
  }
  print_line("");
}

nlohmann::json to_json(const Table& table) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : table.rows) {
    nlohmann::json object = row.details;
    object[table.count_name] = row.count;
    object["total_ns"] = row.nanoseconds;
    object["mean_ns"] = mean_of(row);
    object["share"] = static_cast<double>(row.nanoseconds) / total_of(table);
    rows.push_back(std::move(object));
  }
  return rows;
}

void save_text(const std::string& path, const std::string& text) {
  save_file(path, [&](const ByteSink& sink) { sink(std::as_bytes(std::span(text))); });
}

void deliver(const vm::Executable& executable, const vm::Profile& profile, const Options& options) {
  const std::array<Table, 3> tables{function_table(executable, profile), instruction_table(profile),
                                    kernel_table(executable, profile)};
  nlohmann::json all;
  for (const Table& table : tables) {
    if (options.json)
      all[table.title] = to_json(table);
    else
      print(table);
  }
  if (options.json) print_line(all.dump());
  if (!options.trace.empty()) save_text(options.trace, trace_events(executable, profile).dump());
  if (!options.folded.empty()) save_text(options.folded, folded_stacks(executable, profile));
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
  vm::ProfileOptions profile_options;
  profile_options.instructions = !options.kernels_only;
  if (!options.trace.empty()) profile_options.max_spans = options.max_events;
  run_options.profile = std::make_shared<vm::Profile>(profile_options);
  for (size_t i = 0; i < options.runs; ++i) session->recycle(session->run(*index, inputs, run_options));
  deliver(*executable, *run_options.profile, options);
  return 0;
}

}  // namespace

Tool::Command configure_profile(CLI::App& command, const Sources& sources) {
  const auto options = std::make_shared<Options>();
  add_run_arguments(command, options->run);
  add_machine_options(command, options->machine);
  command.add_option("--runs", options->runs, "how many runs to measure, after one that is not")->capture_default_str();
  command.add_flag("--json", options->json, "print JSON");
  command.add_flag("--kernels-only", options->kernels_only,
                   "run at full speed between kernels, and measure only these");
  command.add_option("--trace", options->trace, "write Chrome trace events to this file");
  command.add_option("--max-events", options->max_events, "at most so many of them")->capture_default_str();
  command.add_option("--folded", options->folded, "write folded stacks, the input of flame graphs, to this file");
  return [options, &sources] { return profile_runs(*options, sources); };
}

}  // namespace ingot::tool
