#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ingot {

// How numbers between the elements of a tensor are made, in the words of ONNX's operator Resize.
struct Interpolation {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;  // the coefficient of cubic polynomials
  double outside = 0;    // what is outside of the region
  bool exclude_outside = false, antialias = false;
};

// One axis of `in` elements brought to `out`; `scale` is their ratio before it was rounded to elements.
struct InterpolatedAxis {
  int64_t in, out;
  double scale;
  double begin = 0, end = 1;  // the region of tf_crop_and_resize
};

// Which elements make up one of the result, and with which weights.
struct Mix {
  bool outside = false;
  std::vector<std::pair<int64_t, double>> parts;
};

// What element `i` of the result is made of. InvalidArgument for words that the operator does not know.
Mix mix_of(const Interpolation& how, const InterpolatedAxis& axis, int64_t i);

}  // namespace ingot
