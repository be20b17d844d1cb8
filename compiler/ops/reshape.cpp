#include <algorithm>

#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

// Operators that put the same elements under other dimensions.
namespace ingot::ops {

using namespace ir;

namespace {

// -1 and 0 are special where the program writes them, not where a dimension turns out to be 0.
bool is_written(const CallSite& call, size_t dim) {
  if (!call.has(1)) return true;
  if (const auto* shape = as<Shape>(call.arg(1))) return shape->dims[dim].as_const().has_value();
  return as<Var>(call.arg(1)) == nullptr;
}

// Relay's codes below -1 in attribute newshape, with those before them, written out: -2 all that remains, -3 the
// product of the next two dimensions, -4 the next one as the two that follow, one of which may be -1.
Dims without_codes(const CallSite& call, const Operand& x, const Dims& asked) {
  const auto code = [&](size_t i) { return i < asked.size() ? asked[i].as_const().value_or(1) : 1; };
  bool any = false;
  for (size_t i = 0; i < asked.size(); ++i) any = any || code(i) < -1;
  if (call.has(1) || !any) return asked;
  Dims dims;
  size_t next = 0;
  const auto take = [&]() -> PrimExpr {
    if (next >= x.rank())
      call.fail(ErrorCode::ShapeMismatch, "the new shape asks for dimension {} of {} of rank {}", next, x.name,
                x.rank());
    return x.dims()[next++];
  };
  for (size_t i = 0; i < asked.size(); ++i) {
    if (code(i) == -2) {
      while (next < x.rank()) dims.push_back(take());
    } else if (code(i) == -3) {
      const PrimExpr first = take();
      dims.push_back(simplify(first * take()));
    } else if (code(i) == -4) {
      if (i + 2 >= asked.size()) call.fail(ErrorCode::InvalidArgument, "behind -4 the new shape needs two dimensions");
      const PrimExpr whole = take();
      PrimExpr first = asked[i + 1], second = asked[i + 2];
      if (first.is_const(-1)) first = simplify(floor_div(whole, second));
      if (second.is_const(-1)) second = simplify(floor_div(whole, first));
      dims.insert(dims.end(), {first, second});
      i += 2;
    } else if (code(i) < -4) {
      call.fail(ErrorCode::InvalidArgument, "dimension {} of the new shape is {}; 0 to -4 are the special ones", i,
                code(i));
    } else {
      if (code(i) == 0 && next < x.rank()) {
        dims.push_back(x.dims()[next]);
      } else {
        dims.push_back(asked[i]);
      }
      ++next;
    }
  }
  return dims;
}

Dims requested(const CallSite& call, const Operand& x) {
  Dims dims = without_codes(call, x, dims_of(call, "newshape", 1));
  const bool zero_is_zero = call.flag("allowzero");
  std::optional<size_t> rest;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto value = dims[i].as_const();
    if (!value || *value > 0 || !is_written(call, i) || (*value == 0 && zero_is_zero)) continue;
    if (*value == 0) {
      if (i >= x.rank())
        call.fail(ErrorCode::ShapeMismatch, "dimension {} of the new shape is 0 (keep), but {} has rank {}", i, x.name,
                  x.rank());
      dims[i] = x.dims()[i];
    } else if (*value == -1 && !rest) {
      rest = i;
    } else if (*value == -1) {
      call.fail(ErrorCode::InvalidArgument, "dimensions {} and {} of the new shape are both -1", *rest, i);
    } else {
      call.fail(ErrorCode::InvalidArgument,
                "dimension {} of the new shape is {}; 0 and -1 are the special ones, in newshape also -2 to -4", i,
                *value);
    }
  }
  const PrimExpr total = product(x.dims());
  if (rest) {
    // Dimensions that stay are left out on both sides, so that symbolic ones need no division.
    Dims before = x.dims();
    Dims after;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i == *rest) continue;
      const auto same = std::find_if(before.begin(), before.end(),
                                     [&](const PrimExpr& dim) { return prove_equal(dim, dims[i]) == Proof::Yes; });
      if (same == before.end()) {
        after.push_back(dims[i]);
      } else {
        before.erase(same);
      }
    }
    const PrimExpr divided = product(before);
    const PrimExpr others = product(after);
    const auto known = others.as_const();
    if (known && (*known == 0 || (divided.as_const() && *divided.as_const() % *known != 0)))
      call.fail(ErrorCode::ShapeMismatch, "{} has {} elements, which {} does not divide", x.name, to_text(total),
                to_text(others));
    dims[*rest] = simplify(floor_div(divided, others));
  }
  const PrimExpr asked = product(dims);
  // A scalar is copied, not viewed.
  const bool is_checked = x.rank() != 0 && !dims.empty();
  if (is_checked ? prove_equal(total, asked) == Proof::No : differ(call, total, asked))
    call.fail(ErrorCode::ShapeMismatch, "{} has {} elements, the new shape {} has {}", x.name, to_text(total),
              dims_text(dims), to_text(asked));
  return dims;
}

}  // namespace

StructInfo infer_reshape(const CallSite& call) {
  const auto x = operand(call, 0);
  return tensor_like(x, requested(call, x));
}

// Total where the number of elements provably stays the same.
Effect reshape_effect(const CallSite& call) {
  const auto result = call.op().infer(call);
  return prove_equal(product(operand(call, 0).dims()), product(*result->dims)) == Proof::Yes ? Effect::Total
                                                                                             : Effect::MayFail;
}

StructInfo infer_flatten(const CallSite& call) {
  const auto x = operand(call, 0);
  if (!call.has_attr("axis")) return tensor_like(x, {product(x.dims())});
  int64_t axis = call.integer("axis");
  const auto rank = static_cast<int64_t>(x.rank());
  if (axis < -rank || axis > rank)
    call.fail(ErrorCode::IndexOutOfRange, "axis {} lies outside of a tensor of rank {}", axis, rank);
  if (axis < 0) axis += rank;
  const std::span<const PrimExpr> dims = x.dims();
  return tensor_like(
      x, {product(dims.first(static_cast<size_t>(axis))), product(dims.subspan(static_cast<size_t>(axis)))});
}

StructInfo infer_batch_flatten(const CallSite& call) {
  const auto x = operand(call, 0);
  if (x.rank() == 0) call.fail(ErrorCode::ShapeMismatch, "{} must have rank 1 or more, it is a scalar", x.name);
  return tensor_like(x, {x.dims()[0], product(std::span(x.dims()).subspan(1))});
}

StructInfo infer_squeeze(const CallSite& call) {
  const auto x = operand(call, 0);
  Dims dims;
  if (!call.has_attr("axis")) {
    for (const auto& dim : x.dims())
      if (!dim.is_const(1)) dims.push_back(dim);
    return tensor_like(x, dims);
  }
  std::vector<bool> drop(x.rank(), false);
  for (const int64_t axis : axes(call, "axis", x.rank())) drop[static_cast<size_t>(axis)] = true;
  for (size_t d = 0; d < x.rank(); ++d) {
    if (!drop[d]) {
      dims.push_back(x.dims()[d]);
    } else if (differ(call, x.dims()[d], 1)) {
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} must be 1, it is {}", d, x.name, to_text(x.dims()[d]));
    }
  }
  return tensor_like(x, dims);
}

StructInfo infer_expand_dims(const CallSite& call) {
  const auto x = operand(call, 0);
  std::vector<int64_t> places = call.integers("axis");
  const int64_t repeat = call.integer("num_newaxis");
  if (repeat < 0) call.fail(ErrorCode::InvalidArgument, "num_newaxis is {}, it must not be negative", repeat);
  if (places.size() == 1 && repeat != 1) {
    const int64_t first = normalize_axis(call, places[0], x.rank() + 1);
    places.clear();
    for (int64_t i = 0; i < repeat; ++i) places.push_back(first + i);
  }
  const size_t rank = x.rank() + places.size();
  if (rank > kMaxRank)
    call.fail(ErrorCode::ShapeMismatch, "the result has rank {}, the greatest is {}", rank, kMaxRank);
  std::vector<bool> added(rank, false);
  for (const int64_t place : places) {
    const auto axis = static_cast<size_t>(normalize_axis(call, place, rank));
    if (added[axis]) call.fail(ErrorCode::InvalidArgument, "axis {} is given twice", axis);
    added[axis] = true;
  }
  Dims dims;
  size_t next = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (added[d]) {
      dims.emplace_back(1);
    } else {
      dims.push_back(x.dims()[next++]);
    }
  }
  return tensor_like(x, dims);
}

// Scalars are no tensors that a view could share elements with: those are copied.
Meaning define_view(const CallSite& call) {
  const auto result = call.op().infer(call);
  const auto x = operand(call, 0);
  if (x.rank() != 0 && !result->dims->empty()) return View{};
  if (x.rank() == 0 && result->dims->empty()) return call.arg(0);
  OpFunc f(call);
  f.compute(f.out(), [&](const tir::Indices&) { return f.load(f.in(), tir::Indices(x.rank(), PrimExpr(0))); });
  return f.finish();
}

}  // namespace ingot::ops
