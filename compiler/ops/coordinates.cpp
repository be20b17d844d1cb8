#include "compiler/ops/coordinates.h"

namespace ingot::ops {

Coordinates coordinates_of(const ir::CallSite& call, const Operand& indices) {
  if (indices.rank() == 0)
    call.fail(ErrorCode::ShapeMismatch, "{} must have rank 1 or more, it is a scalar", indices.name);
  const auto axis = static_cast<size_t>(call.axis("axis", indices.rank()));
  const size_t last = indices.rank() - 1;
  if (axis != 0 && axis != last)
    call.fail(ErrorCode::IndexOutOfRange, "coordinates lie in the first or the last of {} dimensions, axis is {}",
              indices.rank(), axis);
  Dims places = indices.dims();
  const PrimExpr depth = places[axis];
  places.erase(places.begin() + static_cast<ptrdiff_t>(axis));
  return {axis != last, std::move(places), depth};
}

tir::Indices index_of(bool first, tir::Indices place, size_t k) {
  place.insert(first ? place.begin() : place.end(), PrimExpr(static_cast<int64_t>(k)));
  return place;
}

}  // namespace ingot::ops
