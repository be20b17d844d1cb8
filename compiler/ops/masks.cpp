#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

// Operators whose elements depend on where they stand.
namespace ingot::ops {

using namespace ir;
using tir::Indices;

namespace {

Element holds(PrimOp op, const PrimExpr& a, const PrimExpr& b) {
  return truth(element(DType::Int64, PrimExpr::make(op, {a, b})));
}

// A number given as an attribute or as a prim.
PrimExpr one_dim(const CallSite& call, std::string_view name, size_t argument) {
  const Dims values = dims_of(call, name, argument);
  if (values.size() != 1) call.fail(ErrorCode::TypeError, "{} is not one number", name);
  return values[0];
}

}  // namespace

// Of "tril", "triu" and "trilu": the elements below or above diagonal k of each matrix, zeros elsewhere.
StructInfo infer_trilu(const CallSite& call) {
  const auto x = operand(call, 0);
  if (given(call, 1) && !constant_integers(call, 1)) {
    require_integer(call, operand(call, 1));
    require_rank(call, operand(call, 1), 0);
  }
  if (x.rank() < 2)
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, it must have rank 2 or more", x.name, x.rank());
  return x.info;
}

Meaning define_trilu(const CallSite& call) {
  OpFunc f(call);
  const bool upper = call.op().name == "triu" || (call.op().name == "trilu" && call.flag("upper"));
  const bool is_tensor = given(call, 1) && !constant_integers(call, 1);
  const PrimExpr k = is_tensor ? PrimExpr(0) : f.local(one_dim(call, "k", 1));
  f.compute(f.out(), [&](const Indices& i) {
    const PrimExpr& column = i[i.size() - 1];
    const PrimExpr diagonal = i[i.size() - 2] + k;
    Element kept = upper ? holds(PrimOp::LessEqual, diagonal, column) : holds(PrimOp::LessEqual, column, diagonal);
    if (is_tensor) {
      const Element at = cast(DType::Int64, f.load(f.in(1), {})), offset = element(DType::Int64, column - diagonal);
      kept = upper ? at <= offset : offset <= at;
    }
    return select(kept, f.load(f.in(), i), 0);
  });
  return f.finish();
}

StructInfo infer_eye(const CallSite& call) {
  const DType asked = dtype_of(call, "dtype");
  if (call.op().name == "eye_like") {
    const auto x = operand(call, 0);
    require_rank(call, x, 2);
    return tensor_info(asked == DType::None ? x.dtype() : asked, x.dims());
  }
  const PrimExpr rows = one_dim(call, "n", 0);
  Dims dims = {rows, given(call, 1) || call.has_attr("m") ? one_dim(call, "m", 1) : rows};
  for (const auto& size : dims)
    if (exceeds(call, 0, size))
      call.fail(ErrorCode::ShapeMismatch, "a dimension is {}, it must not be negative", to_text(size));
  return tensor_info(asked == DType::None ? DType::Float32 : asked, dims);
}

Meaning define_eye(const CallSite& call) {
  OpFunc f(call);
  const PrimExpr k = call.op().name == "eye" ? f.local(one_dim(call, "k", 2)) : PrimExpr(call.integer("k"));
  f.compute(f.out(), [&](const Indices& i) {
    return select(holds(PrimOp::Equal, i[0] + k, i[1]), element(f.dtype(f.out()), 1.0), 0);
  });
  return f.finish();
}

// Elements at or behind the length of their sequence become the mask's value. `axis` runs along the sequences, the
// other one of the first two dimensions counts them.
StructInfo infer_sequence_mask(const CallSite& call) {
  const auto x = operand(call, 0), lengths = operand(call, 1);
  if (x.rank() < 2)
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, it must have rank 2 or more", x.name, x.rank());
  require_numeric(call, lengths);
  require_rank(call, lengths, 1);
  const int64_t axis = call.axis("axis", x.rank());
  if (axis > 1) call.fail(ErrorCode::InvalidArgument, "axis is {}, it must be 0 or 1", axis);
  require_equal(call, "numbers of sequences", x, x.dims()[static_cast<size_t>(1 - axis)], lengths, lengths.dims()[0]);
  return x.info;
}

Meaning define_sequence_mask(const CallSite& call) {
  OpFunc f(call);
  const auto axis = static_cast<size_t>(call.axis("axis", f.dims(f.in()).size()));
  f.require_size(1, 0, f.dims(f.in())[1 - axis]);
  f.compute(f.out(), [&](const Indices& i) {
    const Element length = cast(DType::Int64, f.load(f.in(1), {i[1 - axis]}));
    return select(element(DType::Int64, i[axis]) < length, f.load(f.in(), i), call.number("mask_value"));
  });
  return f.finish();
}

// The first elements of each sequence, as many as its length says, in reverse order.
StructInfo infer_reverse_sequence(const CallSite& call) {
  const auto x = operand(call, 0), lengths = operand(call, 1);
  require_integer(call, lengths);
  require_rank(call, lengths, 1);
  const auto along = call.axis("seq_axis", x.rank()), batch = call.axis("batch_axis", x.rank());
  if (along == batch) call.fail(ErrorCode::InvalidArgument, "seq_axis and batch_axis are both {}", along);
  require_equal(call, "numbers of sequences", x, x.dims()[static_cast<size_t>(batch)], lengths, lengths.dims()[0]);
  return x.info;
}

Meaning define_reverse_sequence(const CallSite& call) {
  OpFunc f(call);
  const size_t rank = f.dims(f.in()).size();
  const auto along = static_cast<size_t>(call.axis("seq_axis", rank)),
             batch = static_cast<size_t>(call.axis("batch_axis", rank));
  f.require_size(1, 0, f.dims(f.in())[batch]);
  f.nest(f.dims(f.out()), [&](const Indices& i) -> std::vector<tir::Stmt> {
    const Element length =
        min(cast(DType::Int64, f.load(f.in(1), {i[batch]})), element(DType::Int64, f.dims(f.in())[along]));
    const Element place = element(DType::Int64, i[along]);
    const auto var = tir::make_let("at", DType::Int64);
    Indices at = i;
    at[along] = PrimExpr(var->index);
    return {tir::let(var, select(place < length, length - 1 - place, place).expr),
            tir::store(f.out(), i, f.load(f.in(), at).expr)};
  });
  return f.finish();
}

// The coordinates, one row for each dimension, of places in a tensor of the given shape.
StructInfo infer_unravel_index(const CallSite& call) {
  const auto x = operand(call, 0);
  require_integer(call, x);
  const auto shape = constant_integers(call, 1);
  Dims dims = {shape ? PrimExpr(static_cast<int64_t>(shape->size())) : PrimExpr(0)};
  if (!shape) {
    const auto sizes = operand(call, 1);
    require_integer(call, sizes);
    require_rank(call, sizes, 1);
    dims[0] = sizes.dims()[0];
    if (!dims[0].as_const())
      call.fail(ErrorCode::TypeError, "the number of elements of {} must be known, it is {}", sizes.name,
                to_text(dims[0]));
  }
  dims.insert(dims.end(), x.dims().begin(), x.dims().end());
  return tensor_like(x, dims);
}

Meaning define_unravel_index(const CallSite& call) {
  OpFunc f(call);
  const auto shape = constant_integers(call, 1);
  const DType dtype = f.dtype(f.out());
  const auto rank = static_cast<size_t>(*f.dims(f.out())[0].as_const());
  const auto size = [&](size_t d) {
    if (shape) return element(dtype, f.local((*shape)[d]));
    return cast(dtype, f.load(f.in(1), {PrimExpr(static_cast<int64_t>(d))}));
  };
  f.compute(f.out(), [&](const Indices& i) {
    const Element place = f.load(f.in(), Indices(i.begin() + 1, i.end()));
    Element result = element(dtype, 0.0), below = element(dtype, 1.0);
    for (size_t d = rank; d-- != 0; below = below * size(d)) {
      const Element coordinate = apply(tir::ExprOp::FloorMod, apply(tir::ExprOp::FloorDiv, place, below), size(d));
      result = select(holds(PrimOp::Equal, i[0], static_cast<int64_t>(d)), coordinate, result);
    }
    return result;
  });
  return f.finish();
}

}  // namespace ingot::ops
