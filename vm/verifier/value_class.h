#pragma once
#include <cstdint>
#include <string>

#include "runtime/object/object.h"
#include "runtime/symbolic/struct_info.h"

namespace ingot::vm {

// What is known of a value without looking inside: a set of kinds, and the dtype of a Scalar, Prim or Tensor.
struct ValueClass {
  static constexpr uint16_t kAny = (1u << (static_cast<unsigned>(Kind::Object) + 1)) - 1;

  uint16_t kinds = kAny;      // bit k: may be of Kind k
  DType dtype = DType::None;  // None: not known, or there is none

  static constexpr uint16_t bit(Kind kind) { return static_cast<uint16_t>(1u << static_cast<unsigned>(kind)); }
  static constexpr ValueClass of(Kind kind, DType dtype = DType::None) { return {bit(kind), dtype}; }

  constexpr bool may_be(Kind kind) const { return (kinds & bit(kind)) != 0; }
  constexpr bool is(Kind kind) const { return kinds == bit(kind); }
  constexpr bool is(Kind kind, DType wanted) const { return is(kind) && dtype == wanted; }
  // Every value of this class is of that one.
  constexpr bool within(ValueClass wider) const {
    return (kinds & ~wider.kinds) == 0 && (wider.dtype == DType::None || wider.dtype == dtype);
  }
  // Values without an object: never counted, never borrowed.
  constexpr bool is_immediate() const {
    return (kinds & ~(bit(Kind::None) | bit(Kind::Scalar) | bit(Kind::Prim) | bit(Kind::DType))) == 0;
  }
  friend constexpr bool operator==(ValueClass, ValueClass) = default;
};

// The class of all values that the StructInfo describes: rank-0 tensors are Scalars (but for dtype string), tensors of
// unknown rank may be either. Null stands for Object.
ValueClass class_of(const StructInfo& info);
// Is every value of class_of(info) described by it, without a look inside?
bool is_class(const StructInfo& info);
// "Scalar float32", "Closure or PackedFunc", "any value"
std::string to_text(ValueClass value_class);

}  // namespace ingot::vm
