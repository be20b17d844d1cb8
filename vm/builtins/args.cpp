#include "vm/builtins/args.h"

#include <algorithm>
#include <numeric>

namespace ingot::vm::builtins {

const Slot& Args::operator[](size_t i) const {
  if (i >= slots_.size()) fail(ErrorCode::ArityMismatch, "argument {} is missing, {} are given", i, slots_.size());
  return slots_[i];
}

void Args::fail_kind(size_t i, std::string_view wanted) const {
  const Slot& slot = (*this)[i];
  fail(ErrorCode::TypeError, "argument {} is a {}{}{}, {} is wanted", i, kind_name(slot.kind),
       slot.kind == Kind::Scalar || slot.kind == Kind::Prim ? " of " : "",
       slot.kind == Kind::Scalar || slot.kind == Kind::Prim ? dtype_name(slot.dtype) : "", wanted);
}

Ref<TensorObject> Args::tensor(size_t i) const {
  const Slot& slot = (*this)[i];
  if (slot.kind != Kind::Tensor && slot.kind != Kind::Scalar) fail_kind(i, "a tensor");
  return to_tensor(pool_, Value::copy_of(slot));
}

Ref<TensorObject> Args::tensor(size_t i, DType dtype) const {
  auto result = tensor(i);
  if (result->dtype != dtype)
    fail(ErrorCode::TypeError, "argument {} has dtype {}, {} is wanted", i, dtype_name(result->dtype),
         dtype_name(dtype));
  return result;
}

std::vector<double> Args::numbers(size_t i) const {
  const auto x = tensor(i);
  std::vector<double> result(count_of(*x));
  for (size_t at = 0; at < result.size(); ++at) result[at] = get_number(*x, at);
  return result;
}

double Args::number(size_t i) const {
  const auto all = numbers(i);
  if (all.size() != 1) fail(ErrorCode::ShapeMismatch, "argument {} has {} elements, 1 is wanted", i, all.size());
  return all[0];
}

Dims Args::integers(size_t i) const {
  const Slot& slot = (*this)[i];
  if (slot.kind == Kind::Prim && slot.dtype != DType::Float64) return {slot.as<int64_t>()};
  if (slot.kind == Kind::Shape) {
    const auto dims = static_cast<const ShapeObject*>(slot.object)->dims();
    return {dims.begin(), dims.end()};
  }
  const auto x = tensor(i);
  if (!is_integer(x->dtype) && x->dtype != DType::Bool) fail_kind(i, "integers");
  Dims result(count_of(*x));
  for (size_t at = 0; at < result.size(); ++at) result[at] = get_integer(*x, at);
  return result;
}

int64_t Args::integer(size_t i) const {
  const Dims all = integers(i);
  if (all.size() != 1) fail(ErrorCode::ShapeMismatch, "argument {} has {} elements, 1 is wanted", i, all.size());
  return all[0];
}

std::string_view Args::text(size_t i) const {
  if ((*this)[i].kind != Kind::String) fail_kind(i, "a text");
  return static_cast<const StringObject*>(slots_[i].object)->text();
}

const TupleObject& Args::sequence(size_t i) const {
  if ((*this)[i].kind != Kind::Tuple) fail_kind(i, "a sequence");
  return *static_cast<const TupleObject*>(slots_[i].object);
}

void Args::require_rank(const TensorObject& x, size_t i, uint32_t rank) const {
  if (x.rank != rank)
    fail(ErrorCode::ShapeMismatch, "argument {} has shape {}, it must have rank {}", i, shape_text(x.dims()), rank);
}

size_t Args::normal_axis(int64_t axis, size_t rank) const {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) fail(ErrorCode::IndexOutOfRange, "axis {} is outside of rank {}", axis, rank);
  return static_cast<size_t>(axis < 0 ? axis + size : axis);
}

std::vector<size_t> Args::axes(size_t i, size_t rank) const {
  std::vector<size_t> result;
  if (!has(i)) {
    result.resize(rank);
    std::iota(result.begin(), result.end(), size_t{0});
    return result;
  }
  for (const int64_t axis : integers(i)) {
    result.push_back(normal_axis(axis, rank));
    if (std::count(result.begin(), result.end(), result.back()) > 1)
      fail(ErrorCode::InvalidArgument, "axis {} is given twice", axis);
  }
  return result;
}

Dims strides_of(std::span<const int64_t> dims) {
  Dims strides(dims.size(), 1);
  for (size_t d = dims.size(); d > 1; --d) strides[d - 2] = strides[d - 1] * dims[d - 1];
  return strides;
}

int64_t product(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

void copy_element(TensorObject& to, size_t at, const TensorObject& from, size_t index) {
  switch (dtype_bytes(to.dtype)) {
    case 1:
      to.data[at] = from.data[index];
      break;
    case 2:
      to.elements<uint16_t>()[at] = from.elements<uint16_t>()[index];
      break;
    case 4:
      to.elements<uint32_t>()[at] = from.elements<uint32_t>()[index];
      break;
    default:
      if (to.dtype == DType::String) {
        StringObject* string = from.elements<StringObject*>()[index];
        if (string != nullptr) retain(string);
        string = std::exchange(to.elements<StringObject*>()[at], string);
        if (string != nullptr) release(string);
      } else {
        to.elements<uint64_t>()[at] = from.elements<uint64_t>()[index];
      }
  }
}

void clear(TensorObject& tensor) {
  if (tensor.dtype != DType::String) std::memset(tensor.data, 0, tensor.bytes);
}

double get_number(const TensorObject& tensor, size_t at) {
  return with_element(tensor.dtype,
                      [&]<typename T>() { return convert<double>(load_element<T>(tensor.data + at * sizeof(T))); });
}

int64_t get_integer(const TensorObject& tensor, size_t at) {
  return with_element(tensor.dtype,
                      [&]<typename T>() { return convert<int64_t>(load_element<T>(tensor.data + at * sizeof(T))); });
}

void set_number(TensorObject& tensor, size_t at, double value) {
  with_element(tensor.dtype, [&]<typename T>() { store_element<T>(tensor.data + at * sizeof(T), convert<T>(value)); });
}

Value tensor_value(ObjectPool* pool, std::span<const int64_t> integers) {
  const auto count = static_cast<int64_t>(integers.size());
  auto tensor = make_tensor(pool, DType::Int64, {&count, 1});
  std::copy(integers.begin(), integers.end(), tensor->elements<int64_t>());
  return Value(std::move(tensor));
}

Value tuple_value(ObjectPool* pool, std::vector<Value> fields) { return Value(ingot::make_tuple(pool, fields)); }

}  // namespace ingot::vm::builtins
