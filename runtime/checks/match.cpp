#include "runtime/checks/match.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "runtime/base/error.h"
#include "runtime/checks/describe.h"
#include "runtime/object/objects.h"
#include "runtime/symbolic/usable.h"
#include "runtime/tensor/tensor.h"

namespace ingot {
namespace {

const TensorObject& tensor_of(const Slot& value) { return *static_cast<const TensorObject*>(value.object); }

std::span<const int64_t> dims_of(const Slot& value) {
  if (value.kind == Kind::Tensor) return tensor_of(value).dims();
  if (value.kind == Kind::Shape) return static_cast<const ShapeObject*>(value.object)->dims();
  return {};
}

std::span<const Slot> fields_of(const Slot& value) { return static_cast<const TupleObject*>(value.object)->fields(); }

DType dtype_of(const Slot& value) { return value.kind == Kind::Tensor ? tensor_of(value).dtype : value.dtype; }

bool is_tensor(const Slot& value) { return value.kind == Kind::Tensor || value.kind == Kind::Scalar; }
bool has_dims(const Slot& value) { return is_tensor(value) || value.kind == Kind::Shape; }

bool is_integer(const Slot& value) { return value.dtype == DType::Int64 || value.dtype == DType::Bool; }
// Of a prim that is int64 or bool.
int64_t integer_of(const Slot& value) {
  return value.dtype == DType::Bool ? int64_t{value.as<uint8_t>() != 0} : value.as<int64_t>();
}

Substitution by(const SymValues& values) {
  return [&values](const SymVar& var) -> std::optional<PrimExpr> {
    const auto found = values.find(var.get());
    return found == values.end() ? std::nullopt : std::optional<PrimExpr>(found->second);
  };
}

struct Mismatch {
  bool of_shape;  // rank, dimensions, values; otherwise kind or dtype
  std::string text;
  bool names_whole;  // the text says all of the StructInfo that was asked for
};

class Matcher {
 public:
  Matcher(const SymValues& values, const InfoOfClosure& info_of_closure)
      : values_(&values), info_of_closure_(&info_of_closure) {}

  std::optional<Mismatch> find(const Slot& value, const StructInfo& info, const std::string& what,
                               bool nested = false) const {
    const auto wrong_kind = [&](const std::string& given) {
      return Mismatch{false, fmt::format("{} is {}, expected {}", what, given, to_text(info)), !nested};
    };
    switch (info->kind) {
      case InfoKind::Object:
        return std::nullopt;
      case InfoKind::Tensor:
        if (!is_tensor(value)) return wrong_kind(describe_value(value));
        if (info->dtype != DType::None && dtype_of(value) != info->dtype)
          return Mismatch{
              false,
              fmt::format("{} has dtype {}, expected {}", what, dtype_name(dtype_of(value)), dtype_name(info->dtype)),
              false};
        return find_in_dims(value, *info, what);
      case InfoKind::Shape:
        if (value.kind != Kind::Shape) return wrong_kind(describe_value(value));
        return find_in_dims(value, *info, what);
      case InfoKind::Prim:
        if (value.kind != Kind::Prim || (info->dtype != DType::None && value.dtype != info->dtype) ||
            (info->value && !is_integer(value)))
          return wrong_kind(describe_value(value));
        return info->value ? compare(integer_of(value), *info->value, what + " is") : std::nullopt;
      case InfoKind::Tuple: {
        if (value.kind != Kind::Tuple || fields_of(value).size() != info->fields.size())
          return wrong_kind(describe_value(value));
        for (size_t i = 0; i < info->fields.size(); ++i)
          if (auto found = find(fields_of(value)[i], info->fields[i], fmt::format("{}.{}", what, i), true))
            return found;
        return std::nullopt;
      }
      case InfoKind::Func: {
        if (value.kind == Kind::PackedFunc && !info->has_params) return std::nullopt;
        if (value.kind != Kind::Closure) return wrong_kind(describe_value(value));
        const StructInfo given = (*info_of_closure_)(value);
        if (info->has_params && is_acceptable(given, info, *values_)) return std::nullopt;
        Mismatch found = wrong_kind(to_text(given));
        if (const std::string known = values_text(info); !known.empty()) found.text += fmt::format(" ({})", known);
        if (info->has_params && is_usable_as(given, substitute(info, by(*values_))) == Compatibility::Possibly)
          found.text += "; its result may be something else";
        return found;
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<Mismatch> find_in_dims(const Slot& value, const StructInfoNode& info, const std::string& what) const {
    const auto dims = dims_of(value);
    if (info.rank && dims.size() != *info.rank)
      return Mismatch{
          true, fmt::format("{} has rank {} (shape {}), expected {}", what, dims.size(), shape_text(dims), *info.rank),
          false};
    if (!info.dims) return std::nullopt;
    for (size_t i = 0; i < dims.size(); ++i)
      if (auto found = compare(dims[i], (*info.dims)[i], fmt::format("{} has dimension {} =", what, i))) return found;
    return std::nullopt;
  }

  std::optional<Mismatch> compare(int64_t number, const PrimExpr& expr, const std::string& what) const {
    // Where the place that would have bound a variable does not fit, that place is what is wrong.
    if (!has_values(expr)) return std::nullopt;
    const int64_t expected = dim_value(expr, *values_);
    if (number == expected) return std::nullopt;
    std::string text = fmt::format("{} {}, expected ", what, number);
    text += expr.as_const() ? std::to_string(expected) : fmt::format("{} = {}", to_text(expr), expected);
    if (!expr.operands().empty()) text += fmt::format(" ({})", values_text(expr));
    return Mismatch{true, std::move(text), false};
  }

  bool has_values(const PrimExpr& expr) const {
    bool all = true;
    for_each_var(expr, [&](const SymVar& var) { all &= values_->contains(var.get()); });
    return all;
  }

  // "n = 2, m = 3": the variables that have values.
  template <typename What>
  std::string values_text(const What& what) const {
    std::string text;
    for_each_var(what, [&](const SymVar& var) {
      if (const auto found = values_->find(var.get()); found != values_->end())
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", var->name, found->second);
    });
    return text;
  }

  const SymValues* values_;
  const InfoOfClosure* info_of_closure_;
};

}  // namespace

int64_t dim_value(const PrimExpr& expr, const SymValues& values) {
  return evaluate(expr, [&](const SymVar& var) -> std::optional<int64_t> {
    const auto found = values.find(var.get());
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

StructInfo info_of(const Slot& value) {
  const auto exprs = [&] {
    std::vector<PrimExpr> dims;
    for (const int64_t dim : dims_of(value)) dims.emplace_back(dim);
    return dims;
  };
  switch (value.kind) {
    case Kind::Scalar:
    case Kind::Tensor:
      return tensor_info(dtype_of(value), exprs());
    case Kind::Shape:
      return shape_info(exprs());
    case Kind::Prim:
      return is_integer(value) ? prim_info(value.dtype, PrimExpr(integer_of(value))) : prim_info(value.dtype);
    case Kind::Tuple: {
      std::vector<StructInfo> fields;
      for (const Slot& field : fields_of(value)) fields.push_back(info_of(field));
      return tuple_info(std::move(fields));
    }
    default:
      return object_info();
  }
}

void bind_dims(const Slot& value, const StructInfo& info, SymValues& values) {
  if (info->kind == InfoKind::Tuple && value.kind == Kind::Tuple)
    for (size_t i = 0; i < std::min(fields_of(value).size(), info->fields.size()); ++i)
      bind_dims(fields_of(value)[i], info->fields[i], values);
  if (info->kind == InfoKind::Prim && info->value && info->value->op() == PrimOp::Var && value.kind == Kind::Prim &&
      value.dtype == DType::Int64)
    values.emplace(info->value->var().get(), value.as<int64_t>());
  const auto dims = dims_of(value);
  if (!info->dims || !has_dims(value) || dims.size() != info->dims->size()) return;
  for (size_t i = 0; i < dims.size(); ++i)
    if ((*info->dims)[i].op() == PrimOp::Var) values.emplace((*info->dims)[i].var().get(), dims[i]);
}

void for_each_value_var(const StructInfo& info, const std::function<void(const SymVar&)>& visit) {
  // Without recursion, because types are nested as deeply as programs; what is shared, as in (t, t), is visited once.
  std::unordered_set<const StructInfoNode*> seen;
  std::vector<StructInfo> open{info};
  while (!open.empty()) {
    const StructInfo part = std::move(open.back());
    open.pop_back();
    if (part->kind == InfoKind::Func) continue;
    if (part->kind != InfoKind::Tuple)
      for_each_var(part, visit);
    else if (seen.insert(part.get()).second)
      open.insert(open.end(), part->fields.rbegin(), part->fields.rend());
  }
}

StructInfo closure_info(const StructInfo& signature, const SymValues& captured) {
  return substitute(signature, by(captured));
}

bool is_acceptable(const StructInfo& given, const StructInfo& expected, const SymValues& values) {
  return is_usable_as(given, substitute(expected, by(values))) == Compatibility::Compatible;
}

void require_arguments(std::span<const Slot> args, std::span<const StructInfo> params,
                       std::span<const std::string> names, std::string_view exported_as, const SymValues& values,
                       const InfoOfClosure& info_of_closure) {
  const Matcher matcher(values, info_of_closure);
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string name = i < names.size() ? "%" + names[i] : fmt::format("argument {}", i);
    const auto found = matcher.find(args[i], params[i], name);
    if (!found) continue;
    Error error(found->of_shape ? ErrorCode::ShapeMismatch : ErrorCode::TypeError, found->text);
    if (!exported_as.empty()) error.add_context(fmt::format("@{}", exported_as));
    throw error;
  }
}

void require_match(const Slot& value, const StructInfo& info, const SymValues& values,
                   const InfoOfClosure& info_of_closure) {
  const auto found = Matcher(values, info_of_closure).find(value, info, "the value");
  if (!found) return;
  throw Error(ErrorCode::CastFailed,
              found->names_whole ? found->text : fmt::format("{} ({})", found->text, to_text(info)));
}

}  // namespace ingot
