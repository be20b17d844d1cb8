#include "vm/tool/arguments.h"

#include <cstdio>
#include <optional>

#include <dlfcn.h>

#include <fmt/format.h>

#include "runtime/base/error.h"
#include "vm/tool/forms.h"
#include "vm/tool/tool.h"

namespace ingot::tool {
namespace {

// Plugins stay loaded until the process ends: their functions may be called until then.
void load_plugin(const std::string& path, api::Session& session) {
  const std::string place = path.find('/') == std::string::npos ? "./" + path : path;
  void* library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(ErrorCode::Io, "plugin {}: {}", path, ::dlerror());
  auto* init = reinterpret_cast<ingot_plugin_register_function>(::dlsym(library, INGOT_PLUGIN_SYMBOL));
  if (init == nullptr) fail(ErrorCode::InvalidArgument, "plugin {} has no function {}", path, INGOT_PLUGIN_SYMBOL);
  api::check(init(&api::table(), session.get()));
}

size_t index_of(const std::string& name, const Params& params, const std::string& function) {
  std::string names;
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].name == name) return i;
    names += (names.empty() ? "" : ", ") + params[i].name;
  }
  fail(ErrorCode::InvalidArgument, "@{} has no parameter {}; it has {}", function, name,
       names.empty() ? "none" : names);
}

}  // namespace

void add_run_arguments(CLI::App& command, RunArguments& arguments) {
  command.add_option("FILE", arguments.file, "the program")->required();
  command.add_option("--function", arguments.function, "which exported function")->capture_default_str();
  command
      .add_option("--input", arguments.inputs,
                  "an argument: x=@x.npy, x=2x3xf32=1 2 3 4 5 6, x=2x3xf32=random, x=shape(2, 3), x=prim(3); "
                  "without x= by position")
      ->allow_extra_args(false);
}

void add_machine_options(CLI::App& command, MachineOptions& options) {
  command.add_option("--threads", options.load.threads, "threads of a run")->capture_default_str();
  command.add_option("--cpu", options.load.cpu, "at most this instruction set: any, avx2, avx512, avx512_bf16, amx");
  command.add_option("--jit", options.jit, "on or off: compile PrimFuncs or interpret them")
      ->check(CLI::IsMember({"on", "off"}));
  command.add_flag("--perf-map", options.load.perf_map, "name generated functions in /tmp/perf-PID.map, for perf");
  command.add_option("--kernels", options.load.kernels, "reference: the slow obvious kernels");
  command.add_flag("--copy", options.load.copy, "read the file instead of mapping it");
  command.add_option("--plugin", options.plugins, "a shared library that registers PackedFuncs")
      ->allow_extra_args(false);
  command.add_option("--allow", options.allow, "a PackedFunc that the program may call")->allow_extra_args(false);
  command.add_option("--budget", options.budget, "at most this many instructions");
  command.add_option("--deadline-ms", options.deadline_ms, "at most this many milliseconds");
  command.add_option("--memory-limit", options.memory_limit, "at most this many bytes of values and arena");
  command.add_option("--frame-limit", options.frame_limit, "at most this many bytes of frames and registers");
}

api::LoadOptions MachineOptions::load_options() const {
  api::LoadOptions result = load;
  result.jit = jit == "on";
  return result;
}

api::RunOptions MachineOptions::run_options() const {
  api::RunOptions options;
  options.instruction_budget = budget;
  options.deadline = std::chrono::nanoseconds(static_cast<int64_t>(deadline_ms * 1e6));
  options.memory_limit = memory_limit;
  options.frame_limit = frame_limit;
  return options;
}

std::vector<Value> parse_inputs(const std::vector<std::string>& inputs, const Params& params,
                                const std::string& function,
                                const std::function<Value(const api::Param& param, size_t index)>& missing) {
  std::vector<std::optional<Value>> values(params.size());
  const auto put = [&](size_t index, const std::string& form) {
    if (values[index]) fail(ErrorCode::InvalidArgument, "input {} is given twice", params[index].name);
    try {
      values[index] = parse_form(form, params[index].info, index);
    } catch (Error& error) {
      error.add_context("input " + params[index].name);
      throw;
    }
  };
  std::vector<std::string> positional;
  for (const std::string& input : inputs) {
    const NamedForm named = split_form(input);
    if (named.name.empty()) {
      positional.push_back(named.form);
    } else {
      put(index_of(named.name, params, function), named.form);
    }
  }
  size_t position = 0;
  for (const std::string& form : positional) {
    while (position < values.size() && values[position]) ++position;
    if (position == values.size())
      fail(ErrorCode::ArityMismatch, "@{} has {} parameters, there are more inputs", function, params.size());
    put(position, form);
  }
  std::vector<Value> result;
  for (size_t i = 0; i < params.size(); ++i)
    result.push_back(values[i] ? std::move(*values[i]) : missing(params[i], i));
  return result;
}

Value refuse_missing(const api::Param& param, const std::string& function) {
  fail(ErrorCode::InvalidArgument, "@{}: input {} is missing; it is {}", function, param.name, param.info);
}

api::Session make_session(const api::Executable& executable, const MachineOptions& options) {
  api::SessionOptions session_options;
  session_options.allow = options.allow;
  session_options.print = print_line;
  session_options.log = [](std::string_view line) {
    const std::string text = fmt::format("{}\n", line);
    std::fwrite(text.data(), 1, text.size(), stderr);
  };
  api::Session session(executable, std::move(session_options));
  for (const std::string& plugin : options.plugins) load_plugin(plugin, session);
  return session;
}

}  // namespace ingot::tool
