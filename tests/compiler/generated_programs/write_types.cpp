#include <array>

#include "tests/compiler/generated_programs/writer.h"

namespace ingot::generated {

DType Writer::pick_dtype() {
  static constexpr std::array kDTypes = {
      DType::Int32,   DType::Float32, DType::Bool,    DType::Int32,   DType::Float32, DType::Int64,    DType::Int8,
      DType::Float32, DType::UInt8,   DType::Float64, DType::Float16, DType::UInt32,  DType::BFloat16, DType::Int16,
      DType::UInt16,  DType::UInt64,  DType::Int32,   DType::Float32, DType::Float32, DType::Bool};
  return choices_.of(std::span<const DType>(kDTypes));
}

std::string Writer::pick_dim() { return choices_.of(std::span<const std::string>(scope_.dims)); }

Type Writer::pick_tensor_type() {
  std::vector<Type> known;
  for (const auto& variable : scope_.variables)
    if (variable.type.kind == Type::Kind::Tensor) known.push_back(variable.type);
  if (!known.empty() && choices_.chance(60)) return known[known.size() - 1 - choices_.pick(known.size())];
  const DType dtype = pick_dtype();
  const size_t rank = choices_.pick(4);
  std::vector<std::string> dims;
  for (size_t i = 0; i < rank; ++i) dims.push_back(pick_dim());
  const bool rounds = dtype == DType::Float32 || dtype == DType::Float64;
  return tensor_type(dtype, dims, !(rounds && choices_.chance(40)));
}

Type Writer::pick_type(size_t depth) {
  const size_t kind = depth < 2 ? choices_.pick(10) : 0;
  if (kind == 8) {
    std::vector<Type> fields;
    for (size_t left = choices_.pick(4); left > 0; --left) fields.push_back(pick_type(depth + 1));
    return tuple_type(std::move(fields));
  }
  if (kind == 9) {
    std::vector<Type> params;
    for (size_t left = choices_.pick(3); left > 0; --left) params.push_back(pick_type(depth + 1));
    return function_type(std::move(params), pick_type(depth + 1), scope_.pure || choices_.chance(50));
  }
  return pick_tensor_type();
}

Type Writer::broadcastable(const Type& type) {
  Type result = type;
  if (type.dims.empty() || choices_.chance(60)) return result;
  const size_t dropped = choices_.pick(type.dims.size() + 1);
  result.dims.erase(result.dims.begin(), result.dims.begin() + static_cast<ptrdiff_t>(dropped));
  for (auto& dim : result.dims)
    if (choices_.chance(20)) dim = "1";
  return result;
}

void Writer::enter_function(const Type& type, std::vector<std::string>& params) {
  if (scope_.dataflow) scope_.variables.resize(scope_.outside);
  scope_.pure = type.pure;
  scope_.dataflow = false;
  for (const auto& param : type.fields) {
    const std::string name = fresh("%p");
    params.push_back(name + ": " + param.text());
    scope_.variables.push_back({name, param});
  }
}

std::string Writer::fresh(const char* stem) { return stem + std::to_string(names_++); }

}  // namespace ingot::generated
