#include "compiler/ops/call.h"

#include <algorithm>

#include "compiler/ops/ops.h"
#include "runtime/base/convert.h"

namespace ingot::ops {

using namespace ir;

Expr make_call(std::string_view op, std::vector<Expr> args, Attrs attrs) {
  return std::make_shared<Call>(std::make_shared<OpExpr>(find(op), Span{}), std::move(args), std::move(attrs),
                                std::vector<StructInfo>{}, Span{});
}

Expr make_builtin(std::string_view name, std::vector<Expr> args, StructInfo info) {
  return std::make_shared<Call>(std::make_shared<OpExpr>(find("call_builtin"), Span{}), std::move(args),
                                Attrs{{"name", std::string(name)}}, std::vector<StructInfo>{std::move(info)}, Span{});
}

Expr make_shape(std::vector<PrimExpr> dims) {
  auto shape = std::make_shared<Shape>(dims, Span{});
  shape->info = shape_info(std::move(dims));
  return shape;
}

Expr make_prim(const PrimExpr& value) {
  auto prim = std::make_shared<PrimValue>(value, Span{});
  prim->info = prim_info(DType::Int64, value);
  return prim;
}

Expr make_text(std::string value) {
  auto text = std::make_shared<String>(std::move(value), Span{});
  text->info = object_info();
  return text;
}

Expr make_none() {
  auto none = std::make_shared<NullValue>(Span{});
  none->info = object_info();
  return none;
}

Expr scalar(DType dtype, double value) {
  auto data = ingot::make_tensor(nullptr, dtype, {});
  with_element(dtype, [&]<typename T>() { store_element<T>(data->data, convert<T>(value)); });
  return std::make_shared<Constant>(std::move(data), false, Span{});
}

Expr numbers(std::span<const double> values) {
  const int64_t dims[] = {static_cast<int64_t>(values.size())};
  auto data = ingot::make_tensor(nullptr, DType::Float64, dims);
  std::ranges::copy(values, data->elements<double>());
  return std::make_shared<Constant>(std::move(data), false, Span{});
}

Expr make_tuple(std::vector<Expr> fields) { return std::make_shared<Tuple>(std::move(fields), Span{}); }

Expr of(std::string_view op, const Expr& x, const Expr& y) { return make_call(op, {x, y}); }

Expr converted(const Expr& x, DType to) { return make_call("cast", {x}, {{"dtype", to}}); }

Expr field(Expr tuple, size_t index) {
  return std::make_shared<TupleGetItem>(std::move(tuple), static_cast<uint32_t>(index), Span{});
}

Expr taken(Expr x, Expr indices, int64_t axis, int64_t batch_dims) {
  Attrs attrs = {{"axis", axis}, {"mode", std::string("raise")}};
  if (batch_dims != 0) attrs["batch_dims"] = batch_dims;
  return make_call("take", {std::move(x), std::move(indices)}, std::move(attrs));
}

std::vector<Expr> field_exprs(const CallSite& call, size_t i) {
  if (call.info(i) == nullptr || call.info(i)->kind != InfoKind::Tuple) return {call.arg(i)};
  if (const auto* tuple = as<Tuple>(call.arg(i))) return tuple->fields;
  std::vector<Expr> result;
  for (size_t k = 0; k < call.info(i)->fields.size(); ++k) result.push_back(field(call.arg(i), k));
  return result;
}

}  // namespace ingot::ops
