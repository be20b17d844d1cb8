#include "runtime/base/arithmetic.h"
#include "vm/builtins/builtins.h"

// Elements told by their coordinates, in shapes that are known only as the program runs.
namespace ingot::vm::builtins {
namespace {

// Coordinates [n, d] of int32 or int64, as they stand; of rank 1 one number each, of rank 0 one number.
struct Coordinates {
  Ref<TensorObject> places;
  int64_t count, depth;

  explicit Coordinates(const Args& args)
      : places(args.tensor(0)),
        count(places->rank == 0 ? 1 : places->dims()[0]),
        depth(places->rank < 2 ? 1 : places->dims()[1]) {
    if (!is_integer(places->dtype)) args.fail_kind(0, "a tensor of integers");
    if (places->rank > 2)
      args.fail(ErrorCode::ShapeMismatch, "the coordinates have rank {}, the greatest is 2", places->rank);
  }
  int64_t at(int64_t row, int64_t k) const { return get_integer(*places, static_cast<size_t>(row * depth + k)); }
  // The coordinate within a dimension; a negative one counts from the end.
  int64_t within(const Args& args, int64_t row, int64_t k, int64_t size) const {
    const int64_t given = at(row, k), place = given < 0 ? given + size : given;
    if (place < 0 || place >= size)
      args.fail(ErrorCode::IndexOutOfRange, "coordinate {} of element {} is {}, the dimension has {}", k, row, given,
                size);
    return place;
  }
};

Dims dims_at(const Args& args, size_t i) {
  Dims dims = args.integers(i);
  for (const int64_t dim : dims)
    if (dim < 0) args.fail(ErrorCode::ShapeMismatch, "the shape has dimension {}", dim);
  return dims;
}

// The values, one for each of `count` coordinates or one for all.
Ref<TensorObject> values_at(const Args& args, size_t i, int64_t count) {
  auto values = args.tensor(i);
  if (values->rank > 1 || (values->rank == 1 && values->dims()[0] != count))
    args.fail(ErrorCode::ShapeMismatch, "{} coordinates and values of shape {} do not fit", count,
              shape_text(values->dims()));
  return values;
}

Ref<TensorObject> one_element(const Args& args, size_t i, DType dtype) {
  auto value = args.tensor(i, dtype);
  if (count_of(*value) != 1)
    args.fail(ErrorCode::ShapeMismatch, "argument {} has shape {}, one element is wanted", i,
              shape_text(value->dims()));
  return value;
}

}  // namespace

Value sparse_to_dense(const Args& args) {
  const Coordinates coordinates(args);
  const auto values = values_at(args, 1, coordinates.count);
  const Dims dims = dims_at(args, 3);
  if (coordinates.depth != static_cast<int64_t>(dims.size()))
    args.fail(ErrorCode::ShapeMismatch, "the coordinates have {} numbers each, the shape {}", coordinates.depth,
              dims.size());
  const Dims strides = strides_of(dims);
  auto result = args.make(values->dtype, dims);
  if (args.has(2)) {
    const auto fill = one_element(args, 2, values->dtype);
    gather(*result, *fill, [](size_t) { return 0; });
  } else {
    clear(*result);
  }
  for (int64_t row = 0; row < coordinates.count; ++row) {
    int64_t place = 0;
    for (int64_t k = 0; k < coordinates.depth; ++k) {
      const auto d = static_cast<size_t>(k);
      place += coordinates.within(args, row, k, dims[d]) * strides[d];
    }
    copy_element(*result, static_cast<size_t>(place), *values, values->rank == 0 ? 0 : static_cast<size_t>(row));
  }
  return Value(std::move(result));
}

Value sparse_fill_empty_rows(const Args& args) {
  const Coordinates coordinates(args);
  const auto values = values_at(args, 1, coordinates.count);
  const Dims shape = dims_at(args, 2);
  const auto fill = one_element(args, 3, values->dtype);
  if (shape.empty() || coordinates.places->rank != 2 || coordinates.depth != static_cast<int64_t>(shape.size()))
    args.fail(ErrorCode::ShapeMismatch, "coordinates of shape {} do not fit a tensor of {} dimensions",
              shape_text(coordinates.places->dims()), shape.size());
  const int64_t rows[] = {shape[0]};
  auto empty = args.make(DType::Int64, rows);
  auto* is_empty = empty->elements<int64_t>();
  std::fill_n(is_empty, shape[0], 1);
  for (int64_t i = 0; i < coordinates.count; ++i) {
    const int64_t row = coordinates.at(i, 0);
    if (row < 0 || row >= shape[0])
      args.fail(ErrorCode::IndexOutOfRange, "element {} lies in row {}, there are {}", i, row, shape[0]);
    if (i > 0 && row < coordinates.at(i - 1, 0))
      args.fail(ErrorCode::InvalidArgument, "rows must be in order, element {} of row {} follows one of row {}", i, row,
                coordinates.at(i - 1, 0));
    is_empty[row] = 0;
  }
  const int64_t added = std::count(is_empty, is_empty + shape[0], 1);
  const int64_t place_dims[] = {coordinates.count + added, coordinates.depth};
  auto places = args.make(DType::Int64, place_dims);
  auto filled = args.make(values->dtype, std::span(place_dims, 1));
  auto* out = places->elements<int64_t>();
  size_t at = 0;
  int64_t next = 0;
  for (int64_t row = 0; row < shape[0]; ++row) {
    if (is_empty[row] != 0) {
      *out++ = row;
      out = std::fill_n(out, coordinates.depth - 1, 0);
      copy_element(*filled, at++, *fill, 0);
    }
    for (; next < coordinates.count && coordinates.at(next, 0) == row; ++next) {
      for (int64_t k = 0; k < coordinates.depth; ++k) *out++ = coordinates.at(next, k);
      copy_element(*filled, at++, *values, values->rank == 0 ? 0 : static_cast<size_t>(next));
    }
  }
  return tuple_value(args.pool(), {Value(std::move(places)), Value(std::move(filled)), Value(std::move(empty))});
}

Value one_hot(const Args& args) {
  const auto indices = args.tensor(0);
  if (!is_integer(indices->dtype)) args.fail_kind(0, "a tensor of integers");
  const auto on = args.tensor(1);
  one_element(args, 1, on->dtype);
  const auto off = one_element(args, 2, on->dtype);
  const Dims depth = args.integers(3);
  if (depth.size() != 1 || depth[0] < 0)
    args.fail(ErrorCode::ShapeMismatch, "the depth must be one number of 0 or more");
  const size_t axis = args.axis(4, indices->rank + 1);
  Dims dims = dims_of(*indices);
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), depth[0]);
  auto result = args.make(on->dtype, dims);
  const int64_t inner = product(indices->dims().subspan(axis)), outer = product(indices->dims().first(axis));
  size_t at = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t d = 0; d < depth[0]; ++d)
      for (int64_t i = 0; i < inner; ++i)
        copy_element(*result, at++, get_integer(*indices, static_cast<size_t>(o * inner + i)) == d ? *on : *off, 0);
  return Value(std::move(result));
}

}  // namespace ingot::vm::builtins
