#include "runtime/tir/func_shape.h"

#include <algorithm>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/tir/walk.h"

namespace ingot::tir {
namespace {

void require_dim(const PrimFunc& func, size_t buffer, size_t d, int64_t dim, int64_t expected) {
  if (dim == expected && dim >= 0) return;
  const PrimExpr& stated = func.buffers[buffer].dims[d];
  fail(ErrorCode::ShapeMismatch, "{}: dimension {} of {} is {}, expected {}{}", func.name, d, func.buffers[buffer].name,
       dim, stated.as_const() ? "" : to_text(stated) + " = ", expected);
}

// Variables from the dimensions where they stand alone, then the rest compared.
Values bind_dims(const PrimFunc& func, std::span<const std::vector<int64_t>> dims) {
  if (dims.size() != func.params)
    fail(ErrorCode::ShapeMismatch, "{}: {} buffers are given, the function has {}", func.name, dims.size(),
         func.params);
  Values values;
  for (size_t i = 0; i < func.params; ++i) {
    const Buffer& buffer = func.buffers[i];
    if (dims[i].size() != buffer.dims.size())
      fail(ErrorCode::ShapeMismatch, "{}: {} has {} dimensions, expected {}", func.name, buffer.name, dims[i].size(),
           buffer.dims.size());
    for (size_t d = 0; d < dims[i].size(); ++d)
      if (buffer.dims[d].op() == PrimOp::Var) values.try_emplace(buffer.dims[d].var().get(), dims[i][d]);
  }
  for (size_t i = 0; i < func.params; ++i) {
    const Buffer& buffer = func.buffers[i];
    for (size_t d = 0; d < dims[i].size(); ++d) {
      bool known = true;
      for_each_var(buffer.dims[d], [&](const SymVar& var) { known &= values.contains(var.get()); });
      const int64_t expected = known ? evaluate(buffer.dims[d], lookup(values)) : dims[i][d];
      require_dim(func, i, d, dims[i][d], expected);
    }
  }
  return values;
}

// " where n = 3, m = 2"
std::string values_text(const PrimExpr& expr, const Bindings& known) {
  std::string text;
  std::vector<SymVar> named;
  for_each_var(expr, [&](const SymVar& var) {
    const auto value = known(var);
    if (!value || std::ranges::find(named, var) != named.end()) return;
    text += fmt::format("{}{} = {}", named.empty() ? " where " : ", ", var->name, *value);
    named.push_back(var);
  });
  return text;
}

size_t checked_bytes(const PrimFunc& func, const Buffer& buffer, const std::vector<int64_t>& dims,
                     const Bindings& known) {
  std::optional<size_t> bytes = dtype_bytes(buffer.dtype);
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t dim = dims[d];
    if (const PrimExpr& expr = buffer.dims[d]; dim < 0 && expr.op() == PrimOp::Select)
      fail(ErrorCode::ShapeMismatch, "{}: {}: {} does not hold{}", func.name, buffer.name, to_text(expr.operands()[0]),
           values_text(expr.operands()[0], known));
    if (dim < 0) fail(ErrorCode::ShapeMismatch, "{}: {} has the dimension {}", func.name, buffer.name, dim);
    if (dim == 0) return 0;
    if (bytes) bytes = checked_mul(*bytes, static_cast<size_t>(dim));
  }
  if (!bytes || *bytes > PTRDIFF_MAX)
    fail(ErrorCode::ShapeMismatch, "{}: the size of {} overflows", func.name, buffer.name);
  return *bytes;
}

}  // namespace

Bindings lookup(const Values& values) {
  return [&values](const SymVar& var) -> std::optional<int64_t> {
    const auto found = values.find(var.get());
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

bool needs_scalars(const PrimFunc& func) {
  bool found = false;
  const auto look = [&](const PrimExpr& size) {
    for_each_var(size, [&](const SymVar& var) {
      found |= std::ranges::any_of(func.scalars, [&](const Scalar& scalar) { return scalar.var->index == var; });
    });
  };
  for (const Buffer& buffer : func.buffers) std::ranges::for_each(buffer.dims, look);
  for_each_stmt(func.body, [&](const StmtNode& stmt) {
    const auto* loop = std::get_if<For>(&stmt.node);
    if (loop == nullptr) return;
    look(loop->extent);
    found |= loop->kind == LoopKind::Reduce;
  });
  return found;
}

FuncShape shape_of(const PrimFunc& func, std::span<const std::vector<int64_t>> dims, std::span<const int64_t> scalars) {
  FuncShape shape;
  shape.values = bind_dims(func, dims);
  if (!scalars.empty() && scalars.size() != func.scalars.size())
    fail(ErrorCode::InvalidArgument, "{}: {} scalars are given, the function has {}", func.name, scalars.size(),
         func.scalars.size());
  for (size_t i = 0; i < func.scalars.size(); ++i) {
    std::optional<int64_t> value;
    if (const SymVar& index = func.scalars[i].var->index) {
      const auto found = shape.values.find(index.get());
      if (found != shape.values.end()) value = found->second;
      if (!value && !scalars.empty()) value = scalars[i];
      if (value) shape.values.try_emplace(index.get(), *value);
    }
    shape.scalars.push_back(value);
  }
  const Bindings known = lookup(shape.values);
  for (size_t id = 0; id < func.buffers.size(); ++id) {
    NestBuffer buffer{func.buffers[id].dtype, {}};
    for (size_t d = 0; d < func.buffers[id].dims.size(); ++d) {
      const PrimExpr& dim = func.buffers[id].dims[d];
      bool constant = true;
      for_each_var(dim, [&](const SymVar& var) { constant &= shape.values.contains(var.get()); });
      if (!constant)
        fail(ErrorCode::InvalidArgument, "{}: the size of {} needs the values of scalars", func.name,
             func.buffers[id].name);
      buffer.dims.push_back(evaluate(dim, known));
      // Those that scalars tell were not compared before.
      if (id < func.params) require_dim(func, id, d, dims[id][d], buffer.dims.back());
    }
    buffer.bytes = checked_bytes(func, func.buffers[id], buffer.dims, known);
    shape.buffers.push_back(std::move(buffer));
  }
  return shape;
}

}  // namespace ingot::tir
