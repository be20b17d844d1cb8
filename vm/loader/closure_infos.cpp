#include "vm/loader/closure_infos.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"

namespace ingot::vm {
namespace {

// Of the check that takes the parameters and all captures; none where the function has none such.
std::span<const StructInfo> captures_of(const Function& function) {
  for (const Check& check : function.checks) {
    const auto& fields = check.info->fields;
    if (check.info->kind != InfoKind::Tuple || fields.size() != size_t{function.params} + function.captures) continue;
    return std::span(fields).subspan(function.params);
  }
  return {};
}

std::optional<int64_t> dim_of(const Slot& value, uint32_t dim) {
  std::span<const int64_t> dims;
  if (value.kind == Kind::Tensor) dims = static_cast<const TensorObject*>(value.object)->dims();
  if (value.kind == Kind::Shape) dims = static_cast<const ShapeObject*>(value.object)->dims();
  return dim < dims.size() ? std::optional(dims[dim]) : std::nullopt;
}

}  // namespace

std::vector<ClosureInfos::Captured> ClosureInfos::captured_by(const Function& function) {
  std::vector<Captured> result;
  if (function.captures == 0) return result;
  std::unordered_set<const SymVarNode*> wanted;
  for_each_var(function.signature, [&](const SymVar& var) { wanted.insert(var.get()); });
  const auto add = [&](const PrimExpr& expr, const std::vector<uint32_t>& path, std::optional<uint32_t> dim) {
    if (expr.op() == PrimOp::Var && wanted.erase(expr.var().get()) == 1) result.push_back({expr.var(), path, dim});
  };
  const std::span<const StructInfo> captures = captures_of(function);
  std::vector<std::pair<StructInfo, std::vector<uint32_t>>> open;
  for (size_t i = captures.size(); i-- > 0;) open.push_back({captures[i], {static_cast<uint32_t>(i)}});
  std::unordered_set<const StructInfoNode*> seen;
  while (!open.empty()) {
    const auto [info, path] = std::move(open.back());
    open.pop_back();
    if (!seen.insert(info.get()).second || info->kind == InfoKind::Func) continue;
    if (info->value) add(*info->value, path, std::nullopt);
    for (size_t i = 0; info->dims && i < info->dims->size(); ++i) add((*info->dims)[i], path, static_cast<uint32_t>(i));
    for (size_t i = info->fields.size(); i-- > 0;) {
      open.emplace_back(info->fields[i], path);
      open.back().second.push_back(static_cast<uint32_t>(i));
    }
  }
  return result;
}

ClosureInfos::ClosureInfos(const Program& program) : program_(&program) {
  for (const Function& function : program.functions) captured_.push_back(captured_by(function));
}

std::optional<int64_t> ClosureInfos::captured(const Slot& closure, size_t i) const {
  const auto& object = *static_cast<const ClosureObject*>(closure.object);
  const Captured& place = captured_[object.function][i];
  std::span<const Slot> values = object.captures();
  for (size_t step = 0; step < place.path.size(); ++step) {
    if (place.path[step] >= values.size()) return std::nullopt;
    const Slot& value = values[place.path[step]];
    if (step + 1 < place.path.size()) {
      if (value.kind != Kind::Tuple) return std::nullopt;
      values = static_cast<const TupleObject*>(value.object)->fields();
    } else if (place.dim) {
      return dim_of(value, *place.dim);
    } else if (value.kind == Kind::Prim && value.dtype == DType::Int64) {
      return value.as<int64_t>();
    }
  }
  return std::nullopt;
}

StructInfo ClosureInfos::of(const Slot& closure) const {
  const uint32_t function = static_cast<const ClosureObject*>(closure.object)->function;
  SymValues values;
  for (size_t i = 0; i < captured_count(function); ++i)
    if (const auto number = captured(closure, i)) values.emplace(captured_[function][i].var.get(), *number);
  const StructInfo& signature = program_->functions[function].signature;
  return values.empty() ? signature : closure_info(signature, values);
}

}  // namespace ingot::vm
