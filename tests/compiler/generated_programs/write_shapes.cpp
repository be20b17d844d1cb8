#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tests/compiler/generated_programs/writer.h"

namespace ingot::generated {
namespace {

// What dimensions are at most: 4, and twice that for those that are computed.
constexpr double kMostTerms = 8;

// "3" for 2; empty for what is no number.
std::string one_more(const std::string& dim) {
  return dim.size() == 1 && dim[0] >= '0' && dim[0] <= '9' ? std::to_string(dim[0] - '0' + 1) : "";
}

}  // namespace

Piece Writer::reduced(const Type& type) {
  if (type.dims.size() > 2) return {};
  const bool keep = std::ranges::find(type.dims, "1") != type.dims.end() && choices_.chance(50);
  Type from = type;
  size_t axis = choices_.pick(type.dims.size() + 1);
  if (keep) {
    axis = static_cast<size_t>(std::ranges::find(type.dims, "1") - type.dims.begin());
    from.dims[axis] = pick_dim();
  } else {
    from.dims.insert(from.dims.begin() + static_cast<ptrdiff_t>(axis), pick_dim());
  }
  const std::string attributes = fmt::format("axis={}{}", axis, keep ? ", keepdims=True" : "");
  if (type.dtype == DType::Int64 && choices_.chance(40)) {
    from.dtype = pick_dtype();
    if (from.dtype == DType::Bool) from.dtype = DType::Int8;
    return {fmt::format("{}({}, {})", choices_.chance(50) ? "argmax" : "argmin", operand(from).text, attributes), {}};
  }
  if (type.dtype == DType::Bool)
    return {fmt::format("{}({}, {})", choices_.chance(50) ? "all" : "any", operand(from).text, attributes), {}};
  if (is_float(type.dtype)) {
    const size_t which = choices_.pick(4);
    if (!type.exact && which == 3) {
      from.exact = true;
      return {fmt::format("mean({}, {})", operand(from).text, attributes), operand_bounds(type.dtype)};
    }
    const Piece x = operand(from);
    // Without elements these are infinite.
    if (which == 1 || which == 2)
      return {fmt::format("clip({}({}, {}), a_min=-4.0, a_max=4.0)", which == 1 ? "max" : "min", x.text, attributes),
              {4, x.bounds.fraction}};
    return {fmt::format("sum({}, {})", x.text, attributes), {x.bounds.most * kMostTerms, x.bounds.fraction}};
  }
  static constexpr const char* kInteger[] = {"sum", "prod", "max", "min"};
  return {fmt::format("{}({}, {})", kInteger[choices_.pick(4)], operand(from).text, attributes), {}};
}

Piece Writer::rearranged(const Type& type) {
  if (type.dims.empty()) return {};
  Type from = type;
  const size_t rank = type.dims.size();
  const size_t axis = choices_.pick(rank);
  switch (choices_.pick(8)) {
    case 0: {
      std::vector<std::string> axes;
      for (size_t i = 0; i < rank; ++i) axes.push_back(std::to_string((i + axis) % rank));
      for (size_t i = 0; i < rank; ++i) from.dims[(i + axis) % rank] = type.dims[i];
      const Piece x = tensor(from);
      return {fmt::format("transpose({}, axes={})", x.text, tuple_text(axes)), x.bounds};
    }
    case 1: {
      std::ranges::rotate(from.dims, from.dims.begin() + static_cast<ptrdiff_t>(axis));
      const Piece x = tensor(from);
      std::vector<std::string> dims = type.dims;
      if (choices_.chance(20)) dims[choices_.pick(rank)] = "-1";
      return {fmt::format("reshape({}, shape({}))", x.text, join(dims)), x.bounds};
    }
    case 2: {
      from.dims.erase(from.dims.begin() + static_cast<ptrdiff_t>(axis));
      if (type.dims[axis] == "1") {
        const Piece x = tensor(from);
        return {fmt::format("expand_dims({}, axis={})", x.text, axis), x.bounds};
      }
      from = broadcastable(type);
      const Piece x = tensor(from);
      return {fmt::format("broadcast_to({}, shape({}))", x.text, join(type.dims)), x.bounds};
    }
    case 3: {
      from.dims.insert(from.dims.begin() + static_cast<ptrdiff_t>(axis), "1");
      const Piece x = tensor(from);
      return {fmt::format("squeeze({}, axis=({},))", x.text, axis), x.bounds};
    }
    case 4: {
      const std::string& dim = type.dims[axis];
      if (one_more(dim).empty() || dim == "0" || dim == "1") return {};
      from.dims[axis] = std::to_string(dim[0] - '1');
      const Piece x = operand(from);
      from.dims[axis] = std::string("1");
      const Piece y = operand(from);
      return {fmt::format("concat({}, {}, axis={})", x.text, y.text, axis), operand_bounds(type.dtype)};
    }
    case 5: {
      if (one_more(type.dims[axis]).empty()) return {};
      from.dims[axis] = one_more(type.dims[axis]);
      const Piece x = tensor(from);
      const auto begin = choices_.pick(2);
      return {fmt::format("strided_slice({}, begin=({},), end=({},), axes=({},))", x.text, begin,
                          begin + static_cast<size_t>(type.dims[axis][0] - '0'), axis),
              x.bounds};
    }
    case 6: {
      const Piece x = tensor(from);
      return {fmt::format("flip({}, axis={})", x.text, axis), x.bounds};
    }
    default: {
      if (type.dtype == DType::Bool) return {};
      const Piece x = operand(from);
      return {fmt::format("cumsum({}, axis={})", x.text, axis), {x.bounds.most * kMostTerms, x.bounds.fraction}};
    }
  }
}

Piece Writer::product(const Type& type) {
  if (type.dims.size() < 2 || !is_float(type.dtype) || !type.exact) return {};
  const std::string inner = pick_dim();
  Type left = type, right = type;
  left.dims.back() = inner;
  right.dims[right.dims.size() - 2] = inner;
  if (right.dims.size() > 2 && choices_.chance(50)) right.dims.erase(right.dims.begin());
  const Piece x = operand(left);
  const Piece y = operand(right);
  return {fmt::format("matmul({}, {})", x.text, y.text),
          {x.bounds.most * y.bounds.most * kMostTerms, x.bounds.fraction + y.bounds.fraction}};
}

Piece Writer::layer(const Type& type) {
  Piece x = product(type);
  if (x.text.empty()) return x;
  Type bias = type;
  bias.dims.erase(bias.dims.begin(), bias.dims.end() - 1);
  const Piece y = operand(bias);
  x.bounds = {x.bounds.most + y.bounds.most, std::max(x.bounds.fraction, y.bounds.fraction)};
  x.text = fmt::format("({} + {})", x.text, y.text);
  if (!representable(x.bounds, type.dtype)) x = fit(std::move(x), type);
  if (choices_.chance(60)) x.text = fmt::format("relu({})", x.text);
  return x;
}

Piece Writer::chosen(const Type& type) {
  if (type.dims.size() > 2) return {};
  Type from = type;
  const size_t axis = choices_.pick(type.dims.size() + 1);
  from.dims.insert(from.dims.begin() + static_cast<ptrdiff_t>(axis), pick_dim());
  const Piece x = tensor(from);
  // Fails where the index is not below the dimension and the mode says so.
  const std::string index =
      choices_.chance(30) ? operand(tensor_type(DType::Int32)).text : std::to_string(choices_.pick(3)) + "i64";
  const std::string_view mode = choices_.chance(50) ? ", mode=\"raise\"" : "";
  return {fmt::format("take({}, {}, axis={}{})", x.text, index, axis, mode), x.bounds};
}

}  // namespace ingot::generated
