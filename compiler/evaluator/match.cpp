#include "compiler/evaluator/match.h"

#include "runtime/base/error.h"

namespace ingot::evaluator {
namespace {

bool has_dims(const Value& value) {
  return value.kind() == Kind::Scalar || value.kind() == Kind::Tensor || value.kind() == Kind::Shape;
}

std::span<const int64_t> dims_of(const Value& value) {
  if (value.kind() == Kind::Tensor) return value.get<TensorObject>()->dims();
  if (value.kind() == Kind::Shape) return value.get<ShapeObject>()->dims();
  return {};
}

DType dtype_of(const Value& value) {
  return value.kind() == Kind::Tensor ? value.get<TensorObject>()->dtype : value.slot().dtype;
}

// Of a prim that is int64 or bool.
int64_t integer_of(const Value& value) {
  return dtype_of(value) == DType::Bool ? int64_t{value.slot().as<uint8_t>() != 0} : value.slot().as<int64_t>();
}

// False where the place that would have bound a variable does not fit: that place is what is wrong.
bool has_values(const PrimExpr& expr, const SymValues& values) {
  bool all = true;
  for_each_var(expr, [&](const SymVar& var) { all &= values.contains(var.get()); });
  return all;
}

bool is_tensor(const Value& value) { return value.kind() == Kind::Tensor || value.kind() == Kind::Scalar; }

}  // namespace

int64_t dim_value(const PrimExpr& expr, const SymValues& values) {
  return evaluate(expr, [&](const SymVar& var) -> std::optional<int64_t> {
    const auto found = values.find(var.get());
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

StructInfo info_of(const Value& value) {
  switch (value.kind()) {
    case Kind::Scalar:
    case Kind::Tensor: {
      std::vector<PrimExpr> dims;
      for (const int64_t dim : dims_of(value)) dims.emplace_back(dim);
      return tensor_info(dtype_of(value), std::move(dims));
    }
    case Kind::Shape: {
      std::vector<PrimExpr> dims;
      for (const int64_t dim : dims_of(value)) dims.emplace_back(dim);
      return shape_info(std::move(dims));
    }
    case Kind::Prim:
      return dtype_of(value) == DType::Float64 ? prim_info(DType::Float64)
                                               : prim_info(dtype_of(value), PrimExpr(integer_of(value)));
    case Kind::Tuple: {
      std::vector<StructInfo> fields;
      for (const Slot& field : value.get<TupleObject>()->fields()) fields.push_back(info_of(Value::copy_of(field)));
      return tuple_info(std::move(fields));
    }
    default:
      return object_info();
  }
}

void bind_dims(const Value& value, const StructInfo& info, SymValues& values) {
  if (info->kind == InfoKind::Tuple && value.kind() == Kind::Tuple) {
    const auto fields = value.get<TupleObject>()->fields();
    for (size_t i = 0; i < std::min(fields.size(), info->fields.size()); ++i)
      bind_dims(Value::copy_of(fields[i]), info->fields[i], values);
  }
  if (info->kind == InfoKind::Prim && info->value && info->value->op() == PrimOp::Var && value.kind() == Kind::Prim &&
      dtype_of(value) == DType::Int64)
    values.emplace(info->value->var().get(), value.slot().as<int64_t>());
  const auto dims = dims_of(value);
  if (!info->dims || !has_dims(value) || dims.size() != info->dims->size()) return;
  for (size_t i = 0; i < dims.size(); ++i)
    if ((*info->dims)[i].op() == PrimOp::Var) values.emplace((*info->dims)[i].var().get(), dims[i]);
}

void require(const Value& value, const StructInfo& info, const SymValues& values, MatchAt at, std::string_view what,
             const std::function<StructInfo(const Value&)>& func_info) {
  const ErrorCode wrong_type = at == MatchAt::Entry ? ErrorCode::TypeError : ErrorCode::CastFailed;
  const ErrorCode wrong_shape = at == MatchAt::Entry ? ErrorCode::ShapeMismatch : ErrorCode::CastFailed;
  const auto reject_kind = [&] {
    fail(wrong_type, "{} is {}, expected {}", what, to_text(info_of(value)), to_text(info));
  };

  switch (info->kind) {
    case InfoKind::Object:
      return;
    case InfoKind::Tensor:
      if (!is_tensor(value)) reject_kind();
      if (info->dtype != DType::None && dtype_of(value) != info->dtype)
        fail(wrong_type, "{} has dtype {}, expected {}", what, dtype_name(dtype_of(value)), dtype_name(info->dtype));
      break;
    case InfoKind::Shape:
      if (value.kind() != Kind::Shape) reject_kind();
      break;
    case InfoKind::Prim:
      if (value.kind() != Kind::Prim || (info->dtype != DType::None && dtype_of(value) != info->dtype)) reject_kind();
      if (info->value && has_values(*info->value, values)) {
        const int64_t expected = dim_value(*info->value, values);
        if (integer_of(value) != expected)
          fail(wrong_shape, "{} is {}, expected {} = {}", what, integer_of(value), to_text(*info->value), expected);
      }
      return;
    case InfoKind::Tuple: {
      if (value.kind() != Kind::Tuple) reject_kind();
      const auto fields = value.get<TupleObject>()->fields();
      if (fields.size() != info->fields.size())
        fail(wrong_type, "{} has {} fields, expected {}", what, fields.size(), info->fields.size());
      for (size_t i = 0; i < fields.size(); ++i)
        require(Value::copy_of(fields[i]), info->fields[i], values, at, fmt::format("{}.{}", what, i), func_info);
      return;
    }
    case InfoKind::Func: {
      if (value.kind() == Kind::PackedFunc) {
        if (info->has_params) reject_kind();
        return;
      }
      const StructInfo given = func_info(value);
      if (given == nullptr || !info->has_params) reject_kind();
      if (is_compatible(given, info) == Compatibility::Incompatible)
        fail(wrong_type, "{} is {}, expected {}", what, to_text(given), to_text(info));
      return;
    }
  }
  const auto dims = dims_of(value);
  if (info->rank && dims.size() != *info->rank)
    fail(wrong_shape, "{} has rank {}, expected {}", what, dims.size(), *info->rank);
  if (!info->dims) return;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto& expr = (*info->dims)[i];
    if (!has_values(expr, values)) continue;
    const int64_t expected = dim_value(expr, values);
    if (dims[i] != expected) {
      fail(wrong_shape, "{} has dimension {} = {}, expected {}", what, i, dims[i],
           expr.as_const() ? std::to_string(expected) : fmt::format("{} = {}", to_text(expr), expected));
    }
  }
}

}  // namespace ingot::evaluator
