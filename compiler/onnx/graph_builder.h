#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/op.h"

namespace ingot::onnx_import {

// An expression of the graph under construction and what is known of its value.
struct Typed {
  ir::Expr expr;
  StructInfo info;

  // The elements, where the value is a constant; null otherwise.
  const TensorObject* constant() const;
  size_t rank() const { return info->dims->size(); }
  const PrimExpr& dim(size_t i) const { return (*info->dims)[i]; }
};

// Appends calls of operators to a function body; each is bound to a variable, and its StructInfo is inferred at once,
// so that conversions may ask for ranks and dimensions.
class GraphBuilder {
 public:
  // The node that the following calls come from, for names and messages.
  void begin_node(ir::Span span, std::string name_hint);

  Typed call(std::string_view op, std::span<const Typed> args, ir::Attrs attrs = {});
  Typed call(std::string_view op, std::initializer_list<Typed> args, ir::Attrs attrs = {}) {
    return call(op, std::span(args.begin(), args.size()), std::move(attrs));
  }
  // One argument that is a tuple.
  Typed call_tuple(std::string_view op, std::span<const Typed> fields, ir::Attrs attrs = {});
  Typed field(const Typed& tuple, uint32_t index);
  Typed constant(Ref<TensorObject> data);

  std::vector<ir::Binding> take() { return std::move(bindings_); }

 private:
  Typed bind(ir::Expr value, StructInfo info);

  ir::Span span_;
  std::string name_hint_;
  std::vector<ir::Binding> bindings_;
};

}  // namespace ingot::onnx_import
