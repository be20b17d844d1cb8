#include "compiler/ops/coordinates.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"

// Operators that write at places which other tensors name, into a copy of a tensor. A negative index counts from the
// end; one outside of the tensor is an IndexOutOfRange fault. Places that are named twice are written in order.
namespace ingot::ops {

using namespace ir;
using tir::Indices;

namespace {

std::string reduction_of(const CallSite& call) {
  const std::string name = call.text("reduction") == "update" ? "none" : call.text("reduction");
  if (name != "none" && name != "add" && name != "mul" && name != "max" && name != "min")
    call.fail(ErrorCode::InvalidArgument,
              "reduction is \"{}\", possible are \"none\", \"add\", \"mul\", \"max\" and \"min\"", name);
  return name;
}

Element combined(const std::string& reduction, const Element& old, const Element& update) {
  if (reduction == "add") return old.dtype() == DType::Bool ? either(old, update) : old + update;
  if (reduction == "mul") return old.dtype() == DType::Bool ? both(old, update) : old * update;
  if (reduction == "max") return max(old, update);
  if (reduction == "min") return min(old, update);
  return update;
}

PrimExpr bind_index(const Element& value, const PrimExpr& extent, std::vector<tir::Stmt>& statements) {
  const Element index = cast(DType::Int64, value);
  const auto var = tir::make_let("at", DType::Int64);
  statements.push_back(tir::let(var, select(index < 0, index + element(DType::Int64, extent), index).expr));
  return PrimExpr(var->index);
}

// Serial loops: places may be named twice.
void serial_nest(OpFunc& f, const Dims& extents, const std::function<std::vector<tir::Stmt>(const Indices&)>& body) {
  Indices indices;
  const std::function<std::vector<tir::Stmt>(size_t)> at = [&](size_t depth) -> std::vector<tir::Stmt> {
    if (depth == extents.size()) return body(indices);
    return {loop(extents[depth], tir::LoopKind::Serial, [&](const PrimExpr& index) {
      indices.push_back(index);
      auto inner = at(depth + 1);
      indices.pop_back();
      return inner;
    })};
  };
  for (auto& statement : at(0)) f.builder().append(std::move(statement));
}

}  // namespace

StructInfo infer_scatter_elements(const CallSite& call) {
  const auto x = operand(call, 0), indices = operand(call, 1), updates = operand(call, 2);
  require_integer(call, indices);
  require_same_dtype(call, x, updates);
  require_rank(call, indices, x.rank());
  require_rank(call, updates, x.rank());
  reduction_of(call);
  for (size_t d = 0; d < x.rank(); ++d)
    require_equal(call, "shapes", indices, indices.dims()[d], updates, updates.dims()[d]);
  call.axis("axis", x.rank());
  return x.info;
}

Meaning define_scatter_elements(const CallSite& call) {
  OpFunc f(call);
  const auto axis = static_cast<size_t>(call.axis("axis", f.dims(f.in()).size()));
  const std::string reduction = reduction_of(call);
  for (size_t d = 0; d < f.dims(f.in(1)).size(); ++d) f.require_size(2, d, f.dims(f.in(1))[d]);
  f.compute(f.out(), [&](const Indices& i) { return f.load(f.in(), i); });
  serial_nest(f, f.dims(f.in(1)), [&](const Indices& i) {
    std::vector<tir::Stmt> body;
    Indices at = i;
    at[axis] = bind_index(f.load(f.in(1), i), f.dims(f.in())[axis], body);
    const Element value = combined(reduction, f.load(f.out(), at), f.load(f.in(2), i));
    body.push_back(tir::store(f.out(), at, value.expr));
    return body;
  });
  return f.finish();
}

StructInfo infer_scatter_nd(const CallSite& call) {
  const auto x = operand(call, 0), indices = operand(call, 1), updates = operand(call, 2);
  require_integer(call, indices);
  require_same_dtype(call, x, updates);
  reduction_of(call);
  const Coordinates coordinates = coordinates_of(call, indices);
  const auto depth = coordinates.depth.as_const();
  if (!depth || *depth < 1 || *depth > static_cast<int64_t>(x.rank()))
    call.fail(ErrorCode::ShapeMismatch, "the {} dimension of {} must be known and at most {}, its shape is {}",
              coordinates.first ? "first" : "last", indices.name, x.rank(), dims_text(indices.dims()));
  Dims wanted = coordinates.places;
  wanted.insert(wanted.end(), x.dims().begin() + *depth, x.dims().end());
  require_rank(call, updates, wanted.size());
  for (size_t d = 0; d < wanted.size(); ++d)
    require_equal(call, "shapes of places and updates", indices, wanted[d], updates, updates.dims()[d]);
  return x.info;
}

Meaning define_scatter_nd(const CallSite& call) {
  OpFunc f(call);
  const std::string reduction = reduction_of(call);
  const Dims dims = f.dims(f.in());
  const Coordinates coordinates = coordinates_of(call, f.operand(1));
  const auto depth = static_cast<size_t>(*coordinates.depth.as_const());
  Dims wanted = coordinates.places;
  wanted.insert(wanted.end(), dims.begin() + static_cast<ptrdiff_t>(depth), dims.end());
  for (size_t d = 0; d < wanted.size(); ++d) f.require_size(2, d, wanted[d]);
  f.compute(f.out(), [&](const Indices& i) { return f.load(f.in(), i); });
  serial_nest(f, f.dims(f.in(2)), [&](const Indices& i) {
    std::vector<tir::Stmt> body;
    const auto split = i.begin() + static_cast<ptrdiff_t>(coordinates.places.size());
    const Indices place(i.begin(), split);
    Indices at;
    for (size_t k = 0; k < depth; ++k)
      at.push_back(bind_index(f.load(f.in(1), index_of(coordinates.first, place, k)), dims[k], body));
    at.insert(at.end(), split, i.end());
    body.push_back(tir::store(f.out(), at, combined(reduction, f.load(f.out(), at), f.load(f.in(2), i)).expr));
    return body;
  });
  return f.finish();
}

}  // namespace ingot::ops
