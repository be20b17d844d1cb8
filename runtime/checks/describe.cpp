#include "runtime/checks/describe.h"

#include <fmt/format.h>

#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"

namespace ingot {

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
    case Kind::Tensor: {
      const auto& tensor = *static_cast<const TensorObject*>(value.object);
      return fmt::format("a tensor {} of {}", shape_text(tensor.dims()), dtype_name(tensor.dtype));
    }
    case Kind::Tuple:
      return fmt::format("a tuple of {}", static_cast<const TupleObject*>(value.object)->size);
    case Kind::Shape:
      return fmt::format("the shape {}", shape_text(static_cast<const ShapeObject*>(value.object)->dims()));
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

}  // namespace ingot
