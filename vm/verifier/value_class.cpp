#include "vm/verifier/value_class.h"

#include <fmt/format.h>

namespace ingot::vm {
namespace {

ValueClass class_of_tensor(const StructInfoNode& info) {
  uint16_t kinds = 0;
  const bool may_have_rank_0 = !info.rank || *info.rank == 0;
  if (may_have_rank_0 && info.dtype != DType::String) kinds |= ValueClass::bit(Kind::Scalar);
  const bool may_be_tensor = !info.rank || *info.rank > 0 || info.dtype == DType::String || info.dtype == DType::None;
  if (may_be_tensor) kinds |= ValueClass::bit(Kind::Tensor);
  return {kinds, info.dtype};
}

std::string_view enumerator(Kind kind) {
  static constexpr std::string_view kNames[] = {"None",  "Scalar",  "Prim",       "DType",  "Tensor", "Tuple",
                                                "Shape", "Closure", "PackedFunc", "String", "Object"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

ValueClass class_of(const StructInfo& info) {
  if (info == nullptr) return {};
  switch (info->kind) {
    case InfoKind::Object:
      return {};
    case InfoKind::Tensor:
      return class_of_tensor(*info);
    case InfoKind::Shape:
      return ValueClass::of(Kind::Shape);
    case InfoKind::Prim:
      return ValueClass::of(Kind::Prim, info->dtype);
    case InfoKind::Tuple:
      return ValueClass::of(Kind::Tuple);
    case InfoKind::Func:
      return {static_cast<uint16_t>(ValueClass::bit(Kind::Closure) | ValueClass::bit(Kind::PackedFunc)), DType::None};
  }
  return {};
}

bool is_class(const StructInfo& info) {
  if (info == nullptr || info->kind == InfoKind::Object) return true;
  if (info->kind == InfoKind::Prim) return info->dtype != DType::None && !info->value;
  return class_of(info).is(Kind::Scalar) && info->dtype != DType::None;
}

std::string to_text(ValueClass value_class) {
  if (value_class.kinds == ValueClass::kAny) return "any value";
  std::string text;
  for (unsigned k = 0; k <= static_cast<unsigned>(Kind::Object); ++k) {
    const auto kind = static_cast<Kind>(k);
    if (value_class.may_be(kind)) text += fmt::format("{}{}", text.empty() ? "" : " or ", enumerator(kind));
  }
  if (value_class.dtype != DType::None) text += fmt::format(" {}", dtype_name(value_class.dtype));
  return text.empty() ? "nothing" : text;
}

}  // namespace ingot::vm
