#include "vm/api/describe.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/error.h"
#include "vm/api/json_writer.h"
#include "vm/loader/function_plan.h"
#include "vm/loader/linked.h"

namespace ingot::vm::api {
namespace {

using Dims = std::map<std::string, int64_t, std::less<>>;

Dims parse_dims(std::string_view text) {
  Dims dims;
  bool more = !text.empty();
  while (more) {
    const std::string_view item = text.substr(0, text.find(','));
    more = item.size() < text.size();
    text.remove_prefix(item.size() + (more ? 1 : 0));
    const size_t equals = item.find('=');
    int64_t value = 0;
    const char* const end = item.data() + item.size();
    const auto parsed = equals == std::string_view::npos ? std::from_chars_result{end, std::errc::invalid_argument}
                                                         : std::from_chars(item.data() + equals + 1, end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end || equals == 0 || value < 0)
      fail(ErrorCode::InvalidArgument, "'{}' is no dimension with a value; write n=128", item);
    const auto [known, is_new] = dims.emplace(item.substr(0, equals), value);
    if (!is_new) fail(ErrorCode::InvalidArgument, "{}: {} is given already, as {}", item, known->first, known->second);
  }
  return dims;
}

// Every dimension that is given must be one of some function, within its bound.
void check_dims(const Executable& executable, const Dims& dims) {
  std::set<std::string> names;
  for (const LinkedFunction& function : executable.linked().functions) {
    const Function& source = *function.source;
    for_each_var(source.signature, [&](const SymVar& var) { names.insert(var->name); });
    for (const Bound& bound : source.bounds) {
      const auto found = dims.find(source.vars[bound.var]->name);
      if (found != dims.end() && found->second > bound.most)
        fail(ErrorCode::InvalidArgument, "{}={}: @{} was compiled for at most {}; compile it with --bound {}={}",
             found->first, found->second, source.name, bound.most, found->first, found->second);
    }
  }
  for (const auto& [name, value] : dims)
    if (!names.contains(name))
      fail(ErrorCode::InvalidArgument, "{}={}: no function has a dimension {}; there are: {}", name, value, name,
           names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

// Those that are not given are as large as their bounds.
std::optional<std::vector<int64_t>> entry_dims_of(const LinkedFunction& function, const Dims& dims) {
  std::vector<int64_t> values;
  for (uint32_t i = 0; i < function.entry_dims; ++i) {
    const auto found = dims.find(function.source->vars[i]->name);
    const auto bound = std::ranges::find(function.source->bounds, i, &Bound::var);
    if (found == dims.end() && bound == function.source->bounds.end()) return std::nullopt;
    values.push_back(found != dims.end() ? found->second : bound->most);
  }
  return values;
}

uint32_t line_at(const Function& function, uint32_t unit) {
  const auto after = std::upper_bound(function.spans.begin(), function.spans.end(), unit,
                                      [](uint32_t u, const SourceSpan& span) { return u < span.unit; });
  return after == function.spans.begin() ? 0 : std::prev(after)->line;
}

// The kernel site that writes each allocation site first; kNoSite where none is known.
std::vector<uint32_t> find_producers(const Program& program, const LinkedFunction& function) {
  const FunctionFacts& facts = *function.facts;
  std::vector<uint32_t> producers(facts.sites.size(), kNoSite);
  for (uint32_t k = 0; k < facts.kernels.size(); ++k) {
    const KernelSite& site = facts.kernels[k];
    for (size_t i = program.kernels[site.kernel].inputs; i < site.operands.size(); ++i) {
      if (site.operands[i].from != Origin::From::Site) continue;
      uint32_t target = site.operands[i].index;
      while (facts.sites[target].base != kNoSite) target = facts.sites[target].base;
      if (producers[target] == kNoSite) producers[target] = k;
    }
  }
  return producers;
}

std::string kernel_name(const KernelCall& call) {
  return call.prim_func != nullptr ? call.prim_func->name : std::string(contract_name(call.contract));
}

void write_place(JsonWriter& json, std::string_view name, std::string_view kind, size_t offset, size_t bytes,
                 uint32_t first, uint32_t last, uint32_t line) {
  json.begin_object().key("name").value(name).key("kind").value(kind);
  json.key("offset").value(uint64_t{offset}).key("bytes").value(uint64_t{bytes});
  json.key("first").value(first).key("last").value(last).key("line").value(line);
}

// Tensors and scratch of the arena: where they lie and when they live, in units of the code.
void write_places(JsonWriter& json, const Program& program, const LinkedFunction& function, const FunctionPlan& plan) {
  const FunctionFacts& facts = *function.facts;
  const size_t begin = plan.segment_bytes - plan.memory.total;
  const auto producers = find_producers(program, function);
  json.key("places").begin_array();
  for (uint32_t i = 0; i < facts.sites.size(); ++i) {
    const AllocSite& site = facts.sites[i];
    if (site.opcode != Opcode::AllocTensor || site.first > site.last) continue;
    const StorageExtent& extent = plan.storages[plan.sites[i].storage];
    const KernelCall* producer =
        producers[i] == kNoSite ? nullptr : &program.kernels[facts.kernels[producers[i]].kernel];
    write_place(json, producer != nullptr ? kernel_name(*producer) : "tensor",
                producer != nullptr ? contract_name(producer->contract) : "tensor", plan.sites[i].data - begin,
                extent.bytes, site.first, site.last, line_at(*function.source, site.unit));
    json.key("dtype").value(dtype_name(extent.dtype));
    json.key("shape").value(shape_text({extent.dims, extent.rank})).end_object();
  }
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const Kernel* kernel = plan.kernels[k].kernel.get();
    if (kernel == nullptr || kernel->scratch_bytes() == 0) continue;
    const uint32_t unit = facts.kernels[k].unit;
    write_place(json, "scratch of " + kernel_name(program.kernels[facts.kernels[k].kernel]), "scratch",
                plan.kernels[k].scratch - begin, kernel->scratch_bytes(), unit, unit, line_at(*function.source, unit));
    json.end_object();
  }
  json.end_array();
}

void write_plan(JsonWriter& json, const Program& program, const LinkedFunction& function, const FunctionPlan& plan) {
  json.key("memory").begin_object();
  json.key("arena_bytes").value(uint64_t{plan.memory.total});
  json.key("lower_bound_bytes").value(uint64_t{plan.memory.lower_bound});
  json.key("sum_bytes").value(uint64_t{plan.memory.sum});
  json.key("segment_bytes").value(uint64_t{plan.segment_bytes});
  json.key("peak_bytes").value(uint64_t{plan.peak.bytes}).key("peak_is_known").value(plan.peak.whole);
  write_places(json, program, function, plan);
  json.end_object();
  json.key("kernels").begin_array();
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const KernelSite& site = function.facts->kernels[k];
    const KernelCall& call = program.kernels[site.kernel];
    const PlannedKernel& planned = plan.kernels[k];
    json.begin_object().key("unit").value(site.unit).key("line").value(line_at(*function.source, site.unit));
    json.key("contract").value(contract_name(call.contract));
    if (call.prim_func != nullptr) json.key("prim_func").value(call.prim_func->name);
    if (planned.kernel != nullptr) {
      json.key("variant").value(planned.variant).key("implementation").value(planned.kernel->implementation());
      json.key("scratch_bytes").value(uint64_t{planned.kernel->scratch_bytes()});
    } else {
      json.key("variant").null().key("reason");
      json.value(planned.error ? std::string_view(planned.error->what())
                               : std::string_view("shapes are known at run time only"));
    }
    json.end_object();
  }
  json.end_array();
}

void write_function(JsonWriter& json, const Executable& executable, const LinkedFunction& function, const Dims& dims) {
  const Function& source = *function.source;
  json.begin_object();
  json.key("name").value(source.name).key("exported").value(source.exported).key("pure").value(source.pure);
  json.key("signature").value(to_text(source.signature));
  json.key("params").begin_array();
  for (size_t i = 0; i < source.params; ++i) {
    json.begin_object().key("name").value(i < source.param_names.size() ? source.param_names[i] : std::to_string(i));
    json.key("info").value(i < source.signature->fields.size() ? to_text(source.signature->fields[i]) : "Object");
    json.end_object();
  }
  json.end_array();
  json.key("captures").value(source.captures).key("registers").value(source.registers);
  json.key("code_bytes").value(uint64_t{source.code.size() * sizeof(CodeUnit)});
  json.key("entry_dims").begin_array();
  for (uint32_t i = 0; i < function.entry_dims; ++i) json.value(source.vars[i]->name);
  json.end_array();
  if (!source.bounds.empty()) {
    json.key("bounds").begin_object();
    for (const Bound& bound : source.bounds) json.key(source.vars[bound.var]->name).value(bound.most);
    json.end_object();
  }
  const auto values = entry_dims_of(function, dims);
  if (function.facts->plan_unit && values) {
    try {
      write_plan(json, executable.program(), function, *executable.plan(function.index, *values));
    } catch (const Error& error) {
      json.key("plan_error").value(error.what());
    }
  }
  json.end_object();
}

void write_constants(JsonWriter& json, const Executable& executable) {
  uint64_t bytes = 0;
  for (const Constant& constant : executable.program().constants) bytes += constant.bytes.size();
  json.key("constants").begin_object();
  json.key("count").value(uint64_t{executable.program().constants.size()}).key("bytes").value(bytes);
  json.key("packed_bytes").value(uint64_t{executable.packed_weight_bytes()}).end_object();
}

}  // namespace

std::string describe_executable(const Executable& executable, std::string_view dims_text) {
  const Dims dims = parse_dims(dims_text);
  check_dims(executable, dims);
  const Program& program = executable.program();
  JsonWriter json;
  json.begin_object().key("ingot").value(INGOT_VERSION);
  json.key("functions").begin_array();
  for (const LinkedFunction& function : executable.linked().functions) write_function(json, executable, function, dims);
  json.end_array();
  json.key("imports").begin_array();
  for (const Import& import : program.imports) {
    json.begin_object().key("name").value(import.name).key("writes").begin_array();
    for (const uint32_t index : import.writes) json.value(index);
    json.end_array().end_object();
  }
  json.end_array();
  write_constants(json, executable);
  json.key("prim_funcs").value(uint64_t{program.prim_funcs.size()});
  json.key("kernel_calls").value(uint64_t{program.kernels.size()});
  json.key("sections").begin_array();
  uint64_t file_bytes = 0;
  for (const SectionInfo& section : executable.sections()) {
    file_bytes = std::max(file_bytes, section.offset + section.bytes);
    json.begin_object().key("name").value(section.name).key("offset").value(section.offset);
    json.key("bytes").value(section.bytes).end_object();
  }
  json.end_array().key("file_bytes").value(file_bytes);
  json.key("metadata").begin_object();
  for (const auto& [key, value] : program.metadata) json.key(key).value(value);
  json.end_object().end_object();
  return json.text();
}

}  // namespace ingot::vm::api
