#include <cstring>

#include "runtime/kernels/onednn/primitive_cache.h"
#include "vm/api/border.h"
#include "vm/api/describe.h"
#include "vm/api/entries.h"

namespace ingot::vm::api {
namespace {

LoadOptions load_options(const ingot_load_options* given) {
  const ingot_load_options options = read_options(given);
  LoadOptions result;
  result.copy = options.copy != 0;
  if (options.cpu != nullptr) result.cpu = parse_cpu(options.cpu);
  result.jit = options.no_jit == 0;
  result.perf_map = options.perf_map != 0;
  if (options.threads < 0)
    fail(ErrorCode::InvalidArgument, "a run cannot have {} threads; 1 is the least", options.threads);
  result.threads = options.threads == 0 ? 1 : options.threads;
  if (options.kernels != nullptr) result.kernels = options.kernels;
  return result;
}

ingot_executable::Function describe_function(const Function& function, uint32_t index) {
  ingot_executable::Function result{index, function.name, to_text(function.signature), {}};
  for (size_t i = 0; i < function.params; ++i) {
    const std::string name = i < function.param_names.size() && !function.param_names[i].empty()
                                 ? function.param_names[i]
                                 : std::to_string(i);
    const StructInfo info = i < function.signature->fields.size() ? function.signature->fields[i] : object_info();
    result.params.push_back({name, to_text(info)});
  }
  return result;
}

ingot_executable* hand_out(std::shared_ptr<const Executable> executable) {
  auto handle = std::make_unique<ingot_executable>();
  const auto& functions = executable->program().functions;
  for (uint32_t i = 0; i < functions.size(); ++i)
    if (functions[i].exported) handle->functions.push_back(describe_function(functions[i], i));
  handle->executable = std::move(executable);
  return handle.release();
}

const ingot_executable::Function* function_at(const ingot_executable* executable, size_t function) {
  return executable != nullptr && function < executable->functions.size() ? &executable->functions[function] : nullptr;
}

const ingot_executable::Param* param_at(const ingot_executable* executable, size_t function, size_t param) {
  const auto* f = function_at(executable, function);
  return f != nullptr && param < f->params.size() ? &f->params[param] : nullptr;
}

}  // namespace

ingot_error* load_file(const char* path, const ingot_load_options* options, ingot_executable** executable) {
  return guarded([&] {
    required(executable, "executable");
    *executable = hand_out(Executable::load(std::filesystem::path(&required(path, "path")), load_options(options)));
  });
}

ingot_error* load_memory(const void* bytes, size_t size, const ingot_load_options* options,
                         ingot_executable** executable) {
  return guarded([&] {
    required(executable, "executable");
    if (size != 0) required(bytes == nullptr ? nullptr : executable, "bytes");
    const std::span<const std::byte> view(static_cast<const std::byte*>(bytes), size);
    *executable = hand_out(Executable::load(view, load_options(options)));
  });
}

void executable_destroy(ingot_executable* executable) { std::unique_ptr<ingot_executable>(executable).reset(); }

size_t function_count(const ingot_executable* executable) { return executable->functions.size(); }

const char* function_name(const ingot_executable* executable, size_t function) {
  const auto* f = function_at(executable, function);
  return f != nullptr ? f->name.c_str() : nullptr;
}

const char* function_signature(const ingot_executable* executable, size_t function) {
  const auto* f = function_at(executable, function);
  return f != nullptr ? f->signature.c_str() : nullptr;
}

size_t param_count(const ingot_executable* executable, size_t function) {
  const auto* f = function_at(executable, function);
  return f != nullptr ? f->params.size() : 0;
}

const char* param_name(const ingot_executable* executable, size_t function, size_t param) {
  const auto* p = param_at(executable, function, param);
  return p != nullptr ? p->name.c_str() : nullptr;
}

const char* param_info(const ingot_executable* executable, size_t function, size_t param) {
  const auto* p = param_at(executable, function, param);
  return p != nullptr ? p->info.c_str() : nullptr;
}

ingot_error* executable_describe(const ingot_executable* executable, const char* dims, ingot_text_sink sink,
                                 void* context) {
  return guarded([&] {
    const std::string json =
        describe_executable(*required(executable, "executable").executable, dims != nullptr ? dims : "");
    if (sink == nullptr) fail(ErrorCode::InvalidArgument, "sink is null");
    sink(context, json.data(), json.size());
  });
}

ingot_error* set_primitive_cache_capacity(size_t primitives) {
  return guarded([&] { ingot::set_primitive_cache_capacity(primitives); });
}

}  // namespace ingot::vm::api
