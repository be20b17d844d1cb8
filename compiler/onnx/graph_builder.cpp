#include "compiler/onnx/graph_builder.h"

#include <algorithm>

#include "compiler/ir/visitor.h"
#include "compiler/ops/ops.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"
#include "runtime/tir/interpreter.h"

namespace ingot::onnx_import {

namespace {

// Integers above this size are no shapes, and are left to the compiler.
constexpr size_t kFoldedBytes = 1024;

// Broadcasts of sizes that are computed grow from layer to layer.
constexpr uint32_t kMaxDimNodes = 16;

std::optional<std::vector<int64_t>> small_dims(const StructInfo& info) {
  if (info->kind != InfoKind::Tensor || !info->dims || is_float(info->dtype) || info->dtype == DType::String ||
      info->dtype == DType::None)
    return std::nullopt;
  std::vector<int64_t> dims;
  size_t bytes = dtype_bytes(info->dtype);
  for (const auto& dim : *info->dims) {
    const auto known = dim.as_const();
    if (!known || *known < 0 || static_cast<size_t>(*known) > kFoldedBytes) return std::nullopt;
    bytes *= static_cast<size_t>(*known);
    if (bytes > kFoldedBytes) return std::nullopt;
    dims.push_back(*known);
  }
  return dims;
}

// The value of a total operator on small constants; null where it has none now. Integers and booleans only: they may
// decide about shapes and branches.
Ref<TensorObject> folded(const ir::Op& op, std::span<const Typed> args, const ir::CallSite& site,
                         const StructInfo& info) {
  const auto dims = small_dims(info);
  if (!dims || op.effect(site) != ir::Effect::Total) return {};
  std::vector<Ref<TensorObject>> tensors;
  for (const auto& arg : args) {
    if (!arg.is_tensor()) {
      if (arg.info->kind != InfoKind::Shape || !arg.info->dims) return {};
      for (const auto& dim : *arg.info->dims)
        if (!dim.as_const()) return {};
      continue;
    }
    const TensorObject* tensor = arg.constant();
    if (tensor == nullptr || tensor->bytes > kFoldedBytes || tensor->dtype == DType::String) return {};
    tensors.push_back(Ref<TensorObject>::copy_of(const_cast<TensorObject*>(tensor)));
  }
  const ir::Meaning meaning = op.define(site);
  if (std::holds_alternative<ir::View>(meaning)) return make_view(nullptr, tensors.at(0), *dims);
  const auto* func = std::get_if<tir::PrimFuncRef>(&meaning);
  if (func == nullptr || !(*func)->scalars.empty()) return {};
  tensors.push_back(make_tensor(nullptr, info->dtype, *dims));
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::byte*> data;
  for (const auto& tensor : tensors) {
    shapes.emplace_back(tensor->dims().begin(), tensor->dims().end());
    data.push_back(tensor->data);
  }
  const tir::Interpreter interpreter(*func, shapes, {});
  const int64_t scratch_bytes[] = {static_cast<int64_t>(interpreter.scratch_bytes())};
  const auto scratch = make_tensor(nullptr, DType::UInt8, scratch_bytes);
  if (interpreter.run(data, {}, scratch->data, {}).failed) return {};
  return std::move(tensors.back());
}

}  // namespace

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
  const ir::CallSite site(*op, exprs, infos, attrs, {});
  StructInfo info = op->infer(site);
  if (auto value = folded(*op, args, site, info)) return constant(std::move(value));
  const bool idle = std::ranges::any_of(exprs, [this](const ir::Expr& e) { return idle_.contains(e); }) &&
                    op->effect(site) == ir::Effect::Total;
  Typed result = bind(std::make_shared<ir::Call>(std::make_shared<ir::OpExpr>(op, span_), std::move(exprs),
                                                 std::move(attrs), std::vector<StructInfo>{}, span_),
                      std::move(info));
  if (idle) idle_.insert(result.expr);
  return idle ? result : with_short_dims(result);
}

namespace {

void note_variables(const ir::Expr& e, std::unordered_set<const void*>& seen) {
  if (e->kind == ir::ExprKind::Var) seen.insert(e.get());
  ir::for_each_child(e, [&](const ir::Expr& child) { note_variables(child, seen); });
}

}  // namespace

void GraphBuilder::drop_idle(std::vector<ir::Binding>& bindings, std::span<const Typed> results) const {
  std::unordered_set<const void*> used;
  for (const auto& result : results) note_variables(result.expr, used);
  std::vector<ir::Binding> kept;
  kept.reserve(bindings.size());
  for (auto binding = bindings.rbegin(); binding != bindings.rend(); ++binding) {
    if (idle_.contains(binding->var) && !used.contains(binding->var.get())) continue;
    note_variables(binding->value, used);
    kept.push_back(std::move(*binding));
  }
  std::ranges::reverse(kept);
  bindings = std::move(kept);
}

std::vector<ir::Binding> GraphBuilder::take(std::span<const Typed> results) {
  drop_idle(bindings_, results);
  return std::move(bindings_);
}

Typed GraphBuilder::call_tuple(std::string_view name, std::span<const Typed> fields, ir::Attrs attrs) {
  return call(name, {tuple(fields)}, std::move(attrs));
}

Typed GraphBuilder::builtin(std::string_view name, std::span<const Typed> args, StructInfo info) {
  std::vector<ir::Expr> exprs;
  for (const auto& arg : args) exprs.push_back(arg.expr);
  // Only the rank is stated: dimensions are bound by the check that follows.
  StructInfo stated =
      info->kind == InfoKind::Tensor && info->rank && *info->rank > 0 ? tensor_info(info->dtype, *info->rank) : info;
  if (info->kind == InfoKind::Shape && info->rank) stated = shape_info(*info->rank);
  const Typed result =
      bind(std::make_shared<ir::Call>(std::make_shared<ir::OpExpr>(ops::find("call_builtin"), span_), std::move(exprs),
                                      ir::Attrs{{"name", std::string(name)}}, std::vector{stated}, span_),
           stated);
  return match(result, info);
}

Typed GraphBuilder::with_short_dims(const Typed& x) {
  if (!x.is_tensor() || !x.info->dims) return x;
  Dims dims = *x.info->dims;
  bool found = false;
  for (PrimExpr& dim : dims)
    if (dim.nodes() > kMaxDimNodes) {
      dim = make_sym_var("d");
      found = true;
    }
  return found ? match(x, tensor_info(x.dtype(), std::move(dims))) : x;
}

Typed GraphBuilder::match(const Typed& x, const StructInfo& info) {
  StructInfo wanted = info;
  const bool shaped = info->kind == InfoKind::Tensor || info->kind == InfoKind::Shape;
  if (shaped && info->rank && !info->dims) {
    Dims dims;
    for (uint32_t d = 0; d < *info->rank; ++d) dims.emplace_back(make_sym_var("d"));
    wanted = info->kind == InfoKind::Tensor ? tensor_info(info->dtype, std::move(dims)) : shape_info(std::move(dims));
  }
  if (wanted->kind == InfoKind::Object || same_info(wanted, x.info)) return x;
  const auto var = std::make_shared<ir::Var>(name_hint_, nullptr, false, span_);
  bindings_.push_back({var, x.expr, wanted, span_});
  return {var, wanted, x.values, x.element};
}

Typed GraphBuilder::field(const Typed& tuple, uint32_t index) {
  return bind(std::make_shared<ir::TupleGetItem>(tuple.expr, index, span_), tuple.info->fields.at(index));
}

Typed GraphBuilder::tuple(std::span<const Typed> fields) {
  std::vector<ir::Expr> exprs;
  std::vector<StructInfo> infos;
  for (const auto& field : fields) {
    exprs.push_back(field.expr);
    infos.push_back(field.info);
  }
  return {std::make_shared<ir::Tuple>(std::move(exprs), span_), tuple_info(std::move(infos))};
}

Typed GraphBuilder::constant(Ref<TensorObject> data) {
  Dims dims(data->dims().begin(), data->dims().end());
  StructInfo info = tensor_info(data->dtype, std::move(dims));
  return {std::make_shared<ir::Constant>(std::move(data), false, span_), std::move(info)};
}

Typed GraphBuilder::scalar(DType dtype, double value) {
  auto data = make_tensor(nullptr, dtype, {});
  with_element(dtype, [&]<typename T>() { store_element<T>(data->data, convert<T>(value)); });
  return constant(std::move(data));
}

Typed GraphBuilder::integers(std::span<const int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  auto data = make_tensor(nullptr, DType::Int64, {&count, 1});
  std::copy(values.begin(), values.end(), data->elements<int64_t>());
  return constant(std::move(data));
}

Typed GraphBuilder::text(std::string value) {
  return {std::make_shared<ir::String>(std::move(value), span_), object_info()};
}

Typed GraphBuilder::prim(int64_t value) { return prim(PrimExpr(value)); }

Typed GraphBuilder::prim(const PrimExpr& value) {
  return {std::make_shared<ir::PrimValue>(value, span_), prim_info(DType::Int64, value)};
}

Typed GraphBuilder::shape(Dims dims) {
  StructInfo info = shape_info(dims);
  return {std::make_shared<ir::Shape>(std::move(dims), span_), std::move(info)};
}

Typed GraphBuilder::none() { return {std::make_shared<ir::NullValue>(span_), object_info()}; }

Typed GraphBuilder::tensor_of(Dims values, size_t rank, DType dtype) {
  bool constant_values = true;
  for (auto& value : values) {
    value = simplify(value);
    constant_values = constant_values && value.as_const();
  }
  if (constant_values) {
    const auto count = static_cast<int64_t>(values.size());
    auto data = make_tensor(nullptr, dtype, std::span(&count, rank));
    with_element(dtype, [&]<typename T>() {
      for (size_t i = 0; i < values.size(); ++i)
        store_element<T>(data->data + i * sizeof(T), convert<T>(*values[i].as_const()));
    });
    return constant(std::move(data));
  }
  // Shapes hold no negative numbers: what may be one is moved there and back.
  constexpr int64_t kFar = int64_t{1} << 40;
  Dims moved = values;
  std::vector<int64_t> back(values.size(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (prove_less_equal(0, values[i]) == Proof::Yes) continue;
    back[i] = values[i].as_const().value_or(-kFar);
    moved[i] = simplify(values[i] - back[i]);
  }
  const bool moves = std::ranges::any_of(back, [](int64_t by) { return by != 0; });
  Typed result = call("shape_to_tensor", {shape(moved)}, {{"dtype", moves ? DType::Int64 : dtype}});
  idle_.insert(result.expr);
  if (moves) result = cast(call("add", {result, integers(back)}), dtype);
  if (rank == 0) result = reshape(result, {});
  result.values = std::move(values);
  return result;
}

Typed GraphBuilder::list(const Typed& x) {
  if (x.is_tensor() && x.dtype() != DType::None && !is_integer(x.dtype()))
    fail(ErrorCode::TypeError, "an operand is {}, integers are wanted", to_text(x.info));
  if (!x.values || x.constant() != nullptr) return x;
  if (x.values->size() == 1) return prim(x.values->front());
  const bool natural =
      std::ranges::all_of(*x.values, [](const PrimExpr& value) { return prove_less_equal(0, value) == Proof::Yes; });
  return natural ? shape(*x.values) : x;
}

Typed GraphBuilder::cast(const Typed& x, DType dtype) {
  return x.dtype() == dtype ? x : call("cast", {x}, {{"dtype", dtype}});
}

Typed GraphBuilder::reshape(const Typed& x, Dims dims) {
  // A dimension of 0 is meant here, never "as before".
  const bool empty = std::ranges::any_of(dims, [](const PrimExpr& dim) { return dim.is_const(0); });
  return call("reshape", {x, shape(std::move(dims))}, empty ? ir::Attrs{{"allowzero", true}} : ir::Attrs{});
}

Typed GraphBuilder::transpose(const Typed& x, std::vector<int64_t> axes) {
  return call("transpose", {x}, {{"axes", std::move(axes)}});
}

Typed GraphBuilder::unsqueeze(const Typed& x, int64_t axis) { return call("expand_dims", {x}, {{"axis", axis}}); }

Typed GraphBuilder::squeeze(const Typed& x, int64_t axis) {
  return call("squeeze", {x}, {{"axis", std::vector<int64_t>{axis}}});
}

Typed GraphBuilder::part(const Typed& x, int64_t axis, int64_t begin, int64_t end) {
  return call("strided_slice", {x},
              {{"begin", std::vector{begin}}, {"end", std::vector{end}}, {"axes", std::vector{axis}}});
}

Typed GraphBuilder::bind(ir::Expr value, StructInfo info) {
  const auto var = std::make_shared<ir::Var>(name_hint_, nullptr, false, span_);
  bindings_.push_back({var, std::move(value), nullptr, span_});
  return {var, std::move(info)};
}

}  // namespace ingot::onnx_import
