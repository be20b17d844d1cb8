#include "vm/tool/profile_export.h"

#include <fmt/format.h>

#include "vm/loader/linked.h"
#include "vm/verifier/facts.h"

namespace ingot::tool {
namespace {

constexpr int kProcess = 1;
constexpr int kThread = 1;

double microseconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

const std::string& function_name(const vm::Executable& executable, uint32_t function) {
  return executable.program().functions[function].name;
}

nlohmann::json event_of(const vm::Executable& executable, const vm::TimeSpan& span) {
  const bool is_kernel = span.what == vm::TimeSpan::What::Kernel;
  nlohmann::json event{{"name", is_kernel ? kernel_name(executable, span.function, span.unit)
                                          : "@" + function_name(executable, span.function)},
                       {"cat", is_kernel ? "kernel" : "function"},
                       {"ph", "X"},
                       {"ts", microseconds(span.start)},
                       {"dur", microseconds(span.duration)},
                       {"pid", kProcess},
                       {"tid", kThread}};
  if (is_kernel) event["args"] = {{"function", "@" + function_name(executable, span.function)}, {"unit", span.unit}};
  return event;
}

}  // namespace

std::string kernel_name(const vm::Executable& executable, uint32_t function, uint32_t unit) {
  for (const vm::KernelSite& site : executable.facts().functions[function].kernels) {
    if (site.unit != unit) continue;
    const KernelCall& call = executable.program().kernels[site.kernel];
    return call.prim_func != nullptr ? "@" + call.prim_func->name : std::string(contract_name(call.contract));
  }
  return "kernel";
}

nlohmann::json trace_events(const vm::Executable& executable, const vm::Profile& profile) {
  nlohmann::json events = nlohmann::json::array();
  events.push_back(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", kProcess}, {"tid", kThread}, {"args", {{"name", "ingot"}}}});
  for (const vm::TimeSpan& span : profile.spans()) events.push_back(event_of(executable, span));
  return {{"traceEvents", std::move(events)},
          {"displayTimeUnit", "ns"},
          {"otherData", {{"dropped_events", profile.dropped_spans()}}}};
}

std::string folded_stacks(const vm::Executable& executable, const vm::Profile& profile) {
  std::string text;
  profile.for_each_stack([&](std::span<const uint32_t> functions, uint64_t nanoseconds) {
    std::string line;
    for (const uint32_t function : functions) line += (line.empty() ? "" : ";") + function_name(executable, function);
    text += fmt::format("{} {}\n", line, nanoseconds);
  });
  return text;
}

}  // namespace ingot::tool
