#include "compiler/analysis/inference.h"

namespace ingot::analysis {

using namespace ir;

// Parameters that hold shapes: those of known rank get a shape variable for each dimension.
void Inference::hold_shapes(const Function& f) {
  for (const auto& param : f.params) {
    if (!param->shape_symbol || held_.contains(param->shape_symbol.get())) continue;
    const StructInfo info = annotation_of(*param);
    if (info == nullptr || info->kind != InfoKind::Shape || !info->rank) {
      diagnostics_->error(ErrorCode::TypeError, param->span,
                          fmt::format("%{} gives the shape of a tensor type, but is {}", param->name, to_text(info)),
                          "annotate it with the number of dimensions: Shape[ndim=2]");
      held_[param->shape_symbol.get()] = {};
      continue;
    }
    std::vector<PrimExpr> dims;
    for (uint32_t i = 0; i < *info->rank; ++i)
      dims.push_back(info->dims ? (*info->dims)[i] : PrimExpr(make_sym_var("d")));
    held_[param->shape_symbol.get()] = std::move(dims);
  }
}

void Inference::refuse_as_shape(const Var& var, const std::string& what) {
  diagnostics_->error(ErrorCode::TypeError, place(var.span),
                      fmt::format("%{} gives the shape of a tensor type, but is {}", var.name, what),
                      "match_cast it to a shape with a known number of dimensions: Shape[ndim=2]");
  var.info = wrong();
}

// The same for a variable of a sequence, whose StructInfo is known.
void Inference::hold_shape(const VarRef& var) {
  if (!var->shape_symbol || is_unknown(var->info)) return;
  if (var->info->kind != InfoKind::Shape || !var->info->rank) return refuse_as_shape(*var, to_text(var->info));
  held_[var->shape_symbol.get()] = *with_dims(var)->info->dims;
}

StructInfo Inference::resolved(const StructInfo& info) const {
  if (info == nullptr || (held_.empty() && before_ == 0) || mentions_unknown(info)) return info;
  // The parser did not find the variable.
  if (info->kind == InfoKind::Tensor && info->shape_var && info->shape_var->name.empty()) return wrong();
  StructInfoNode node = *info;
  if (node.kind == InfoKind::Tensor && node.shape_var)
    if (const auto found = held_.find(node.shape_var.get()); found != held_.end()) {
      node.shape_var.reset();
      node.dims = found->second;
      node.rank = static_cast<uint32_t>(found->second.size());
    }
  node.fields = resolved(std::move(node.fields));
  node.result = resolved(node.result);
  return std::make_shared<const StructInfoNode>(std::move(node));
}

std::vector<StructInfo> Inference::resolved(std::vector<StructInfo> infos) const {
  for (StructInfo& info : infos) info = resolved(info);
  return infos;
}

}  // namespace ingot::analysis
