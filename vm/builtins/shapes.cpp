#include <algorithm>

#include "runtime/symbolic/struct_info.h"
#include "vm/builtins/builtins.h"

// Shapes, and the same elements under other ones.
namespace ingot::vm::builtins {
namespace {

const ShapeObject& shape_at(const Args& args, size_t i) {
  if (args[i].kind != Kind::Shape) args.fail_kind(i, "a shape");
  return *static_cast<const ShapeObject*>(args[i].object);
}

// Elements of an arena must not be shared: views of them are copies.
Ref<TensorObject> lasting(const Args& args, size_t i) {
  auto x = args.tensor(i);
  return x->in_arena ? copy_tensor(args.pool(), *x) : x;
}

bool broadcasts(std::span<const int64_t> x, std::span<const int64_t> y) {
  for (size_t i = 1; i <= std::min(x.size(), y.size()); ++i) {
    const int64_t a = x[x.size() - i], b = y[y.size() - i];
    if (a != b && a != 1 && b != 1) return false;
  }
  return true;
}

}  // namespace

Value shape_of(const Args& args) {
  if (args[0].kind == Kind::Scalar) return Value(make_shape(args.pool(), {}));
  if (args[0].kind != Kind::Tensor) args.fail_kind(0, "a tensor");
  return Value(make_shape(args.pool(), static_cast<const TensorObject*>(args[0].object)->dims()));
}

Value require_relation(const Args& args) {
  const auto x = args.tensor(1), y = args.tensor(2);
  const bool is_identity = args.text(0) == "Identity";
  const bool holds = is_identity ? std::ranges::equal(x->dims(), y->dims()) : broadcasts(x->dims(), y->dims());
  const auto known = [](const TensorObject& t) {
    return to_text(tensor_info(t.dtype, std::vector<PrimExpr>(t.dims().begin(), t.dims().end())));
  };
  const bool same_dtype = !is_identity || x->dtype == y->dtype;
  if (holds && same_dtype) return {};
  ingot::fail(same_dtype ? ErrorCode::ShapeMismatch : ErrorCode::TypeError, "{} does not hold between {} and {}",
              args.text(0), known(*x), known(*y));
}

Value shape_to_tensor(const Args& args) { return tensor_value(args.pool(), shape_at(args, 0).dims()); }

Value prim_to_tensor(const Args& args) {
  const Slot& prim = args[0];
  if (prim.kind != Kind::Prim) args.fail_kind(0, "a prim");
  if (prim.dtype == DType::Bool) return Value::scalar(prim.dtype, prim.as<uint8_t>());
  if (prim.dtype == DType::Float64) return Value::scalar(prim.dtype, prim.as<double>());
  return Value::scalar(prim.dtype, prim.as<int64_t>());
}

Value tensor_to_prim(const Args& args) {
  const Slot& scalar = args[0];
  if (scalar.kind == Kind::Scalar && scalar.dtype == DType::Bool) return Value::prim(scalar.as<uint8_t>() != 0);
  if (scalar.kind == Kind::Scalar && scalar.dtype == DType::Float64) return Value::prim(scalar.as<double>());
  if (scalar.kind == Kind::Scalar && scalar.dtype == DType::Int64) return Value::prim(scalar.as<int64_t>());
  args.fail_kind(0, "a rank-0 tensor of int64, float64 or bool");
}

Value tensor_to_shape(const Args& args) {
  const auto tensor = args.tensor(0, DType::Int64);
  if (tensor->rank != 1) args.fail(ErrorCode::ShapeMismatch, "the tensor has rank {}, 1 is wanted", tensor->rank);
  const std::span<const int64_t> dims(tensor->elements<int64_t>(), count_of(*tensor));
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < 0) args.fail(ErrorCode::ShapeMismatch, "dimension {} = {} is negative", i, dims[i]);
  return Value(make_shape(args.pool(), dims));
}

Value reshape(const Args& args) { return to_value(make_view(args.pool(), lasting(args, 0), shape_at(args, 1).dims())); }

Value reshape_like(const Args& args) {
  const auto x = args.tensor(0);
  Dims dims = args.integers(1);
  const bool zero_is_zero = args.flag(2);
  const auto count = static_cast<int64_t>(count_of(*x));
  int64_t others = 1;
  size_t open = SIZE_MAX;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0 && !zero_is_zero) {
      if (d >= x->rank)
        args.fail(ErrorCode::ShapeMismatch, "dimension {} is to be kept, the tensor has rank {}", d, x->rank);
      dims[d] = x->dims()[d];
    }
    if (dims[d] == -1) {
      if (open != SIZE_MAX) args.fail(ErrorCode::InvalidArgument, "dimensions {} and {} are both -1", open, d);
      open = d;
    } else if (dims[d] < 0) {
      args.fail(ErrorCode::InvalidArgument, "dimension {} is {}", d, dims[d]);
    } else if (__builtin_mul_overflow(others, dims[d], &others)) {
      args.fail(ErrorCode::ShapeMismatch, "the shape {} is too large", shape_text(dims));
    }
  }
  if (open != SIZE_MAX) {
    if (others == 0 || count % others != 0)
      args.fail(ErrorCode::ShapeMismatch, "{} elements do not fit the shape {}", count, shape_text(dims));
    dims[open] = count / others;
  }
  return to_value(make_view(args.pool(), lasting(args, 0), dims));
}

Value squeeze(const Args& args) {
  const auto x = args.tensor(0);
  std::vector<bool> drop(x->rank, false);
  if (args.has(1)) {
    for (const size_t axis : args.axes(1, x->rank)) {
      if (x->dims()[axis] != 1)
        args.fail(ErrorCode::ShapeMismatch, "dimension {} must be 1, it is {}", axis, x->dims()[axis]);
      drop[axis] = true;
    }
  } else {
    for (size_t d = 0; d < x->rank; ++d) drop[d] = x->dims()[d] == 1;
  }
  Dims dims;
  for (size_t d = 0; d < x->rank; ++d)
    if (!drop[d]) dims.push_back(x->dims()[d]);
  return to_value(make_view(args.pool(), lasting(args, 0), dims));
}

Value unsqueeze(const Args& args) {
  const auto x = args.tensor(0);
  const Dims given = args.integers(1);
  const size_t rank = x->rank + given.size();
  if (rank > kMaxRank) args.fail(ErrorCode::ShapeMismatch, "the result has rank {}, {} is the most", rank, kMaxRank);
  std::vector<bool> added(rank, false);
  for (const size_t axis : args.axes(1, rank)) added[axis] = true;
  Dims dims;
  for (size_t d = 0, next = 0; d < rank; ++d) dims.push_back(added[d] ? 1 : x->dims()[next++]);
  return to_value(make_view(args.pool(), lasting(args, 0), dims));
}

// The kept dimensions first, then the reduced ones, each as one.
Value to_matrix(const Args& args) {
  const auto x = args.tensor(0);
  std::vector<bool> reduced(x->rank, false);
  if (!args.has(1) || args.integers(1).empty()) {
    std::fill(reduced.begin(), reduced.end(), !args.flag(2));
  } else {
    for (const size_t axis : args.axes(1, x->rank)) reduced[axis] = true;
  }
  const Dims strides = strides_of(x->dims());
  Dims dims, steps;
  int64_t sizes[2] = {1, 1};
  for (const bool which : {false, true})
    for (size_t d = 0; d < x->rank; ++d)
      if (reduced[d] == which) {
        dims.push_back(x->dims()[d]);
        steps.push_back(strides[d]);
        sizes[which ? 1 : 0] *= x->dims()[d];
      }
  auto result = args.make(x->dtype, sizes);
  for_each_index(dims, [&](const Dims& index, size_t at) {
    int64_t from = 0;
    for (size_t d = 0; d < index.size(); ++d) from += index[d] * steps[d];
    copy_element(*result, at, *x, static_cast<size_t>(from));
  });
  return Value(std::move(result));
}

Value reduced_shape(const Args& args) {
  const auto x = args.tensor(0);
  std::vector<bool> reduced(x->rank, false);
  if (!args.has(1) || args.integers(1).empty()) {
    std::fill(reduced.begin(), reduced.end(), !args.flag(3));
  } else {
    for (const size_t axis : args.axes(1, x->rank)) reduced[axis] = true;
  }
  Dims dims;
  for (size_t d = 0; d < x->rank; ++d) {
    if (!reduced[d]) dims.push_back(x->dims()[d]);
    if (reduced[d] && args.flag(2)) dims.push_back(1);
  }
  return Value(make_shape(args.pool(), dims));
}

}  // namespace ingot::vm::builtins
