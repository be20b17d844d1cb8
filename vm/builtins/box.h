#pragma once
#include <algorithm>

namespace ingot::vm::builtins {

// A rectangle of a picture, its lesser sides first.
struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

// Two corners in any order.
inline Box box_of_corners(double y, double x, double other_y, double other_x) {
  return {std::min(y, other_y), std::min(x, other_x), std::max(y, other_y), std::max(x, other_x)};
}

// The area of both over that of either: 0 where they do not meet or have no area.
inline double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  const double both = height * width;
  const double either = a.area() + b.area() - both;
  return either <= 0 ? 0 : both / either;
}

}  // namespace ingot::vm::builtins
