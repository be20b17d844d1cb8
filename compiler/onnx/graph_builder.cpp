#include "compiler/onnx/graph_builder.h"

#include "compiler/ops/ops.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {

const TensorObject* Typed::constant() const {
  const auto* constant = ir::as<ir::Constant>(expr);
  return constant == nullptr ? nullptr : constant->data.get();
}

void GraphBuilder::begin_node(ir::Span span, std::string name_hint) {
  span_ = std::move(span);
  name_hint_ = std::move(name_hint);
}

Typed GraphBuilder::call(std::string_view name, std::span<const Typed> args, ir::Attrs attrs) {
  const ir::Op* op = ops::find(name);
  if (op == nullptr) fail(ErrorCode::Internal, "the importer uses operator {}, which does not exist", name);
  std::vector<ir::Expr> exprs;
  std::vector<StructInfo> infos;
  for (const auto& arg : args) {
    exprs.push_back(arg.expr);
    infos.push_back(arg.info);
  }
  StructInfo info = op->infer(ir::CallSite(*op, exprs, infos, attrs, {}));
  return bind(std::make_shared<ir::Call>(std::make_shared<ir::OpExpr>(op, span_), std::move(exprs), std::move(attrs),
                                         std::vector<StructInfo>{}, span_),
              std::move(info));
}

Typed GraphBuilder::call_tuple(std::string_view name, std::span<const Typed> fields, ir::Attrs attrs) {
  std::vector<ir::Expr> exprs;
  std::vector<StructInfo> infos;
  for (const auto& field : fields) {
    exprs.push_back(field.expr);
    infos.push_back(field.info);
  }
  const Typed tuple{std::make_shared<ir::Tuple>(std::move(exprs), span_), tuple_info(std::move(infos))};
  return call(name, {tuple}, std::move(attrs));
}

Typed GraphBuilder::field(const Typed& tuple, uint32_t index) {
  return bind(std::make_shared<ir::TupleGetItem>(tuple.expr, index, span_), tuple.info->fields.at(index));
}

Typed GraphBuilder::constant(Ref<TensorObject> data) {
  std::vector<PrimExpr> dims(data->dims().begin(), data->dims().end());
  StructInfo info = tensor_info(data->dtype, std::move(dims));
  return {std::make_shared<ir::Constant>(std::move(data), false, span_), std::move(info)};
}

Typed GraphBuilder::bind(ir::Expr value, StructInfo info) {
  const auto var = std::make_shared<ir::Var>(name_hint_, nullptr, false, span_);
  bindings_.push_back({var, std::move(value), nullptr, span_});
  return {var, std::move(info)};
}

}  // namespace ingot::onnx_import
