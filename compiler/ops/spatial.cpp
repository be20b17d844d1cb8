#include <numeric>

#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "compiler/ops/window.h"
#include "runtime/symbolic/simplify.h"

// Convolution and pooling over any number of spatial dimensions, as loops.
namespace ingot::ops {

using namespace ir;
using tir::Indices;

namespace {

struct Windows {
  size_t spatial;
  Dims size;
  std::vector<int64_t> strides, dilation, before, after;

  // Where element `k` of the window's place `o` lies along spatial dimension `d`.
  PrimExpr at(size_t d, const PrimExpr& o, const PrimExpr& k) const {
    return o * strides[d] + k * dilation[d] - before[d];
  }
};

std::vector<int64_t> list_or(const CallSite& call, std::string_view name, size_t count, int64_t fallback,
                             int64_t least) {
  if (!call.has_attr(name)) return std::vector<int64_t>(count, fallback);
  auto values = call.integers(name);
  if (values.size() != count)
    call.fail(ErrorCode::InvalidArgument, "{} has {} numbers, {} are wanted", name, values.size(), count);
  for (const int64_t value : values)
    if (value < least || value > INT32_MAX)
      call.fail(ErrorCode::InvalidArgument, "{} has {}, it must be between {} and {}", name, value, least, INT32_MAX);
  return values;
}

Windows windows(const CallSite& call, size_t spatial) {
  Windows w{spatial, {}, list_or(call, "strides", spatial, 1, 1), list_or(call, "dilation", spatial, 1, 1), {}, {}};
  const auto padding = list_or(call, "padding", 2 * spatial, 0, 0);
  w.before.assign(padding.begin(), padding.begin() + static_cast<ptrdiff_t>(spatial));
  w.after.assign(padding.begin() + static_cast<ptrdiff_t>(spatial), padding.end());
  return w;
}

PrimExpr places(const CallSite& call, const Windows& w, size_t d, const PrimExpr& extent, bool round_up) {
  const PrimExpr reach = simplify((w.size[d] - 1) * w.dilation[d] + 1);
  const PrimExpr room = extent + (w.before[d] + w.after[d]) - reach;
  if (prove_less_equal(0, room) != Proof::Yes) call.note_unproved();
  if (const auto known = simplify(room).as_const(), spans = reach.as_const(); known && spans && *known < 0)
    call.fail(ErrorCode::ShapeMismatch, "the window spans {} elements along dimension {}, the padded input has {}",
              *spans, d + 2, *known + *spans);
  if (!round_up) return simplify(floor_div(room, w.strides[d]) + 1);
  const PrimExpr count = floor_div(room + (w.strides[d] - 1), w.strides[d]) + 1;
  // A window that begins behind the input does not count.
  const PrimExpr outside = PrimExpr::make(PrimOp::LessEqual, {extent + w.before[d], (count - 1) * w.strides[d]});
  return simplify(PrimExpr::make(PrimOp::Select, {outside, count - 1, count}));
}

PrimExpr between(const PrimExpr& index, const PrimExpr& low, const PrimExpr& high) {
  return PrimExpr::make(PrimOp::And,
                        {PrimExpr::make(PrimOp::LessEqual, {low, index}), PrimExpr::make(PrimOp::Less, {index, high})});
}

PrimExpr both_of(const PrimExpr& a, const PrimExpr& b) {
  return a.is_const(1) ? b : PrimExpr::make(PrimOp::And, {a, b});
}

// Where the window at `i` has its element `k`, and whether that lies in the input.
struct Access {
  Indices at;
  PrimExpr inside = 1;
};
Access access(const Windows& w, const PrimExpr* o, const PrimExpr* k, const Dims& dims) {
  Access result;
  for (size_t d = 0; d < w.spatial; ++d) {
    result.at.push_back(w.at(d, o[d], k[d]));
    result.inside = both_of(result.inside, between(result.at.back(), 0, dims[2 + d]));
  }
  return result;
}

Element holds(const PrimExpr& condition) { return truth(element(DType::Int64, condition)); }

struct Convolution {
  Operand x, w;
  Windows windows;
  int64_t groups;
  Dims out;
};

Convolution convolution(const CallSite& call) {
  Convolution c{operand(call, 0), operand(call, 1), {}, call.integer("groups"), {}};
  if (c.x.rank() < 3)
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, it must have rank 3 or more", c.x.name, c.x.rank());
  require_rank(call, c.w, c.x.rank());
  require_numeric(call, c.x);
  require_same_dtype(call, c.x, c.w);
  if (c.groups < 1) call.fail(ErrorCode::InvalidArgument, "groups is {}, it must be 1 or more", c.groups);
  require_equal(call, "input channels", c.x, c.x.dims()[1], c.w, simplify(c.w.dims()[1] * c.groups));
  if (differ(call, floor_mod(c.w.dims()[0], c.groups), 0))
    call.fail(ErrorCode::ShapeMismatch, "{} has {} output channels, which {} groups do not divide", c.w.name,
              to_text(c.w.dims()[0]), c.groups);
  c.windows = windows(call, c.x.rank() - 2);
  c.out = {c.x.dims()[0], c.w.dims()[0]};
  for (size_t d = 0; d < c.windows.spatial; ++d) {
    const auto size = c.w.dims()[2 + d].as_const();
    if (exceeds(call, 1, c.w.dims()[2 + d]) || (size && *size > INT32_MAX))
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of the kernel {} is {}", 2 + d, c.w.name, *size);
    c.windows.size.push_back(c.w.dims()[2 + d]);
    c.out.push_back(places(call, c.windows, d, c.x.dims()[2 + d], false));
  }
  return c;
}

struct Pooling {
  Operand x;
  Windows windows;
  Dims out;
};

Pooling pooling(const CallSite& call) {
  Pooling p{operand(call, 0), {}, {}};
  if (p.x.rank() < 3)
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, it must have rank 3 or more", p.x.name, p.x.rank());
  p.windows = windows(call, p.x.rank() - 2);
  for (const int64_t size : list_or(call, "pool_size", p.windows.spatial, 1, 1)) p.windows.size.emplace_back(size);
  p.out = {p.x.dims()[0], p.x.dims()[1]};
  for (size_t d = 0; d < p.windows.spatial; ++d)
    p.out.push_back(places(call, p.windows, d, p.x.dims()[2 + d], call.flag("ceil_mode")));
  return p;
}

// The windows of input 0, of the given sizes in variables of the function.
void require_reach(OpFunc& f, const Windows& w, const Dims& sizes) {
  for (size_t d = 0; d < w.spatial; ++d)
    ops::require_reach(f, 2 + d, (sizes[d] - 1) * w.dilation[d] + 1,
                       f.dims(f.in())[2 + d] + (w.before[d] + w.after[d]));
}

Indices in_channel(const Indices& i, const Indices& spatial) {
  Indices at = {i[0], i[1]};
  at.insert(at.end(), spatial.begin(), spatial.end());
  return at;
}

}  // namespace

StructInfo infer_conv_nd(const CallSite& call) {
  const auto c = convolution(call);
  return tensor_like(c.x, c.out);
}

Meaning define_conv_nd(const CallSite& call) {
  OpFunc f(call);
  const auto c = convolution(call);
  const DType dtype = f.dtype(f.out());
  const DType wide = accumulator(dtype);
  const Dims weight = f.dims(f.in(1));
  const auto total = f.builder().temporary("total", wide, f.dims(f.out()));
  const PrimExpr per_group = floor_div(weight[0], c.groups);
  f.require_size(0, 1, simplify(weight[1] * c.groups));
  require_reach(f, c.windows, {weight.begin() + 2, weight.end()});
  Dims window = {weight[1]};
  window.insert(window.end(), weight.begin() + 2, weight.end());
  f.reduce(total, tir::ExprOp::Add, element(wide, 0.0), window, [&](const Indices& i, const Indices& k) {
    const Access a = access(c.windows, &i[2], &k[1], f.dims(f.in()));
    Indices at = {i[0], floor_div(i[1], per_group) * weight[1] + k[0]};
    at.insert(at.end(), a.at.begin(), a.at.end());
    Indices of_weight = {i[1]};
    of_weight.insert(of_weight.end(), k.begin(), k.end());
    const Element product = cast(wide, f.load(f.in(), at)) * cast(wide, f.load(f.in(1), of_weight));
    return select(holds(a.inside), product, 0);
  });
  f.compute(f.out(), [&](const Indices& i) { return cast(dtype, f.load(total, i)); });
  return f.finish();
}

StructInfo infer_pool_nd(const CallSite& call) {
  const auto p = pooling(call);
  const std::string kind = call.text("kind");
  if (kind != "max" && kind != "avg" && kind != "lp")
    call.fail(ErrorCode::InvalidArgument, "kind is \"{}\", possible are \"max\", \"avg\" and \"lp\"", kind);
  if (kind == "lp")
    require_float(call, p.x);
  else
    require_numeric(call, p.x);
  return tensor_like(p.x, p.out);
}

Meaning define_pool_nd(const CallSite& call) {
  OpFunc f(call);
  const auto p = pooling(call);
  const std::string kind = call.text("kind");
  const DType dtype = f.dtype(f.out());
  const DType wide = kind == "max" ? dtype : is_float(dtype) ? accumulator(dtype) : DType::Int64;
  const Dims dims = f.dims(f.in());
  const Dims& window = p.windows.size;
  require_reach(f, p.windows, window);
  const double power = call.number("p");
  const auto value = [&](const Indices& i, const Indices& k, const Element& outside) {
    const Access a = access(p.windows, &i[2], k.data(), dims);
    Element x = cast(wide, f.load(f.in(), in_channel(i, a.at)));
    if (kind == "lp") x = apply(tir::ExprOp::Pow, apply(tir::ExprOp::Abs, x), element(wide, power));
    return select(holds(a.inside), x, outside);
  };
  if (kind == "max") {
    f.reduce(f.out(), tir::ExprOp::Max, lowest(dtype), window,
             [&](const Indices& i, const Indices& k) { return value(i, k, lowest(dtype)); });
    return f.finish();
  }
  const auto total = f.builder().temporary("total", wide, f.dims(f.out()));
  f.reduce(total, tir::ExprOp::Add, element(wide, 0.0), window,
           [&](const Indices& i, const Indices& k) { return value(i, k, element(wide, 0.0)); });
  if (kind == "lp") {
    f.compute(f.out(), [&](const Indices& i) {
      return cast(dtype, apply(tir::ExprOp::Pow, f.load(total, i), element(wide, 1 / power)));
    });
    return f.finish();
  }
  const Dims out = f.dims(f.out());
  const auto count = f.builder().temporary("count", wide, Dims(out.begin() + 2, out.end()));
  const int64_t beyond = call.flag("count_include_pad");
  f.reduce(count, tir::ExprOp::Add, element(wide, 0.0), window, [&](const Indices& i, const Indices& k) {
    PrimExpr counted = 1;
    for (size_t d = 0; d < p.windows.spatial; ++d)
      counted = both_of(counted, between(p.windows.at(d, i[d], k[d]), -p.windows.before[d] * beyond,
                                         dims[2 + d] + p.windows.after[d] * beyond));
    return select(holds(counted), element(wide, 1.0), 0);
  });
  f.compute(f.out(), [&](const Indices& i) {
    const Element n = f.load(count, Indices(i.begin() + 2, i.end()));
    return cast(dtype, f.load(total, i) / (is_float(wide) ? n : max(n, element(wide, 1.0))));
  });
  return f.finish();
}

// Of the input and its maxima: the place of each maximum among all elements of the input, the first one on a tie.
StructInfo infer_max_pool_indices(const CallSite& call) {
  const auto p = pooling(call);
  const auto greatest = operand(call, 1);
  require_same_dtype(call, p.x, greatest);
  require_rank(call, greatest, p.out.size());
  for (size_t d = 0; d < p.out.size(); ++d)
    demand_equal(call, "shapes of the maxima", p.x, p.out[d], greatest, greatest.dims()[d]);
  return tensor_info(DType::Int64, p.out);
}

Meaning define_max_pool_indices(const CallSite& call) {
  OpFunc f(call);
  const auto p = pooling(call);
  const Dims dims = f.dims(f.in());
  const bool columns_first = call.integer("storage_order") != 0;
  f.reduce(f.out(), tir::ExprOp::Min, greatest(DType::Int64), p.windows.size, [&](const Indices& i, const Indices& k) {
    const Access a = access(p.windows, &i[2], k.data(), dims);
    PrimExpr place = i[0] * dims[1] + i[1];
    PrimExpr within = 0;
    PrimExpr size = 1;
    for (size_t n = 0; n < p.windows.spatial; ++n) {
      const size_t d = columns_first ? p.windows.spatial - 1 - n : n;
      within = within * dims[2 + d] + a.at[d];
      size = size * dims[2 + d];
    }
    const Element at = element(DType::Int64, place * size + within);
    const Element x = f.load(f.in(), in_channel(i, a.at));
    return select(holds(a.inside), select(equal(x, f.load(f.in(1), i)), at, greatest(DType::Int64)),
                  greatest(DType::Int64));
  });
  return f.finish();
}

// steps - 1 zeros between neighbours of each dimension, and a margin of zeros (or, where it is negative, less).
StructInfo infer_insert_zeros(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto steps = list_or(call, "steps", x.rank(), 1, 1);
  const auto before = list_or(call, "before", x.rank(), 0, -INT32_MAX),
             after = list_or(call, "after", x.rank(), 0, -INT32_MAX);
  Dims dims;
  for (size_t d = 0; d < x.rank(); ++d) {
    dims.push_back(simplify((x.dims()[d] - 1) * steps[d] + 1 + (before[d] + after[d])));
    if (exceeds(call, 0, dims.back()))
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} would become {}", d, x.name, to_text(dims.back()));
  }
  return tensor_like(x, dims);
}

Meaning define_insert_zeros(const CallSite& call) {
  OpFunc f(call);
  const Dims dims = f.dims(f.in());
  const auto steps = list_or(call, "steps", dims.size(), 1, 1);
  const auto before = list_or(call, "before", dims.size(), 0, -INT32_MAX);
  f.compute(f.out(), [&](const Indices& i) {
    Indices at;
    PrimExpr there = 1;
    for (size_t d = 0; d < i.size(); ++d) {
      const PrimExpr place = i[d] - before[d];
      at.push_back(steps[d] == 1 ? place : floor_div(place, steps[d]));
      if (steps[d] != 1) there = both_of(there, PrimExpr::make(PrimOp::Equal, {floor_mod(place, steps[d]), 0}));
      there = both_of(there, between(at.back(), 0, dims[d]));
    }
    return select(holds(there), f.load(f.in(), at), 0);
  });
  return f.finish();
}

}  // namespace ingot::ops
