#include "compiler/codegen/tables.h"

#include <cstring>

#include "compiler/analysis/effects.h"
#include "runtime/base/error.h"
#include "runtime/object/objects.h"

namespace ingot::codegen {

Tables::Tables(const ir::Module& module) : callees_write_(analysis::writes_tensors(module)) {
  for (const auto& definition : module.definitions()) {
    if (definition.prim_func != nullptr) {
      prim_funcs_.emplace(definition.name, definition.prim_func);
    } else {
      functions_.emplace(definition.name, static_cast<uint32_t>(functions_.size()));
    }
  }
}

uint32_t Tables::function(std::string_view name) const {
  const auto found = functions_.find(name);
  if (found == functions_.end())
    fail(ErrorCode::Internal, "code generation: @{} is not a function of the module", name);
  return found->second;
}

tir::PrimFuncRef Tables::prim_func(std::string_view name) const {
  const auto found = prim_funcs_.find(name);
  return found == prim_funcs_.end() ? nullptr : found->second;
}

uint32_t Tables::add_constant(std::string key, vm::Constant constant) {
  const auto [entry, is_new] = constants_.emplace(std::move(key), static_cast<uint32_t>(program_.constants.size()));
  if (is_new) program_.constants.push_back(std::move(constant));
  return entry->second;
}

uint32_t Tables::scalar(Kind kind, DType dtype, uint64_t bits) {
  vm::Constant constant;
  constant.kind = kind;
  constant.dtype = dtype;
  constant.bits = bits;
  return add_constant(fmt::format("{}:{}:{}", static_cast<int>(kind), static_cast<int>(dtype), bits),
                      std::move(constant));
}

uint32_t Tables::string(std::string_view text) {
  vm::Constant constant;
  constant.kind = Kind::String;
  constant.text = text;
  return add_constant(fmt::format("s:{}", text), std::move(constant));
}

uint32_t Tables::constant(const ir::Constant& constant) {
  const TensorObject& data = *constant.data;
  if (data.rank == 0 && data.dtype != DType::String) {
    uint64_t bits = 0;
    std::memcpy(&bits, data.data, data.bytes);
    return scalar(Kind::Scalar, data.dtype, bits);
  }
  const auto [entry, is_new] = tensors_.emplace(&data, static_cast<uint32_t>(program_.constants.size()));
  if (!is_new) return entry->second;
  vm::Constant tensor;
  tensor.kind = Kind::Tensor;
  tensor.dtype = data.dtype;
  tensor.dims.assign(data.dims().begin(), data.dims().end());
  if (data.dtype == DType::String) {
    for (size_t i = 0; i * dtype_bytes(DType::String) < data.bytes; ++i)
      tensor.strings.emplace_back(reinterpret_cast<StringObject* const*>(data.data)[i]->text());
  } else {
    tensor.bytes = {data.data, data.bytes};
    program_.owners.push_back(std::make_shared<Ref<TensorObject>>(constant.data));
  }
  program_.constants.push_back(std::move(tensor));
  return entry->second;
}

uint32_t Tables::kernel(KernelCall call) {
  if (call.prim_func != nullptr && listed_.insert(call.prim_func.get()).second)
    program_.prim_funcs.push_back(call.prim_func);
  program_.kernels.push_back(std::move(call));
  return static_cast<uint32_t>(program_.kernels.size() - 1);
}

uint32_t Tables::import(std::string_view name, const std::vector<uint32_t>& writes) {
  const auto next = static_cast<uint32_t>(program_.imports.size());
  const auto [entry, is_new] = imports_.emplace(std::pair(std::string(name), writes), next);
  if (is_new) program_.imports.push_back({std::string(name), writes});
  return entry->second;
}

}  // namespace ingot::codegen
