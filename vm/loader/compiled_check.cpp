#include "vm/loader/compiled_check.h"

#include <array>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"
#include "vm/verifier/value_class.h"

namespace ingot::vm {
namespace {

const TensorObject& tensor_of(const Slot& value) { return *static_cast<const TensorObject*>(value.object); }
const TupleObject& tuple_of(const Slot& value) { return *static_cast<const TupleObject*>(value.object); }
const ShapeObject& shape_of(const Slot& value) { return *static_cast<const ShapeObject*>(value.object); }

// Of a prim that is int64 or bool.
int64_t integer_of(const Slot& value) {
  return value.dtype == DType::Bool ? int64_t{value.as<uint8_t>() != 0} : value.as<int64_t>();
}
std::span<const int64_t> dims_of(const Slot& value) {
  if (value.kind == Kind::Tensor) return tensor_of(value).dims();
  if (value.kind == Kind::Shape) return shape_of(value).dims();
  return {};
}

}  // namespace

CompiledCheck::CompiledCheck(const Check& check) : binds_(check.binds) {
  for_each_var(check.info, [&](const SymVar& var) { vars_.push_back(var); });
  binds_.resize(vars_.size());
  std::vector<bool> bound(vars_.size());
  for (size_t i = 0; i < vars_.size(); ++i) bound[i] = !binds_[i];
  const VarSlots slots(vars_);
  of_functions_ = binds_;
  for_each_value_var(check.info, [&](const SymVar& var) { of_functions_[slots.of(var)] = false; });
  compile(check.info, bound, slots);
  if (check.info->kind == InfoKind::Tuple) {
    find_heads(check.info->fields);
  } else {
    head_ = head_of(check.info);
  }
  for (size_t i = 0; i < vars_.size(); ++i)
    if (!bound[i] && !of_functions_[i])
      fail(ErrorCode::CorruptFile, "check {}: {} is to be bound, but stands alone nowhere", to_text(check.info),
           vars_[i]->name);
}

CompiledCheck::Head CompiledCheck::head_of(const StructInfo& info) {
  const ValueClass value = class_of(info);
  if (!is_class(info) || !(value.is(Kind::Scalar) || value.is(Kind::Prim))) return {};
  return {value.is(Kind::Scalar) ? Kind::Scalar : Kind::Prim, value.dtype};
}

void CompiledCheck::find_heads(std::span<const StructInfo> fields) {
  for (const StructInfo& field : fields) {
    heads_.push_back(head_of(field));
    if (heads_.back().kind == Kind::None) return;
  }
  by_heads_ = true;
}

CompiledCheck::Dim CompiledCheck::compile_dim(const PrimExpr& dim, std::vector<bool>& bound, const VarSlots& slots) {
  if (const auto value = dim.as_const()) return {Dim::Form::Const, *value};
  if (dim.op() == PrimOp::Var) {
    const uint32_t slot = slots.of(dim.var());
    if (bound[slot]) return {Dim::Form::Var, slot};
    bound[slot] = true;
    return {Dim::Form::Bind, slot};
  }
  late_ = true;
  exprs_.emplace_back(dim, slots);
  return {Dim::Form::Expr, static_cast<int64_t>(exprs_.size() - 1)};
}

// Depth first, as values are matched; without recursion, because types are nested as deeply as programs.
void CompiledCheck::compile(const StructInfo& whole, std::vector<bool>& bound, const VarSlots& slots) {
  nodes_.emplace_back();
  std::vector<std::pair<size_t, StructInfo>> open{{0, whole}};
  while (!open.empty()) {
    const auto [at, info] = std::move(open.back());
    open.pop_back();
    if (info->shape_var != nullptr)
      fail(ErrorCode::Unsupported, "check {}: a variable for a whole shape has no run-time form", to_text(info));
    Node node;
    node.kind = info->kind;
    node.dtype = info->dtype;
    node.info = info;
    if (info->rank) node.rank = static_cast<int32_t>(*info->rank);
    if (info->dims || info->value) {
      node.has_dims = true;
      node.first = static_cast<uint32_t>(dims_.size());
      if (info->dims) {
        node.rank = static_cast<int32_t>(info->dims->size());
        for (const PrimExpr& dim : *info->dims) dims_.push_back(compile_dim(dim, bound, slots));
      } else {
        dims_.push_back(compile_dim(*info->value, bound, slots));
      }
      node.count = static_cast<uint32_t>(dims_.size()) - node.first;
    }
    if (info->kind == InfoKind::Tuple) {
      node.first = static_cast<uint32_t>(nodes_.size());
      node.count = static_cast<uint32_t>(info->fields.size());
      nodes_.resize(nodes_.size() + node.count);
      for (uint32_t i = node.count; i-- > 0;) open.emplace_back(node.first + i, info->fields[i]);
    }
    if (info->kind == InfoKind::Func) {
      node.first = func_count_++;
      for_each_var(info, [&](const SymVar& var) { node.mentions_values |= !of_functions_[slots.of(var)]; });
    }
    late_ |= node.mentions_values;
    nodes_[at] = std::move(node);
  }
}

bool CompiledCheck::early_dims(const Node& node, std::span<const int64_t> dims, std::span<int64_t> vars) const {
  const Dim* dim = dims_.data() + node.first;
  for (const int64_t actual : dims) {
    switch (dim->form) {
      case Dim::Form::Const:
        if (actual != dim->number) return false;
        break;
      case Dim::Form::Bind:
        vars[static_cast<size_t>(dim->number)] = actual;
        break;
      case Dim::Form::Var:
        if (actual != vars[static_cast<size_t>(dim->number)]) return false;
        break;
      case Dim::Form::Expr:
        break;
    }
    ++dim;
  }
  return true;
}

bool CompiledCheck::late_dims(const Node& node, std::span<const int64_t> dims, std::span<int64_t> vars) const {
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dim& dim = dims_[node.first + i];
    if (dim.form == Dim::Form::Expr && exprs_[static_cast<size_t>(dim.number)].evaluate(vars) != dims[i]) return false;
  }
  return true;
}

bool CompiledCheck::matches_func(const Node& node, const Slot& value, std::span<const int64_t> vars) const {
  if (value.kind == Kind::PackedFunc) return !node.info->has_params;
  if (value.kind != Kind::Closure || !node.info->has_params) return false;
  // The numbers of its variables may be bound behind it.
  if (closures_ == nullptr || node.mentions_values) return true;
  return matches_closure(node, value, vars);
}

bool CompiledCheck::matches_closure(const Node& node, const Slot& closure, std::span<const int64_t> vars) const {
  const uint32_t function = static_cast<const ClosureObject*>(closure.object)->function;
  std::array<int64_t, FuncMemo::kMaxNumbers> key;
  size_t count = 0;
  bool is_known = true;
  const auto add = [&](std::optional<int64_t> number) {
    is_known &= number && count < key.size();
    if (is_known) key[count++] = *number;
  };
  add(function);
  for (size_t i = 0; i < closures_->captured_count(function); ++i) add(closures_->captured(closure, i));
  for (size_t i = 0; node.mentions_values && i < vars_.size(); ++i)
    if (!of_functions_[i]) add(vars[i]);
  FuncMemo& memo = memos_[node.first];
  const std::span<const int64_t> known(key.data(), count);
  if (const auto found = is_known ? memo.find(known) : std::nullopt) return *found;
  SymValues values;
  for (size_t i = 0; node.mentions_values && i < vars_.size(); ++i)
    if (!of_functions_[i]) values.emplace(vars_[i].get(), vars[i]);
  const bool matches = is_acceptable(closures_->of(closure), node.info, values);
  if (is_known) memo.keep(known, matches);
  return matches;
}

void CompiledCheck::set_closure_infos(std::shared_ptr<const ClosureInfos> closures) {
  closures_ = std::move(closures);
  memos_ = std::make_unique<FuncMemo[]>(func_count_);
}

bool CompiledCheck::early(const Node& node, const Slot& value, std::span<int64_t> vars) const {
  switch (node.kind) {
    case InfoKind::Object:
      return true;
    case InfoKind::Tensor: {
      if (value.kind == Kind::Tensor) {
        const TensorObject& tensor = tensor_of(value);
        // The verifier relies on it: rank 0 is a Scalar, but for strings.
        if (tensor.rank == 0 && tensor.dtype != DType::String) return false;
        if (node.dtype != DType::None && tensor.dtype != node.dtype) return false;
        if (node.rank >= 0 && tensor.rank != static_cast<uint32_t>(node.rank)) return false;
        return !node.has_dims || early_dims(node, tensor.dims(), vars);
      }
      return value.kind == Kind::Scalar && (node.dtype == DType::None || value.dtype == node.dtype) && node.rank <= 0;
    }
    case InfoKind::Shape: {
      if (value.kind != Kind::Shape) return false;
      const auto dims = shape_of(value).dims();
      if (node.rank >= 0 && dims.size() != static_cast<size_t>(node.rank)) return false;
      return !node.has_dims || early_dims(node, dims, vars);
    }
    case InfoKind::Prim: {
      if (value.kind != Kind::Prim || (node.dtype != DType::None && value.dtype != node.dtype)) return false;
      if (!node.has_dims) return true;
      if (value.dtype != DType::Int64 && value.dtype != DType::Bool) return false;
      const int64_t number = integer_of(value);
      return early_dims(node, {&number, 1}, vars);
    }
    case InfoKind::Tuple: {
      if (value.kind != Kind::Tuple) return false;
      const auto fields = tuple_of(value).fields();
      if (fields.size() != node.count) return false;
      for (uint32_t i = 0; i < node.count; ++i)
        if (!early(nodes_[node.first + i], fields[i], vars)) return false;
      return true;
    }
    case InfoKind::Func:
      return matches_func(node, value, vars);
  }
  return false;
}

bool CompiledCheck::late(const Node& node, const Slot& value, std::span<int64_t> vars) const {
  if (node.kind == InfoKind::Tuple) {
    const auto fields = tuple_of(value).fields();
    for (uint32_t i = 0; i < node.count; ++i)
      if (!late(nodes_[node.first + i], fields[i], vars)) return false;
    return true;
  }
  if (node.mentions_values)
    return value.kind != Kind::Closure || closures_ == nullptr || matches_closure(node, value, vars);
  if (!node.has_dims) return true;
  if (node.kind == InfoKind::Prim) {
    const int64_t number = integer_of(value);
    return late_dims(node, {&number, 1}, vars);
  }
  return late_dims(node, dims_of(value), vars);
}

bool CompiledCheck::matches_fields(const Slot* fields, std::span<int64_t> vars) const {
  const Node& root = nodes_[0];
  for (uint32_t i = 0; i < root.count; ++i)
    if (!early(nodes_[root.first + i], fields[i], vars)) return false;
  if (!late_) return true;
  for (uint32_t i = 0; i < root.count; ++i)
    if (!late(nodes_[root.first + i], fields[i], vars)) return false;
  return true;
}

SymValues CompiledCheck::read_values(std::span<const int64_t> vars) const {
  SymValues values;
  for (size_t i = 0; i < vars_.size(); ++i)
    if (!binds_[i]) values.emplace(vars_[i].get(), vars[i]);
  return values;
}

InfoOfClosure CompiledCheck::info_of_closure() const {
  return [this](const Slot& closure) { return closures_ == nullptr ? object_info() : closures_->of(closure); };
}

void CompiledCheck::refuse(const Slot& value, std::span<const int64_t> vars) const {
  SymValues values = read_values(vars);
  bind_dims(value, nodes_[0].info, values);
  require_match(value, nodes_[0].info, values, info_of_closure());
  fail(ErrorCode::Internal, "a check failed that holds");
}

void CompiledCheck::refuse_fields(const Slot* fields, std::span<const int64_t> vars, std::span<const std::string> names,
                                  size_t params, std::string_view exported_as) const {
  const std::span<const StructInfo> infos = nodes_[0].info->fields;
  SymValues values = read_values(vars);
  for (size_t i = params; i < infos.size(); ++i) bind_dims(fields[i], infos[i], values);
  for (size_t i = 0; i < infos.size(); ++i) bind_dims(fields[i], infos[i], values);
  require_arguments({fields, infos.size()}, infos, names, exported_as, values, info_of_closure());
  fail(ErrorCode::Internal, "a check failed that holds");
}

}  // namespace ingot::vm
