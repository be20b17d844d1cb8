#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"
#include "vm/interpreter/session.h"

// Does with bytes what a host would do with a file of unknown origin.
namespace ingot::vm::test {

inline constexpr int64_t kUnknownDim = 3;

// Zeros of the kind that the StructInfo asks for; unknown dimensions are 3. None where nothing simple fits.
inline Value some_value(const StructInfo& info) {
  if (info == nullptr) return {};
  const auto dims_of = [&] {
    std::vector<int64_t> dims(info->rank ? std::min(*info->rank, 8u) : 1, kUnknownDim);
    for (size_t i = 0; info->dims && i < dims.size(); ++i)
      if (const auto dim = (*info->dims)[i].as_const()) dims[i] = *dim;
    return dims;
  };
  switch (info->kind) {
    case InfoKind::Tensor: {
      const std::vector<int64_t> dims = dims_of();
      int64_t count = 1;
      for (const int64_t dim : dims)
        if (dim < 0 || dim > 100000 || (count *= std::max<int64_t>(dim, 1)) > 100000) return {};
      const DType dtype = info->dtype == DType::None || info->dtype == DType::String ? DType::Float32 : info->dtype;
      auto tensor = make_tensor(nullptr, dtype, dims);
      std::fill_n(tensor->data, tensor->bytes, std::byte{0});
      return to_value(std::move(tensor));
    }
    case InfoKind::Shape: {
      std::vector<int64_t> dims = dims_of();
      return Value(ingot::make_shape(nullptr, dims));
    }
    case InfoKind::Prim:
      if (info->dtype == DType::Float64) return Value::prim(0.5);
      return info->dtype == DType::Bool ? Value::prim(true) : Value::prim(kUnknownDim);
    case InfoKind::Tuple: {
      std::vector<Value> fields;
      for (const StructInfo& field : info->fields) fields.push_back(some_value(field));
      return Value(ingot::make_tuple(nullptr, fields));
    }
    case InfoKind::Object:
    case InfoKind::Func:
      return {};
  }
  return {};
}

inline std::vector<Value> some_arguments(const Function& function) {
  std::vector<Value> args;
  for (const StructInfo& param : function.signature->fields) args.push_back(some_value(param));
  return args;
}

// Runs every exported function of at most 16 parameters once; what each gives, or the error that it raises.
inline void for_each_run(Session& session, const RunOptions& options,
                         const std::function<void(const Function&, const Value&)>& on_value,
                         const std::function<void(const Function&, const Error&)>& on_error) {
  const Program& program = session.executable()->program();
  for (uint32_t f = 0; f < program.functions.size(); ++f) {
    const Function& function = program.functions[f];
    if (!function.exported || function.params > 16) continue;
    try {
      on_value(function, session.run(f, some_arguments(function), options));
    } catch (const Error& error) {
      on_error(function, error);
    }
  }
}

inline RunOptions narrow_limits() {
  RunOptions limits;
  limits.instruction_budget = 20000;
  limits.deadline = std::chrono::milliseconds(500);
  limits.memory_limit = size_t{64} << 20;
  limits.frame_limit = size_t{1} << 20;
  return limits;
}

struct Outcome {
  bool loaded = false;
  size_t runs = 0;    // functions that gave a value
  size_t faults = 0;  // and those that raised an error
};

// Loads the bytes and runs every exported function within narrow limits. Whatever the bytes are, nothing but Error may
// come of it; Internal is left to the caller.
inline Outcome run_bytes(std::span<const std::byte> bytes, const std::function<void(const Error&)>& on_error) {
  Outcome outcome;
  try {
    const auto executable = Executable::load(bytes);
    outcome.loaded = true;
    const auto session = Session::create(executable);
    for_each_run(
        *session, narrow_limits(), [&](const Function&, const Value&) { ++outcome.runs; },
        [&](const Function&, const Error& error) {
          ++outcome.faults;
          on_error(error);
        });
  } catch (const Error& error) {
    on_error(error);
  }
  return outcome;
}

}  // namespace ingot::vm::test
