#include <algorithm>

#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/reduce.h"
#include "runtime/symbolic/simplify.h"

// Operators that subtract a mean and divide by a deviation.
namespace ingot::ops {

using namespace ir;
using tir::ExprOp;
using tir::Indices;

namespace {

// A vector parameter with one element per index of `dim` of %x.
void require_vector(const CallSite& call, const Operand& x, const PrimExpr& dim, size_t argument) {
  const auto vector = operand(call, argument);
  require_same_dtype(call, x, vector);
  require_rank(call, vector, 1);
  require_equal(call, "channels", x, dim, vector, vector.dims()[0]);
}

struct Moments {
  tir::BufferId mean, deviation;  // deviation: 1 / sqrt(variance + epsilon)
};

// Of the elements that `x` gives for index i of `dims` and index k of `reduced`.
Moments moments(OpFunc& f, DType wide, const Dims& dims, const Dims& reduced, double epsilon,
                const std::function<Element(const Indices& i, const Indices& k)>& x) {
  const auto total = f.builder().temporary("total", wide, dims);
  const auto mean = f.builder().temporary("mean", wide, dims);
  const auto squares = f.builder().temporary("squares", wide, dims);
  const auto deviation = f.builder().temporary("deviation", wide, dims);
  const Element count = element(wide, product(reduced));
  f.reduce(total, ExprOp::Add, element(wide, 0.0), reduced, x);
  f.compute(mean, [&](const Indices& i) { return f.load(total, i) / count; });
  f.reduce(squares, ExprOp::Add, element(wide, 0.0), reduced, [&](const Indices& i, const Indices& k) {
    const Element distance = x(i, k) - f.load(mean, i);
    return distance * distance;
  });
  f.compute(deviation, [&](const Indices& i) { return apply(ExprOp::Rsqrt, f.load(squares, i) / count + epsilon); });
  return {mean, deviation};
}

Reduction normalized(const CallSite& call, size_t rank) {
  Reduction how;
  how.along.assign(rank, false);
  if (call.has_attr("axes")) {
    for (const int64_t axis : axes(call, "axes", rank)) how.along[static_cast<size_t>(axis)] = true;
  } else {
    how.along[static_cast<size_t>(call.axis("axis", rank))] = true;
  }
  return how;
}

void require_matching(const CallSite& call, const Operand& x, const Dims& dims, size_t argument) {
  const auto parameter = operand(call, argument);
  require_same_dtype(call, x, parameter);
  require_rank(call, parameter, dims.size());
  for (size_t d = 0; d < dims.size(); ++d)
    require_equal(call, "normalized dimensions", x, dims[d], parameter, parameter.dims()[d]);
}

// The dimensions of the result; -1 where those of a parameter turn out to be others.
Dims guarded_dims(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto name = call.op().name;
  std::vector<size_t> matched;
  if (name == "layer_norm" || name == "rms_norm") {
    const auto how = normalized(call, x.rank());
    for (size_t d = 0; d < x.rank(); ++d)
      if (how.along[d]) matched.push_back(d);
  } else if (name == "group_norm" || name == "instance_norm" || name == "scale_shift") {
    matched.push_back(1);
  } else {
    matched.push_back(static_cast<size_t>(call.axis("axis", x.rank())));
  }
  Dims dims = x.dims();
  for (size_t i = 1; i < call.size(); ++i) {
    const auto parameter = operand(call, i);
    for (size_t k = 0; k < matched.size(); ++k) {
      const PrimExpr& dim = x.dims()[matched[k]];
      const PrimExpr& other = parameter.dims()[k];
      if (prove_equal(dim, other) == Proof::Yes) continue;
      auto& guarded = dims[matched[k]];
      guarded = PrimExpr::make(PrimOp::Select, {PrimExpr::make(PrimOp::Equal, {dim, other}), guarded, PrimExpr(-1)});
    }
  }
  return dims;
}

std::vector<StructInfo> guarded_result(const CallSite& call) {
  return {tensor_info(operand(call, 0).dtype(), guarded_dims(call))};
}

}  // namespace

Effect normalization_effect(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto guarded = guarded_dims(call);
  for (size_t d = 0; d < guarded.size(); ++d)
    if (!same_expr(guarded[d], x.dims()[d])) return Effect::MayFail;
  return Effect::Total;
}

StructInfo infer_batch_norm(const CallSite& call) {
  const auto x = operand(call, 0);
  require_float(call, x);
  if (call.flag("training")) call.fail(ErrorCode::Unsupported, "training is True, networks are not trained here");
  const PrimExpr& channels = x.dims()[static_cast<size_t>(call.axis("axis", x.rank()))];
  for (size_t i = 1; i < 5; ++i) require_vector(call, x, channels, i);
  return x.info;
}

StructInfo infer_batch_norm_tuple(const CallSite& call) {
  const auto x = infer_batch_norm(call);
  return tuple_info({x, call.info(3), call.info(4)});
}

Meaning define_batch_norm(const CallSite& call) {
  OpFunc f(call, guarded_result(call));
  const DType dtype = f.dtype(f.out());
  const DType wide = accumulator(dtype);
  const auto axis = static_cast<size_t>(call.axis("axis", f.dims(f.out()).size()));
  const Dims channels = {f.dims(f.in())[axis]};
  const auto factor = f.builder().temporary("factor", wide, channels);
  const auto offset = f.builder().temporary("offset", wide, channels);
  const auto parameter = [&](size_t i, const Indices& c) { return cast(wide, f.load(f.in(i), c)); };
  f.compute(factor, [&](const Indices& c) {
    const Element scale = apply(ExprOp::Rsqrt, parameter(4, c) + call.number("epsilon"));
    return call.flag("scale") ? parameter(1, c) * scale : scale;
  });
  f.compute(offset, [&](const Indices& c) {
    const Element shift = -(parameter(3, c) * f.load(factor, c));
    return call.flag("center") ? parameter(2, c) + shift : shift;
  });
  f.compute(f.out(), [&](const Indices& i) {
    return cast(dtype, cast(wide, f.load(f.in(), i)) * f.load(factor, {i[axis]}) + f.load(offset, {i[axis]}));
  });
  return f.finish();
}

StructInfo infer_scale_shift(const CallSite& call) {
  const auto x = operand(call, 0);
  require_numeric(call, x);
  if (x.rank() < 2)
    call.fail(ErrorCode::ShapeMismatch, "{} must have rank 2 or more, it has rank {}", x.name, x.rank());
  for (size_t i = 1; i < 3; ++i) require_vector(call, x, x.dims()[1], i);
  return x.info;
}

std::optional<KernelCall> scale_shift_kernel(const CallSite&) {
  KernelCall kernel;
  kernel.contract = Contract::scale_shift;
  kernel.inputs = 3;
  return kernel;
}

Meaning define_scale_shift(const CallSite& call) { return *scale_shift_kernel(call); }

Meaning define_batch_norm_tuple(const CallSite& call) {
  std::vector<Expr> args;
  for (size_t i = 0; i < 5; ++i) args.push_back(call.arg(i));
  const Expr y = make_call("batch_norm", std::move(args),
                           {{"axis", call.integer("axis")},
                            {"epsilon", call.number("epsilon")},
                            {"center", call.flag("center")},
                            {"scale", call.flag("scale")}});
  return make_tuple({y, call.arg(3), call.arg(4)});
}

StructInfo infer_layer_norm(const CallSite& call) {
  const auto x = operand(call, 0);
  require_float(call, x);
  const Dims dims = normalized(call, x.rank()).reduced(x.dims());
  for (size_t i = 1; i < call.size(); ++i) require_matching(call, x, dims, i);
  return x.info;
}

Meaning define_layer_norm(const CallSite& call) {
  OpFunc f(call, guarded_result(call));
  const DType dtype = f.dtype(f.out());
  const DType wide = accumulator(dtype);
  const auto how = normalized(call, f.dims(f.in()).size());
  const auto m =
      moments(f, wide, how.kept(f.dims(f.in())), how.reduced(f.dims(f.in())), call.number("epsilon"),
              [&](const Indices& i, const Indices& k) { return cast(wide, f.load(f.in(), how.join(i, k))); });
  f.compute(f.out(), [&](const Indices& i) {
    Indices within;
    for (size_t d = 0; d < i.size(); ++d)
      if (how.along[d]) within.push_back(i[d]);
    Element y = (cast(wide, f.load(f.in(), i)) - f.load(m.mean, how.project(i))) * f.load(m.deviation, how.project(i));
    if (call.size() > 1 && call.flag("scale")) y = y * cast(wide, f.load(f.in(1), within));
    if (call.size() > 2 && call.flag("center")) y = y + cast(wide, f.load(f.in(2), within));
    return cast(dtype, y);
  });
  return f.finish();
}

Meaning define_rms_norm(const CallSite& call) {
  OpFunc f(call, guarded_result(call));
  const DType dtype = f.dtype(f.out());
  const DType wide = accumulator(dtype);
  const auto how = normalized(call, f.dims(f.in()).size());
  const auto squares = f.builder().temporary("squares", wide, how.kept(f.dims(f.in())));
  f.reduce(squares, ExprOp::Add, element(wide, 0.0), how.reduced(f.dims(f.in())),
           [&](const Indices& i, const Indices& k) {
             const Element x = cast(wide, f.load(f.in(), how.join(i, k)));
             return x * x;
           });
  f.compute(f.out(), [&](const Indices& i) {
    Indices within;
    for (size_t d = 0; d < i.size(); ++d)
      if (how.along[d]) within.push_back(i[d]);
    const Element mean = f.load(squares, how.project(i)) / reduced_count(f, how, wide);
    const Element y = cast(wide, f.load(f.in(), i)) * apply(ExprOp::Rsqrt, mean + call.number("epsilon"));
    return cast(dtype, call.size() > 1 ? y * cast(wide, f.load(f.in(1), within)) : y);
  });
  return f.finish();
}

namespace {

// The call on channels in dimension 1 behind one dimension of batches, before those along which it normalizes: all
// others, where `axes` does not say. Nullopt where it has that form.
std::optional<Expr> plain_group_norm(const CallSite& call) {
  const auto x = operand(call, 0);
  const int64_t channel = call.axis("axis", x.rank());
  std::vector<bool> along(x.rank(), !call.has_attr("axes"));
  if (call.has_attr("axes")) {
    for (const int64_t axis : axes(call, "axes", x.rank())) along[static_cast<size_t>(axis)] = true;
    if (along[static_cast<size_t>(channel)])
      call.fail(ErrorCode::InvalidArgument, "axes has the axis of the channels, {}", channel);
  } else {
    along[0] = false;
  }
  along[static_cast<size_t>(channel)] = false;
  std::vector<int64_t> order, behind;
  Dims batch;
  for (size_t d = 0; d < x.rank(); ++d) {
    if (static_cast<int64_t>(d) == channel) continue;
    if (!along[d]) batch.push_back(x.dims()[d]);
    (along[d] ? behind : order).push_back(static_cast<int64_t>(d));
  }
  order.push_back(channel);
  order.insert(order.end(), behind.begin(), behind.end());
  const bool center = call.flag("center"), scale = call.flag("scale");
  if (std::ranges::is_sorted(order) && batch.size() == 1 && center && scale) return std::nullopt;
  Dims permuted, flat = {simplify(product(batch))};
  for (const int64_t d : order) permuted.push_back(x.dims()[static_cast<size_t>(d)]);
  flat.insert(flat.end(), permuted.begin() + static_cast<ptrdiff_t>(batch.size()), permuted.end());
  const auto reshaped = [](const Expr& e, Dims dims) {
    return make_call("reshape", {e, make_shape(std::move(dims))}, {{"allowzero", true}});
  };
  std::vector<int64_t> back(order.size());
  for (size_t d = 0; d < order.size(); ++d) back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
  Attrs attrs = call.attrs();
  for (const auto* name : {"axis", "axes", "center", "scale"}) attrs.erase(name);
  Expr result = make_call("transpose", {call.arg(0)}, {{"axes", order}});
  result = make_call(call.op().name,
                     {reshaped(result, flat), scale ? call.arg(1) : make_call("ones_like", {call.arg(1)}),
                      center ? call.arg(2) : make_call("zeros_like", {call.arg(2)})},
                     std::move(attrs));
  return make_call("transpose", {reshaped(result, permuted)}, {{"axes", back}});
}

}  // namespace

Effect group_norm_effect(const CallSite& call) {
  return plain_group_norm(call) ? composed_effect(call) : normalization_effect(call);
}

// Of "group_norm" and "instance_norm", whose groups are single channels.
StructInfo infer_group_norm(const CallSite& call) {
  if (plain_group_norm(call)) return infer_composed(call);
  const auto x = operand(call, 0);
  require_float(call, x);
  if (x.rank() < 2)
    call.fail(ErrorCode::ShapeMismatch, "{} must have rank 2 or more, it has rank {}", x.name, x.rank());
  for (size_t i = 1; i < 3; ++i) require_vector(call, x, x.dims()[1], i);
  if (call.op().name == "instance_norm") return x.info;
  const int64_t groups = call.integer("num_groups");
  if (groups < 1) call.fail(ErrorCode::InvalidArgument, "num_groups is {}, it must be 1 or more", groups);
  if (prove_equal(floor_mod(x.dims()[1], groups), 0) != Proof::Yes)
    call.fail(ErrorCode::ShapeMismatch, "{} has {} channels, which {} groups do not divide", x.name,
              to_text(x.dims()[1]), groups);
  return x.info;
}

Meaning define_group_norm(const CallSite& call) {
  if (auto plain = plain_group_norm(call)) return *std::move(plain);
  OpFunc f(call, guarded_result(call));
  const DType dtype = f.dtype(f.out());
  const DType wide = accumulator(dtype);
  const Dims dims = f.dims(f.in());
  const PrimExpr groups = call.op().name == "instance_norm" ? dims[1] : PrimExpr(call.integer("num_groups"));
  const PrimExpr per_group = call.op().name == "instance_norm" ? PrimExpr(1) : simplify(floor_div(dims[1], groups));
  Dims reduced = {per_group};
  reduced.insert(reduced.end(), dims.begin() + 2, dims.end());
  const auto m =
      moments(f, wide, {dims[0], groups}, reduced, call.number("epsilon"), [&](const Indices& i, const Indices& k) {
        Indices at = {i[0], i[1] * per_group + k[0]};
        at.insert(at.end(), k.begin() + 1, k.end());
        return cast(wide, f.load(f.in(), at));
      });
  f.compute(f.out(), [&](const Indices& i) {
    const Indices group = {i[0], floor_div(i[1], per_group)};
    const Element y = (cast(wide, f.load(f.in(), i)) - f.load(m.mean, group)) * f.load(m.deviation, group);
    return cast(dtype, y * cast(wide, f.load(f.in(1), {i[1]})) + cast(wide, f.load(f.in(2), {i[1]})));
  });
  return f.finish();
}

StructInfo infer_bias_add(const CallSite& call) {
  const auto x = operand(call, 0);
  require_numeric(call, x);
  require_vector(call, x, x.dims()[static_cast<size_t>(call.axis("axis", x.rank()))], 1);
  return x.info;
}

Meaning define_bias_add(const CallSite& call) {
  OpFunc f(call, guarded_result(call));
  const auto axis = static_cast<size_t>(call.axis("axis", f.dims(f.out()).size()));
  f.compute(f.out(), [&](const Indices& i) { return f.load(f.in(), i) + f.load(f.in(1), {i[axis]}); });
  return f.finish();
}

StructInfo infer_dropout_tuple(const CallSite& call) {
  const auto x = operand(call, 0);
  return tuple_info({x.info, x.info});
}

// Nothing is dropped when a network is not trained: the mask is all ones.
Meaning define_dropout_tuple(const CallSite& call) {
  return make_tuple({call.arg(0), make_call("ones_like", {call.arg(0)})});
}

}  // namespace ingot::ops
