#pragma once
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"

namespace ingot::vm::builtins {

using Dims = std::vector<int64_t>;

// The arguments of one call of a builtin: registers that are read, in an arena or not, which nobody checked before.
// Accessors throw TypeError, ShapeMismatch or ArityMismatch naming the builtin and the argument.
class Args {
 public:
  Args(std::string_view name, ObjectPool* pool, std::span<const Slot> slots)
      : name_(name), pool_(pool), slots_(slots) {}

  ObjectPool* pool() const { return pool_; }
  size_t size() const { return slots_.size(); }
  // Is argument `i` given, and not none?
  bool has(size_t i) const { return i < slots_.size() && slots_[i].kind != Kind::None; }
  const Slot& operator[](size_t i) const;

  // A tensor of any rank; a scalar becomes one. The result of a builtin must not keep it: it may lie in an arena.
  Ref<TensorObject> tensor(size_t i) const;
  // The same, and of this dtype.
  Ref<TensorObject> tensor(size_t i, DType dtype) const;
  // A tensor of a float or integer dtype as numbers.
  std::vector<double> numbers(size_t i) const;
  double number(size_t i) const;
  // The elements of a tensor of int32 or int64, the dimensions of a shape, or one prim.
  Dims integers(size_t i) const;
  int64_t integer(size_t i) const;
  bool flag(size_t i) const { return integer(i) != 0; }
  std::string_view text(size_t i) const;
  const TupleObject& sequence(size_t i) const;
  // An axis argument brought into [0, rank).
  size_t axis(size_t i, size_t rank) const { return normal_axis(integer(i), rank); }
  size_t normal_axis(int64_t axis, size_t rank) const;
  // `x` is argument `i`: ShapeMismatch unless it has this rank.
  void require_rank(const TensorObject& x, size_t i, uint32_t rank) const;
  // The axes of an integer argument, none twice; all of them, in order, where it is not given.
  std::vector<size_t> axes(size_t i, size_t rank) const;

  Ref<TensorObject> make(DType dtype, std::span<const int64_t> dims) const { return make_tensor(pool_, dtype, dims); }
  template <typename... Args_>
  [[noreturn]] void fail(ErrorCode code, fmt::format_string<Args_...> format, Args_&&... args) const {
    throw Error(code, fmt::format("{}: {}", name_, fmt::format(format, std::forward<Args_>(args)...)));
  }
  [[noreturn]] void fail_kind(size_t i, std::string_view wanted) const;

 private:
  std::string_view name_;
  ObjectPool* pool_;
  std::span<const Slot> slots_;
};

inline size_t count_of(const TensorObject& tensor) { return tensor.bytes / dtype_bytes(tensor.dtype); }
inline Dims dims_of(const TensorObject& tensor) { return {tensor.dims().begin(), tensor.dims().end()}; }
// Elements between neighbours along each dimension.
Dims strides_of(std::span<const int64_t> dims);
int64_t product(std::span<const int64_t> dims);

// to[at] = from[index]; both have the same dtype. A string that was there is given up.
void copy_element(TensorObject& to, size_t at, const TensorObject& from, size_t index);
// Every element of `to` becomes from[index(position)]; `to` is fresh.
template <typename Index>
void gather(TensorObject& to, const TensorObject& from, const Index& index) {
  for (size_t at = 0, count = count_of(to); at < count; ++at)
    copy_element(to, at, from, static_cast<size_t>(index(at)));
}
// All bytes 0.
void clear(TensorObject& tensor);

// One element as a number, and back with the language's rules of cast.
double get_number(const TensorObject& tensor, size_t at);
int64_t get_integer(const TensorObject& tensor, size_t at);
void set_number(TensorObject& tensor, size_t at, double value);

// Calls `visit(index, position)` for every index of `dims` in row-major order. The index is reused.
template <typename Visit>
void for_each_index(std::span<const int64_t> dims, const Visit& visit) {
  Dims index(dims.size(), 0);
  const auto count = static_cast<size_t>(product(dims));
  for (size_t at = 0; at < count; ++at) {
    visit(std::as_const(index), at);
    for (size_t d = dims.size(); d > 0; --d) {
      if (++index[d - 1] < dims[d - 1]) break;
      index[d - 1] = 0;
    }
  }
}

Value tensor_value(ObjectPool* pool, std::span<const int64_t> integers);
Value tuple_value(ObjectPool* pool, std::vector<Value> fields);

}  // namespace ingot::vm::builtins
