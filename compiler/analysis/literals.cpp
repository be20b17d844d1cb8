#include "compiler/analysis/literals.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/base/convert.h"

namespace ingot::analysis {
namespace {

// Does the number survive the way to `To` and back? Floats may round, but finite numbers stay finite.
template <typename To, typename From>
bool fits(From value) {
  if constexpr (std::integral<From> && IntElement<To>) {
    return std::in_range<To>(value);
  } else if constexpr (std::integral<From>) {
    return std::isfinite(static_cast<double>(widen(convert<To>(static_cast<double>(value)))));
  } else {
    return !std::isfinite(value) || std::isfinite(static_cast<double>(widen(convert<To>(value))));
  }
}

template <typename From>
Ref<TensorObject> adapted(From value, DType dtype) {
  auto result = make_tensor(nullptr, dtype, {});
  const bool ok = with_element(dtype, [&]<typename To>() {
    if constexpr (NumericElement<To>) {
      if (!fits<To>(value)) return false;
      const To element = convert<To>(value);
      std::memcpy(result->data, &element, sizeof element);
      return true;
    } else {
      return false;
    }
  });
  return ok ? result : Ref<TensorObject>();
}

}  // namespace

bool is_open_literal(const ir::Expr& expr) {
  const auto* constant = ir::as<ir::Constant>(expr);
  return constant != nullptr && constant->adapts;
}

bool can_adapt(const ir::Constant& literal, DType dtype) {
  return is_integer(literal.data->dtype) ? is_integer(dtype) || is_float(dtype) : is_float(dtype);
}

std::shared_ptr<const ir::Constant> adapt(const ir::Constant& literal, DType dtype) {
  const auto data = with_element(literal.data->dtype, [&]<typename From>() {
    From value;
    std::memcpy(&value, literal.data->data, sizeof value);
    if constexpr (NumericElement<From>) {
      return adapted(widen(value), dtype);
    } else {
      return Ref<TensorObject>();
    }
  });
  if (!data) return nullptr;
  auto result = std::make_shared<ir::Constant>(data, false, literal.span);
  result->info = tensor_info(dtype, std::vector<PrimExpr>{});
  return result;
}

DType default_dtype(const ir::Constant& literal) {
  if (!is_integer(literal.data->dtype)) return DType::Float32;
  return adapt(literal, DType::Int32) != nullptr ? DType::Int32 : DType::Int64;
}

}  // namespace ingot::analysis
