#include "compiler/analysis/polymorphism.h"

#include <algorithm>
#include <map>

#include "runtime/symbolic/simplify.h"

namespace ingot::analysis {
namespace {

StructInfo make(StructInfoNode node) { return std::make_shared<const StructInfoNode>(std::move(node)); }

class Generalizer {
 public:
  StructInfo operator()(const StructInfo& info) {
    StructInfoNode node = *info;
    if (node.shape_var) node.shape_var.reset();
    if (node.kind == InfoKind::Prim) node.value.reset();
    if (node.kind == InfoKind::Func) return erase_vars(info, [](const SymVar&) { return false; });
    if (node.dims)
      for (PrimExpr& dim : *node.dims) dim = variable(dim);
    for (StructInfo& field : node.fields) field = (*this)(field);
    return make(std::move(node));
  }

 private:
  PrimExpr variable(const PrimExpr& given) {
    const PrimExpr dim = simplify(given);
    if (dim.as_const()) return dim;
    for (const auto& [from, to] : seen_)
      if (same_expr(from, dim)) return to;
    const bool named = dim.op() == PrimOp::Var;
    // Numbered behind their name, so that texts of equal structure are equal.
    const PrimExpr to(make_sym_var(named ? dim.var()->name : "d"));
    seen_.emplace_back(dim, to);
    return to;
  }

  std::vector<std::pair<PrimExpr, PrimExpr>> seen_;
};

// The text with variables named by order of occurrence.
std::string canonical(const std::vector<StructInfo>& infos) {
  std::map<const SymVarNode*, PrimExpr> names;
  std::string text;
  for (const StructInfo& info : infos) {
    const StructInfo renamed = substitute(info, [&](const SymVar& var) -> std::optional<PrimExpr> {
      const auto [at, added] = names.try_emplace(var.get());
      if (added) at->second = PrimExpr(make_sym_var("$" + std::to_string(names.size())));
      return at->second;
    });
    text += to_text(renamed) + ";";
  }
  return text;
}

}  // namespace

bool is_polymorphic(const ir::Function& function) {
  return !function.type_params.empty() ||
         std::ranges::any_of(function.params, [](const ir::VarRef& param) { return param->annotation == nullptr; });
}

bool mentions_type_param(const ir::Function& function, const StructInfo& info) {
  bool found = false;
  for_each_var(info, [&](const SymVar& var) {
    found = found || std::ranges::any_of(function.type_params, [&](const auto& param) { return param.var == var; });
  });
  return found;
}

Generalized generalize(const std::vector<StructInfo>& arguments) {
  Generalized result;
  Generalizer generalizer;
  for (const StructInfo& info : arguments) result.infos.push_back(generalizer(info));
  result.key = canonical(result.infos);
  return result;
}

const std::string* TypeArguments::kind_of(const SymVar& var) const {
  if (!var) return nullptr;
  for (const auto& param : *params_)
    if (param.var == var) return &param.kind;
  return nullptr;
}

bool TypeArguments::learn(const SymVar& var, const StructInfo& info, bool in_function) {
  const auto [at, added] = known_.try_emplace(var.get(), info);
  if (added) return true;
  if (holes_->mentions_hole(info) || holes_->mentions_hole(at->second))
    return holes_->unify(info, at->second) == Holes::Result::Fits;
  if (is_compatible(info, at->second) == Compatibility::Incompatible) return false;
  if (in_function || given_.contains(var.get())) return true;
  // Two arguments of one type parameter: what both are.
  at->second = least_upper_bound(at->second, info);
  return true;
}

bool TypeArguments::set(size_t position, const StructInfo& argument) {
  if (position >= params_->size()) return false;
  const auto& [var, kind] = (*params_)[position];
  const bool tensor = argument->kind == InfoKind::Tensor;
  const bool unit = argument->kind == InfoKind::Tuple && argument->fields.empty();
  StructInfo known = argument;
  if (kind == "Shape") {
    if (argument->kind == InfoKind::Shape || tensor || unit) {
      StructInfoNode shape;
      shape.kind = InfoKind::Tensor;
      shape.rank = unit ? 0 : argument->rank;
      shape.dims = unit ? std::vector<PrimExpr>{} : argument->dims;
      known = make(std::move(shape));
    } else {
      return false;
    }
  } else if (kind == "BaseType") {
    if (!tensor || argument->rank != 0u) return false;
    known = tensor_info(argument->dtype);
  }
  given_.insert(var.get());
  return learn(var, known, false);
}

bool TypeArguments::match(const StructInfo& annotation, const StructInfo& argument, bool in_function) {
  if (annotation->kind == InfoKind::Object)
    return kind_of(annotation->shape_var) == nullptr || learn(annotation->shape_var, argument, in_function);
  if (annotation->kind != argument->kind) return argument->kind == InfoKind::Object;
  bool fits = true;
  in_function = in_function || annotation->kind == InfoKind::Func;
  if (annotation->kind == InfoKind::Tensor) {
    if (kind_of(annotation->shape_var) != nullptr) {
      StructInfoNode shape = *argument;
      shape.dtype = DType::None;
      fits = learn(annotation->shape_var, make(std::move(shape)), in_function);
    }
    if (annotation->value && annotation->value->op() == PrimOp::Var)
      fits = learn(annotation->value->var(), tensor_info(argument->dtype), in_function) && fits;
    return fits;
  }
  if (annotation->fields.size() != argument->fields.size()) return false;
  for (size_t i = 0; i < annotation->fields.size(); ++i)
    fits = match(annotation->fields[i], argument->fields[i], in_function) && fits;
  if (annotation->result && argument->result) fits = match(annotation->result, argument->result, in_function) && fits;
  return fits;
}

const ir::Function::TypeParam* TypeArguments::missing() const {
  for (const auto& param : *params_)
    if (!known_.contains(param.var.get())) return &param;
  return nullptr;
}

StructInfo TypeArguments::apply(const StructInfo& info) const {
  const auto known = [&](const SymVar& var) -> const StructInfoNode* {
    const auto found = var ? known_.find(var.get()) : known_.end();
    return found == known_.end() ? nullptr : found->second.get();
  };
  if (info->kind == InfoKind::Object) {
    if (!info->shape_var) return info;
    const auto found = known_.find(info->shape_var.get());
    return found == known_.end() ? info : found->second;
  }
  StructInfoNode node = *info;
  if (node.kind == InfoKind::Tensor) {
    if (const auto* shape = known(node.shape_var)) {
      node.shape_var.reset();
      node.dims = shape->dims;
      node.rank = shape->rank;
    }
    if (node.value && node.value->op() == PrimOp::Var)
      if (const auto* base = known(node.value->var())) {
        node.value.reset();
        node.dtype = base->dtype;
      }
  }
  for (StructInfo& field : node.fields) field = apply(field);
  if (node.result) node.result = apply(node.result);
  return make(std::move(node));
}

StructInfo make_hole(const SymVar& var) {
  StructInfoNode node;
  node.shape_var = var;
  return make(std::move(node));
}

}  // namespace ingot::analysis
