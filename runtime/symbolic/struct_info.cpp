#include "runtime/symbolic/struct_info.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "runtime/base/error.h"

namespace ingot {
namespace {

StructInfo make(StructInfoNode node) { return std::make_shared<const StructInfoNode>(std::move(node)); }

bool same_dims(const std::optional<std::vector<PrimExpr>>& a, const std::optional<std::vector<PrimExpr>>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || std::equal(a->begin(), a->end(), b->begin(), b->end(), same_expr);
}

std::string dims_text(const std::vector<PrimExpr>& dims) {
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) text += ", ";
    text += to_text(dims[i]);
  }
  return text + (dims.size() == 1 ? ",)" : ")");
}

std::string bracketed(std::string_view head, const std::vector<std::string>& parts) {
  return parts.empty() ? std::string(head) : fmt::format("{}[{}]", head, fmt::join(parts, ", "));
}

std::string shaped_text(std::string_view head, const StructInfoNode& info) {
  std::vector<std::string> parts;
  if (info.dims) parts.push_back(dims_text(*info.dims));
  if (info.shape_var) parts.push_back("%" + info.shape_var->name);
  if (info.rank && !info.dims) parts.push_back(fmt::format("ndim={}", *info.rank));
  if (info.dtype != DType::None) parts.emplace_back(dtype_name(info.dtype));
  return bracketed(head, parts);
}

bool has_parts(const StructInfo& info) { return !info->fields.empty() || info->result != nullptr; }

// Every expression of an info, and its shape variables, in order; `binding` leaves out function types. What is shared,
// as the fields of (t, t), is visited once.
class ExprVisitor {
 public:
  ExprVisitor(bool binding, const std::function<void(const PrimExpr&)>& on_expr,
              const std::function<void(const SymVar&)>& on_shape_var)
      : binding_(binding), on_expr_(on_expr), on_shape_var_(on_shape_var) {}

  void visit(const StructInfo& info) {
    if (!info || (has_parts(info) && !seen_.insert(info.get()).second)) return;
    if (info->dims)
      for (const PrimExpr& dim : *info->dims) on_expr_(dim);
    if (info->shape_var) on_shape_var_(info->shape_var);
    if (info->value) on_expr_(*info->value);
    if (binding_ && info->kind == InfoKind::Func) return;
    for (const StructInfo& field : info->fields) visit(field);
    if (!binding_) visit(info->result);
  }

 private:
  bool binding_;
  const std::function<void(const PrimExpr&)>& on_expr_;
  const std::function<void(const SymVar&)>& on_shape_var_;
  std::unordered_set<const StructInfoNode*> seen_;
};

void visit_exprs(const StructInfo& info, bool binding, const std::function<void(const PrimExpr&)>& on_expr,
                 const std::function<void(const SymVar&)>& on_shape_var) {
  ExprVisitor(binding, on_expr, on_shape_var).visit(info);
}

using InfoPairs = std::set<std::pair<const StructInfoNode*, const StructInfoNode*>>;

// `alike`: pairs that were found the same, or are being compared.
bool same_info(const StructInfo& a, const StructInfo& b, InfoPairs& alike) {
  if (a == b) return true;
  if (!a || !b) return false;
  if (has_parts(a) && !alike.emplace(a.get(), b.get()).second) return true;
  if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank || a->shape_var != b->shape_var ||
      a->has_params != b->has_params || a->pure != b->pure || a->value.has_value() != b->value.has_value())
    return false;
  if (a->value && !same_expr(*a->value, *b->value)) return false;
  return same_dims(a->dims, b->dims) &&
         std::equal(a->fields.begin(), a->fields.end(), b->fields.begin(), b->fields.end(),
                    [&](const StructInfo& x, const StructInfo& y) { return same_info(x, y, alike); }) &&
         same_info(a->result, b->result, alike);
}

// Shared parts stay shared.
class Substituter {
 public:
  explicit Substituter(const Substitution& substitution) : substitution_(substitution) {}

  StructInfo operator()(const StructInfo& info) {
    if (!info) return info;
    if (!has_parts(info)) return replaced(info);
    if (const auto known = known_.find(info.get()); known != known_.end()) return known->second;
    return known_[info.get()] = replaced(info);
  }

 private:
  StructInfo replaced(const StructInfo& info) {
    // Not on the stack, which deeply nested ones would fill.
    const auto node = std::make_shared<StructInfoNode>(*info);
    bool changed = false;
    const auto replace = [&](PrimExpr& expr) {
      PrimExpr made = substitute(expr, substitution_);
      changed |= !made.same_node(expr);
      expr = std::move(made);
    };
    if (node->dims)
      for (PrimExpr& dim : *node->dims) replace(dim);
    if (node->value) replace(*node->value);
    for (StructInfo& field : node->fields) {
      field = (*this)(field);
      changed |= field != info->fields[static_cast<size_t>(&field - node->fields.data())];
    }
    node->result = (*this)(node->result);
    changed |= node->result != info->result;
    return changed ? node : info;
  }

  const Substitution& substitution_;
  std::unordered_map<const StructInfoNode*, StructInfo> known_;
};

}  // namespace

StructInfo object_info() { return make({}); }

StructInfo tensor_info(DType dtype) { return make({.kind = InfoKind::Tensor, .dtype = dtype}); }

StructInfo tensor_info(DType dtype, uint32_t rank) {
  return make({.kind = InfoKind::Tensor, .dtype = dtype, .rank = rank});
}

StructInfo tensor_info(DType dtype, std::vector<PrimExpr> dims) {
  const auto rank = static_cast<uint32_t>(dims.size());
  return make({.kind = InfoKind::Tensor, .dtype = dtype, .rank = rank, .dims = std::move(dims)});
}

StructInfo tensor_info(DType dtype, SymVar shape_var, std::optional<uint32_t> rank) {
  return make({.kind = InfoKind::Tensor, .dtype = dtype, .rank = rank, .shape_var = std::move(shape_var)});
}

StructInfo shape_info() { return make({.kind = InfoKind::Shape}); }

StructInfo shape_info(uint32_t rank) { return make({.kind = InfoKind::Shape, .rank = rank}); }

StructInfo shape_info(std::vector<PrimExpr> dims) {
  const auto rank = static_cast<uint32_t>(dims.size());
  return make({.kind = InfoKind::Shape, .rank = rank, .dims = std::move(dims)});
}

StructInfo prim_info(DType dtype) { return make({.kind = InfoKind::Prim, .dtype = dtype}); }

StructInfo prim_info(DType dtype, PrimExpr value) {
  return make({.kind = InfoKind::Prim, .dtype = dtype, .value = std::move(value)});
}

StructInfo tuple_info(std::vector<StructInfo> fields) {
  return make({.kind = InfoKind::Tuple, .fields = std::move(fields)});
}

StructInfo func_info(std::vector<StructInfo> params, StructInfo result, bool pure) {
  return make({.kind = InfoKind::Func, .fields = std::move(params), .pure = pure, .result = std::move(result)});
}

StructInfo packed_func_info(StructInfo result) {
  return make({.kind = InfoKind::Func, .has_params = false, .pure = false, .result = std::move(result)});
}

std::string to_text(const StructInfo& whole) {
  // What is still to be written, the next one last; without recursion, because types are nested as deeply as programs.
  struct Part {
    std::string text;
    const StructInfo* info = nullptr;
  };
  std::vector<Part> open{{"", &whole}};
  const auto push_fields = [&](const std::vector<StructInfo>& fields) {
    for (size_t i = fields.size(); i-- > 0;) {
      open.push_back({"", &fields[i]});
      if (i != 0) open.push_back({", "});
    }
  };
  std::string text;
  while (!open.empty()) {
    const Part part = std::move(open.back());
    open.pop_back();
    if (part.info == nullptr || *part.info == nullptr) {
      text += part.info == nullptr ? part.text : "?";
      continue;
    }
    const StructInfoNode& info = **part.info;
    switch (info.kind) {
      case InfoKind::Object:
        text += "Object";
        break;
      case InfoKind::Tensor:
        text += shaped_text("Tensor", info);
        break;
      case InfoKind::Shape:
        text += shaped_text("Shape", info);
        break;
      case InfoKind::Prim:
        text += info.value ? fmt::format("Prim[{}, {}]", dtype_name(info.dtype), to_text(*info.value))
                           : fmt::format("Prim[{}]", dtype_name(info.dtype));
        break;
      case InfoKind::Tuple:
        text += "(";
        open.push_back({info.fields.size() == 1 ? ",)" : ")"});
        push_fields(info.fields);
        break;
      case InfoKind::Func:
        text += info.pure ? "fn(" : "impure fn(";
        open.push_back({"", &info.result});
        open.push_back({info.has_params ? ") -> " : "...) -> "});
        if (info.has_params) push_fields(info.fields);
        break;
    }
  }
  return text;
}

bool same_info(const StructInfo& a, const StructInfo& b) {
  InfoPairs alike;
  return same_info(a, b, alike);
}

StructInfo substitute(const StructInfo& info, const Substitution& substitution) {
  return Substituter(substitution)(info);
}

void for_each_var(const StructInfo& info, const std::function<void(const SymVar&)>& visit) {
  std::unordered_set<const SymVarNode*> seen;
  const auto once = [&](const SymVar& var) {
    if (seen.insert(var.get()).second) visit(var);
  };
  visit_exprs(
      info, false, [&](const PrimExpr& expr) { for_each_var(expr, once); }, once);
}

void for_each_binding_var(const StructInfo& info, const std::function<void(const SymVar&)>& visit) {
  std::unordered_set<const SymVarNode*> seen;
  const auto alone = [&](const PrimExpr& expr) {
    if (expr.op() == PrimOp::Var && seen.insert(expr.var().get()).second) visit(expr.var());
  };
  visit_exprs(info, true, alone, [](const SymVar&) {});
}

}  // namespace ingot
