#include "vm/loader/compiled_check.h"

#include <fmt/format.h>

#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"
#include "vm/verifier/value_class.h"

namespace ingot::vm {
namespace {

const TensorObject& tensor_of(const Slot& value) { return *static_cast<const TensorObject*>(value.object); }
const TupleObject& tuple_of(const Slot& value) { return *static_cast<const TupleObject*>(value.object); }
const ShapeObject& shape_of(const Slot& value) { return *static_cast<const ShapeObject*>(value.object); }

bool is_tensor(const Slot& value) { return value.kind == Kind::Tensor || value.kind == Kind::Scalar; }
DType dtype_of(const Slot& value) { return value.kind == Kind::Tensor ? tensor_of(value).dtype : value.dtype; }
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
  compile(check.info, bound, slots);
  if (check.info->kind == InfoKind::Tuple) {
    find_heads(check.info->fields);
  } else {
    head_ = head_of(check.info);
  }
  for (size_t i = 0; i < vars_.size(); ++i)
    if (!bound[i])
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

bool CompiledCheck::matches_func(const Node& node, const Slot& value) const {
  if (value.kind == Kind::PackedFunc) return !node.info->has_params;
  if (value.kind != Kind::Closure || !node.info->has_params) return false;
  if (!signature_of_) return true;
  const uint32_t function = static_cast<const ClosureObject*>(value.object)->function;
  std::atomic<uint64_t>& last = last_functions_[static_cast<size_t>(&node - nodes_.data())];
  const uint64_t known = last.load(std::memory_order_relaxed);
  if (known / 2 == function) return known % 2 == 1;
  const StructInfo signature = signature_of_(function);
  const bool matches = signature == nullptr || is_compatible(signature, node.info) != Compatibility::Incompatible;
  last.store(uint64_t{function} * 2 + (matches ? 1 : 0), std::memory_order_relaxed);
  return matches;
}

void CompiledCheck::set_signatures(SignatureOf signature_of) {
  signature_of_ = std::move(signature_of);
  last_functions_ = std::make_unique<std::atomic<uint64_t>[]>(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) last_functions_[i].store(UINT64_MAX, std::memory_order_relaxed);
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
      return matches_func(node, value);
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

std::string describe_value(const Slot& value) {
  switch (value.kind) {
    case Kind::None:
      return "none";
    case Kind::Scalar:
      return fmt::format("a tensor () of {}", dtype_name(value.dtype));
    case Kind::Prim:
      return fmt::format("a prim of {}", dtype_name(value.dtype));
    case Kind::DType:
      return "a dtype";
    case Kind::Tensor:
      return fmt::format("a tensor {} of {}", shape_text(tensor_of(value).dims()), dtype_name(tensor_of(value).dtype));
    case Kind::Tuple:
      return fmt::format("a tuple of {}", tuple_of(value).size);
    case Kind::Shape:
      return fmt::format("the shape {}", shape_text(shape_of(value).dims()));
    case Kind::Closure:
      return "a closure";
    case Kind::PackedFunc:
      return "a PackedFunc";
    case Kind::String:
      return "a string";
    case Kind::Object:
      return "an opaque object";
  }
  return "nothing";
}

void CompiledCheck::bind_known(const Node& node, const Slot& value, Explaining& state) const {
  if (node.kind == InfoKind::Tuple && value.kind == Kind::Tuple) {
    const auto fields = tuple_of(value).fields();
    for (size_t i = 0; i < std::min<size_t>(fields.size(), node.count); ++i)
      bind_known(nodes_[node.first + i], fields[i], state);
    return;
  }
  if (!node.has_dims) return;
  const auto bind = [&](std::span<const int64_t> numbers) {
    if (numbers.size() != node.count) return;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const Dim& dim = dims_[node.first + i];
      if (dim.form != Dim::Form::Bind && dim.form != Dim::Form::Var) continue;
      const auto var = static_cast<size_t>(dim.number);
      if (!state.known[var]) state.vars[var] = numbers[i];
      state.known[var] = true;
    }
  };
  if (node.kind == InfoKind::Prim && value.kind == Kind::Prim && value.dtype == DType::Int64) {
    const int64_t number = integer_of(value);
    bind({&number, 1});
  }
  if ((node.kind == InfoKind::Tensor && is_tensor(value)) ||
      (node.kind == InfoKind::Shape && value.kind == Kind::Shape))
    bind(dims_of(value));
}

std::optional<Error> CompiledCheck::explain_dims(const Node& node, std::span<const int64_t> dims,
                                                 const std::string& name, const Explaining& state) const {
  const auto& [vars, says, known] = state;
  const VarSlots slots(vars_);
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dim& dim = dims_[node.first + i];
    const auto number = static_cast<size_t>(dim.number);
    const std::string place =
        node.kind == InfoKind::Prim ? std::to_string(dims[i]) : fmt::format("dimension {} = {}", i, dims[i]);
    const std::string_view verb = node.kind == InfoKind::Prim ? "is" : "has";
    if (dim.form == Dim::Form::Const) {
      if (dim.number != dims[i])
        return Error(ErrorCode::ShapeMismatch,
                     fmt::format("{} {} {}, {} says {}", name, verb, place, says, dim.number));
    } else if (dim.form != Dim::Form::Expr) {
      if (vars[number] != dims[i])
        return Error(ErrorCode::ShapeMismatch, fmt::format("{} {} {}, {} says {}, which is {}", name, verb, place, says,
                                                           vars_[number]->name, vars[number]));
    } else {
      const CompiledExpr& expr = exprs_[number];
      bool evaluates = true;
      for_each_var(expr.source(), [&](const SymVar& var) { evaluates &= known[slots.of(var)]; });
      if (!evaluates) continue;
      const int64_t expected = expr.evaluate(vars);
      if (expected != dims[i])
        return Error(ErrorCode::ShapeMismatch,
                     fmt::format("{} {} {}, {} says {} = {} ({})", name, verb, place, says, to_text(expr.source()),
                                 expected, bindings_text(expr, slots, vars)));
    }
  }
  return std::nullopt;
}

std::optional<Error> CompiledCheck::explain_node(const Node& node, const Slot& value, const std::string& name,
                                                 const Explaining& state) const {
  const std::string_view says = state.says;
  const auto wrong_kind = [&] {
    return Error(ErrorCode::TypeError,
                 fmt::format("{} is {}, {} says {}", name, describe_value(value), says, to_text(node.info)));
  };
  switch (node.kind) {
    case InfoKind::Object:
      return std::nullopt;
    case InfoKind::Tensor:
    case InfoKind::Shape: {
      if (node.kind == InfoKind::Tensor ? !is_tensor(value) : value.kind != Kind::Shape) return wrong_kind();
      if (node.kind == InfoKind::Tensor && node.dtype != DType::None && dtype_of(value) != node.dtype)
        return Error(ErrorCode::TypeError, fmt::format("{} has dtype {}, {} says {}", name, dtype_name(dtype_of(value)),
                                                       says, dtype_name(node.dtype)));
      const auto dims = dims_of(value);
      if (node.rank >= 0 && dims.size() != static_cast<size_t>(node.rank))
        return Error(ErrorCode::ShapeMismatch, fmt::format("{} has rank {} (shape {}), {} says {}", name, dims.size(),
                                                           shape_text(dims), says, node.rank));
      return node.has_dims ? explain_dims(node, dims, name, state) : std::nullopt;
    }
    case InfoKind::Prim: {
      if (value.kind != Kind::Prim || (node.dtype != DType::None && value.dtype != node.dtype)) return wrong_kind();
      if (!node.has_dims) return std::nullopt;
      if (value.dtype != DType::Int64 && value.dtype != DType::Bool) return wrong_kind();
      const int64_t number = integer_of(value);
      return explain_dims(node, {&number, 1}, name, state);
    }
    case InfoKind::Tuple: {
      if (value.kind != Kind::Tuple || tuple_of(value).size != node.count) return wrong_kind();
      for (uint32_t i = 0; i < node.count; ++i)
        if (auto error =
                explain_node(nodes_[node.first + i], tuple_of(value).fields()[i], fmt::format("{}.{}", name, i), state))
          return error;
      return std::nullopt;
    }
    case InfoKind::Func:
      if (!matches_func(node, value)) return wrong_kind();
      return std::nullopt;
  }
  return std::nullopt;
}

Error CompiledCheck::explain(const Slot& value, std::span<int64_t> vars, std::string_view name,
                             std::string_view says) const {
  Explaining state{vars, says, binds_};
  state.known.flip();
  bind_known(nodes_[0], value, state);
  if (auto error = explain_node(nodes_[0], value, std::string(name), state)) return *error;
  return {ErrorCode::Internal, "a check failed that holds"};
}

Error CompiledCheck::explain_fields(const Slot* fields, std::span<int64_t> vars, std::span<const std::string> names,
                                    std::string_view says) const {
  const Node& root = nodes_[0];
  Explaining state{vars, says, binds_};
  state.known.flip();
  for (size_t i = names.size(); i < root.count; ++i) bind_known(nodes_[root.first + i], fields[i], state);
  for (size_t i = 0; i < names.size(); ++i) bind_known(nodes_[root.first + i], fields[i], state);
  for (uint32_t i = 0; i < root.count; ++i) {
    const std::string name = i < names.size() ? "%" + names[i] : fmt::format("argument {}", i);
    if (auto error = explain_node(nodes_[root.first + i], fields[i], name, state)) return *error;
  }
  return {ErrorCode::Internal, "a check failed that holds"};
}

}  // namespace ingot::vm
