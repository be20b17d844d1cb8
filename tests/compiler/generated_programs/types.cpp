#include "tests/compiler/generated_programs/types.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ingot::generated {

std::string join(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); }

std::string tuple_text(const std::vector<std::string>& parts) {
  return parts.size() == 1 ? fmt::format("({},)", parts[0]) : fmt::format("({})", join(parts));
}

namespace {

std::string spell(const Type& type, std::string_view inexact) {
  std::vector<std::string> fields;
  for (const auto& field : type.fields) fields.push_back(spell(field, inexact));
  switch (type.kind) {
    case Type::Kind::Tensor: {
      const std::string_view mark = type.exact ? "" : inexact;
      if (type.dims.empty()) return fmt::format("{}{}", mark, dtype_name(type.dtype));
      return fmt::format("{}Tensor[{}, {}]", mark, tuple_text(type.dims), dtype_name(type.dtype));
    }
    case Type::Kind::Tuple:
      return tuple_text(fields);
    case Type::Kind::Function:
      return fmt::format("{}fn({}) -> {}", type.pure ? "" : "impure ", join(fields), spell(*type.result, inexact));
  }
  return {};
}

}  // namespace

std::string Type::text() const { return spell(*this, ""); }
std::string Type::key() const { return spell(*this, "~"); }

Type tensor_type(DType dtype, std::vector<std::string> dims, bool exact) {
  return {Type::Kind::Tensor, dtype, std::move(dims), exact, {}, nullptr, true};
}

Type tuple_type(std::vector<Type> fields) {
  return {Type::Kind::Tuple, DType::None, {}, true, std::move(fields), nullptr, true};
}

Type function_type(std::vector<Type> params, Type result, bool pure) {
  return {Type::Kind::Function,
          DType::None,
          {},
          true,
          std::move(params),
          std::make_shared<const Type>(std::move(result)),
          pure};
}

bool fits(const Type& have, const Type& want) {
  if (have.kind == Type::Kind::Tensor && want.kind == Type::Kind::Tensor)
    return have.dtype == want.dtype && have.dims == want.dims && (have.exact || !want.exact);
  return have.key() == want.key();
}

Bounds operand_bounds(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return {8, 1};
    case DType::BFloat16:
      return {4, 0};
    default:
      return {64, 2};
  }
}

bool representable(const Bounds& bounds, DType dtype) {
  const int significand = dtype == DType::BFloat16 ? 8 : dtype == DType::Float16 ? 11 : 24;
  return std::ldexp(bounds.most, bounds.fraction) <= std::ldexp(1.0, significand) && bounds.most < 60000 &&
         bounds.fraction < 14;
}

}  // namespace ingot::generated
