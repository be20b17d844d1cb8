#include "runtime/object/value.h"

namespace ingot {

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::None:
      return "none";
    case Kind::Scalar:
      return "scalar tensor";
    case Kind::Prim:
      return "prim value";
    case Kind::DType:
      return "dtype";
    case Kind::Tensor:
      return "tensor";
    case Kind::Tuple:
      return "tuple";
    case Kind::Shape:
      return "shape";
    case Kind::Closure:
      return "closure";
    case Kind::PackedFunc:
      return "PackedFunc";
    case Kind::String:
      return "string";
    case Kind::Object:
      return "opaque object";
  }
  return "unknown kind";
}

}  // namespace ingot
