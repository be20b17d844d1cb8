#include "runtime/tensor/value_text.h"

#include <vector>

#include <fmt/format.h>

#include "runtime/object/objects.h"
#include "runtime/tensor/element_text.h"
#include "runtime/tensor/tensor.h"
#include "runtime/tensor/tensor_text.h"

namespace ingot {
namespace {

std::string prim_text(const Slot& slot) {
  if (slot.dtype == DType::Bool) return slot.bits != 0 ? "prim(true)" : "prim(false)";
  std::string text = "prim(";
  append_element(text, slot.dtype, slot.payload());
  return text + ')';
}

std::string shape_value_text(const ShapeObject& shape) {
  std::string text = "shape(";
  for (size_t i = 0; i < shape.rank; ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", shape.dims()[i]);
  return text + ')';
}

// Everything but tuples.
void append_leaf(std::string& text, const Slot& slot, bool nested, size_t limit) {
  switch (slot.kind) {
    case Kind::Scalar:
      text += tensor_type_text(slot.dtype, {});
      text += '=';
      append_element(text, slot.dtype, slot.payload());
      return;
    case Kind::Prim:
      text += prim_text(slot);
      return;
    case Kind::DType:
      text += fmt::format("dtype({})", dtype_name(static_cast<DType>(slot.as<uint8_t>())));
      return;
    case Kind::Tensor:
      text += tensor_text(*static_cast<const TensorObject*>(slot.object), limit);
      return;
    case Kind::Shape:
      text += shape_value_text(*static_cast<const ShapeObject*>(slot.object));
      return;
    case Kind::String: {
      const auto string = static_cast<const StringObject*>(slot.object)->text();
      text += nested ? quoted(string) : std::string(string);
      return;
    }
    case Kind::None:
      text += "none";
      return;
    case Kind::Tuple:
    case Kind::Closure:
    case Kind::PackedFunc:
    case Kind::Object:
      text += fmt::format("<{}>", kind_name(slot.kind));
      return;
  }
}

}  // namespace

std::string value_text(const Slot& value, size_t limit) {
  struct Open {
    std::span<const Slot> fields;
    size_t next;
  };
  std::string text;
  std::vector<Open> open;
  const auto append = [&](const Slot& slot) {
    if (slot.kind != Kind::Tuple) return append_leaf(text, slot, !open.empty(), limit);
    text += '(';
    open.push_back({static_cast<const TupleObject*>(slot.object)->fields(), 0});
  };
  append(value);
  while (!open.empty()) {
    Open& tuple = open.back();
    if (tuple.next == tuple.fields.size()) {
      text += tuple.fields.size() == 1 ? ",)" : ")";
      open.pop_back();
      continue;
    }
    if (tuple.next > 0) text += ", ";
    append(tuple.fields[tuple.next++]);
  }
  return text;
}

}  // namespace ingot
