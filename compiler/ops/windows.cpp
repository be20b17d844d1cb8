#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/layouts.h"
#include "compiler/ops/op_func.h"
#include "compiler/ops/window.h"
#include "runtime/symbolic/simplify.h"

// Operators on parts of pictures and signals: windows that slide, boxes that are brought to one size.
namespace ingot::ops {

using namespace ir;
using tir::Indices;

namespace {

Element inside(const PrimExpr& row, const PrimExpr& column, const Dims& dims) {
  return truth(element(DType::Int64, PrimExpr::make(PrimOp::And, {within(row, dims[2]), within(column, dims[3])})));
}

}  // namespace

// All windows of the dimensions from an axis on.
StructInfo infer_sliding_window(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto axis = static_cast<size_t>(call.axis("axis", x.rank()));
  const auto shape = call.integers("window_shape"), strides = call.integers("strides");
  if (shape.size() != x.rank() - axis || strides.size() != shape.size())
    call.fail(ErrorCode::InvalidArgument, "{} dimensions from axis {} on, window_shape has {} numbers, strides {}",
              x.rank() - axis, axis, shape.size(), strides.size());
  Dims dims(x.dims().begin(), x.dims().begin() + static_cast<ptrdiff_t>(axis));
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 1 || strides[d] < 1 || shape[d] > INT32_MAX || strides[d] > INT32_MAX)
      call.fail(ErrorCode::InvalidArgument, "dimension {} of the window is {} with stride {}", d, shape[d], strides[d]);
    const PrimExpr room = x.dims()[axis + d] - shape[d];
    if (exceeds(call, shape[d], x.dims()[axis + d]))
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of the window is {}, {} has {}", d, shape[d], x.name,
                to_text(x.dims()[axis + d]));
    dims.push_back(simplify(floor_div(room, strides[d]) + 1));
  }
  for (const int64_t size : shape) dims.emplace_back(size);
  return tensor_like(x, dims);
}

Meaning define_sliding_window(const CallSite& call) {
  OpFunc f(call);
  const size_t rank = f.dims(f.in()).size();
  const auto axis = static_cast<size_t>(call.axis("axis", rank));
  const auto strides = call.integers("strides");
  f.compute(f.out(), [&](const Indices& i) {
    Indices at(i.begin(), i.begin() + static_cast<ptrdiff_t>(axis));
    for (size_t d = axis; d < rank; ++d) at.push_back(i[d] * strides[d - axis] + i[rank + d - axis]);
    return f.load(f.in(), at);
  });
  return f.finish();
}

namespace {

struct Dilation {
  Operand x, w;
  Window window;
  Dims out;
};

Dilation dilation(const CallSite& call) {
  Dilation v{operand(call, 0), operand(call, 1), {}, {}};
  require_numeric(call, v.x);
  require_same_dtype(call, v.x, v.w);
  require_rank(call, v.x, 4);
  require_rank(call, v.w, 3);
  require_equal(call, "channels", v.x, v.x.dims()[1], v.w, v.w.dims()[0]);
  v.window.strides = pair_attr(call, "strides", 1);
  v.window.dilation = pair_attr(call, "dilations", 1);
  v.window.padding = padding_attr(call);
  v.out = {v.x.dims()[0], v.x.dims()[1], {}, {}};
  for (size_t d = 0; d < 2; ++d) {
    const auto size = v.w.dims()[1 + d].as_const();
    if (size && *size < 1) call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {}", 1 + d, v.w.name, *size);
    if (!size || *size > INT32_MAX)
      call.fail(ErrorCode::Unsupported, "dimension {} of {} must be known, it is {}", 1 + d, v.w.name,
                to_text(v.w.dims()[1 + d]));
    v.window.size[d] = *size;
    v.out[2 + d] = places(call, v.window, d, v.x.dims()[2 + d], false);
  }
  return v;
}

}  // namespace

// The greatest of the sums of a window's elements and a weight's, elements outside of the picture being 0.
StructInfo infer_dilation2d(const CallSite& call) {
  if (in_plain_form(call, "NCHW", "IHW")) return infer_composed(call);
  const auto v = dilation(call);
  return tensor_like(v.x, v.out);
}

Meaning define_dilation2d(const CallSite& call) {
  if (auto plain = in_plain_form(call, "NCHW", "IHW")) return *std::move(plain);
  OpFunc f(call);
  const Window window = dilation(call).window;
  const Dims dims = f.dims(f.in());
  f.require_size(1, 0, dims[1]);
  for (size_t d = 0; d < 2; ++d) require_reach(f, 2 + d, window.reach(d), window.padded(d, dims[2 + d]));
  f.reduce(f.out(), tir::ExprOp::Max, lowest(f.dtype(f.out())), {window.size[0], window.size[1]},
           [&](const Indices& i, const Indices& k) {
             const PrimExpr row = at(window, 0, i[2], k[0]), column = at(window, 1, i[3], k[1]);
             const Element x = select(inside(row, column, dims), f.load(f.in(), {i[0], i[1], row, column}), 0);
             return x + f.load(f.in(1), {i[1], k[0], k[1]});
           });
  return f.finish();
}

namespace {

struct Correlation {
  int64_t kernel, reach, stride, step, radius;
  std::array<int64_t, 4> padding;  // top, left, bottom, right
  int64_t neighbours() const { return 2 * radius + 1; }
};

Correlation correlation(const CallSite& call) {
  Correlation c{call.integer("kernel_size"),
                call.integer("max_displacement"),
                call.integer("stride1"),
                call.integer("stride2"),
                0,
                padding_attr(call)};
  if (c.kernel < 1 || c.kernel % 2 == 0 || c.kernel > 4095 || c.reach < 0 || c.reach > 65536 || c.stride < 1 ||
      c.step < 1)
    call.fail(ErrorCode::InvalidArgument,
              "kernel_size is {}, max_displacement {}, strides are {} and {}; the kernel must be odd, strides above 0",
              c.kernel, c.reach, c.stride, c.step);
  c.radius = c.reach / c.step;
  if (call.text("layout") != "NCHW")
    call.fail(ErrorCode::Unsupported, "layout is \"{}\", only \"NCHW\" is there", call.text("layout"));
  return c;
}

}  // namespace

// Products, or distances, of windows of one picture and of those around the same place of another.
StructInfo infer_correlation(const CallSite& call) {
  const auto x = operand(call, 0), y = operand(call, 1);
  require_float(call, x);
  require_same_dtype(call, x, y);
  require_rank(call, x, 4);
  require_rank(call, y, 4);
  for (size_t d = 0; d < 4; ++d) require_equal(call, "shapes", x, x.dims()[d], y, y.dims()[d]);
  const Correlation c = correlation(call);
  Dims dims = {x.dims()[0], c.neighbours() * c.neighbours()};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t border = 2 * (c.reach + (c.kernel - 1) / 2);
    const PrimExpr room = x.dims()[2 + d] + (c.padding[d] + c.padding[2 + d] - border);
    dims.push_back(simplify(floor_div(room + (c.stride - 1), c.stride)));
    if (exceeds(call, 0, dims.back()))
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is too small: the result would have {}", 2 + d, x.name,
                to_text(dims.back()));
  }
  return tensor_like(x, dims);
}

Meaning define_correlation(const CallSite& call) {
  OpFunc f(call);
  const Correlation c = correlation(call);
  const Dims dims = f.dims(f.in());
  for (size_t d = 0; d < 4; ++d) f.require_size(1, d, dims[d]);
  const DType dtype = f.dtype(f.out()), wide = accumulator(dtype);
  const bool multiplies = call.flag("is_multiply");
  const auto total = f.builder().temporary("total", wide, f.dims(f.out()));
  f.reduce(total, tir::ExprOp::Add, element(wide, 0.0), {dims[1], c.kernel, c.kernel},
           [&](const Indices& i, const Indices& k) {
             const auto value = [&](tir::BufferId from, const PrimExpr& down, const PrimExpr& right) {
               const PrimExpr row = i[2] * c.stride + (c.reach - c.padding[0]) + k[1] + down;
               const PrimExpr column = i[3] * c.stride + (c.reach - c.padding[1]) + k[2] + right;
               return select(inside(row, column, dims), cast(wide, f.load(from, {i[0], k[0], row, column})), 0);
             };
             const Element a = value(f.in(), 0, 0);
             const Element b = value(f.in(1), (floor_div(i[1], c.neighbours()) - c.radius) * c.step,
                                     (floor_mod(i[1], c.neighbours()) - c.radius) * c.step);
             return multiplies ? a * b : apply(tir::ExprOp::Abs, a - b);
           });
  f.compute(f.out(), [&](const Indices& i) {
    return cast(dtype, f.load(total, i) / element(wide, dims[1] * (c.kernel * c.kernel)));
  });
  return f.finish();
}

// Boxes [n, 4] of pictures (top, left, bottom, right, from 0 to 1) brought to one size.
StructInfo infer_crop_and_resize(const CallSite& call) {
  if (in_plain_layouts(call, "NCHW")) return infer_composed(call);
  const auto x = operand(call, 0), boxes = operand(call, 1), pictures = operand(call, 2);
  require_numeric(call, x);
  require_rank(call, x, 4);
  require_float(call, boxes);
  require_rank(call, boxes, 2);
  require_integer(call, pictures);
  require_rank(call, pictures, 1);
  if (differ(call, boxes.dims()[1], 4))
    call.fail(ErrorCode::ShapeMismatch, "{} must be (n, 4), it is {}", boxes.name, dims_text(boxes.dims()));
  demand_equal(call, "numbers of boxes", boxes, boxes.dims()[0], pictures, pictures.dims()[0]);
  const auto size = call.integers("crop_size");
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    call.fail(ErrorCode::InvalidArgument, "crop_size must be two numbers of 1 or more");
  const std::string method = call.text("method");
  if (method != "bilinear" && method != "nearest_neighbor")
    call.fail(ErrorCode::InvalidArgument, "method is \"{}\", possible are \"bilinear\" and \"nearest_neighbor\"",
              method);
  const DType dtype = dtype_of(call, "out_dtype");
  return tensor_info(dtype == DType::None ? x.dtype() : dtype, Dims{boxes.dims()[0], x.dims()[1], size[0], size[1]});
}

Meaning define_crop_and_resize(const CallSite& call) {
  if (auto plain = in_plain_layouts(call, "NCHW")) return *std::move(plain);
  OpFunc f(call);
  const Dims dims = f.dims(f.in());
  const DType real = f.dtype(f.in()) == DType::Float64 ? DType::Float64 : DType::Float32;
  const bool nearest = call.text("method") == "nearest_neighbor";
  const auto size = call.integers("crop_size");
  f.require_size(1, 1, 4);
  f.require_size(2, 0, f.dims(f.in(1))[0]);
  f.nest(f.dims(f.out()), [&](const Indices& i) {
    std::vector<tir::Stmt> body;
    const auto bound = [&](const char* name, const Element& value) {
      const auto var = tir::make_let(name, value.dtype());
      body.push_back(tir::let(var, value.expr));
      return var;
    };
    const auto picture = bound("picture", cast(DType::Int64, f.load(f.in(2), {i[0]})));
    struct Place {
      PrimExpr first, second;
      Element share, outside;
    };
    const auto place = [&](size_t d) {
      const auto edge = [&](int64_t k) { return cast(real, f.load(f.in(1), {i[0], PrimExpr(k)})); };
      const auto side = static_cast<int64_t>(d);
      const Element from = edge(side), to = edge(side + 2), last = element(real, dims[2 + d] - 1);
      const Element along = element(real, i[2 + d]) * (1.0 / static_cast<double>(std::max<int64_t>(size[d] - 1, 1)));
      const Element at = size[d] > 1 ? from * last + (to - from) * last * along : (from + to) * last * 0.5;
      const Element position = {tir::let_value(bound("at", at))};
      const auto clamped = [&](const char* name, const Element& p) {
        const Element whole = cast(DType::Int64, p);
        return PrimExpr(
            bound(name, max(min(whole, element(DType::Int64, dims[2 + d] - 1)), element(DType::Int64, PrimExpr(0))))
                ->index);
      };
      const Element below = apply(tir::ExprOp::Floor, nearest ? position + 0.5 : position);
      return Place{clamped("first", below), clamped("second", below + 1.0), position - below,
                   either(position < 0, last < position)};
    };
    const Place row = place(0), column = place(1);
    const auto pixel = [&](const PrimExpr& r, const PrimExpr& c) {
      return cast(real, f.load(f.in(), {PrimExpr(picture->index), i[1], r, c}));
    };
    Element value = pixel(row.first, column.first);
    if (!nearest) {
      const auto mixed = [](const Element& a, const Element& b, const Element& share) {
        return a * (1.0 - share) + b * share;
      };
      value = mixed(mixed(value, pixel(row.first, column.second), column.share),
                    mixed(pixel(row.second, column.first), pixel(row.second, column.second), column.share), row.share);
    }
    value = select(either(row.outside, column.outside), element(real, call.number("extrapolation_value")), value);
    body.push_back(tir::store(f.out(), i, cast(f.dtype(f.out()), value).expr));
    return body;
  });
  return f.finish();
}

// Convolution whose window's elements are moved by the offset, rows before columns.
Meaning define_deformable_conv2d(const CallSite& call) {
  if (auto plain = in_plain_form(call, "NCHW", "OIHW")) return *std::move(plain);
  const auto x = operand(call, 0), offset = operand(call, 1), w = operand(call, 2);
  require_float(call, x);
  for (const auto* y : {&offset, &w}) {
    require_rank(call, *y, 4);
    require_same_dtype(call, x, *y);
  }
  require_rank(call, x, 4);
  const auto list = [](const auto& values) {
    Dims dims(values.begin(), values.end());
    return make_call("shape_to_tensor", {make_shape(std::move(dims))});
  };
  return make_builtin("deform_conv",
                      {call.arg(0), call.arg(2), call.arg(1), make_none(), list(pair_attr(call, "strides", 1)),
                       list(padding_attr(call)), list(pair_attr(call, "dilation", 1)),
                       make_prim(call.integer("groups")), make_prim(call.integer("deformable_groups"))},
                      tensor_like(x, {x.dims()[0], w.dims()[0], offset.dims()[2], offset.dims()[3]}));
}

// The buffer with the data behind it, as long as it was: its first elements are lost.
Meaning define_fifo_buffer(const CallSite& call) {
  const auto x = operand(call, 0), buffer = operand(call, 1);
  require_same_dtype(call, x, buffer);
  require_rank(call, buffer, x.rank());
  const int64_t axis = call.axis("axis", x.rank());
  const PrimExpr gone = x.dims()[static_cast<size_t>(axis)], size = buffer.dims()[static_cast<size_t>(axis)];
  const Expr all = make_call("concat", {make_tuple({call.arg(1), call.arg(0)})}, {{"axis", axis}});
  return make_call("strided_slice", {all, make_shape({gone}), make_shape({simplify(gone + size)})},
                   {{"axes", std::vector<int64_t>{axis}}});
}

// x with `src` in every step-th place from start to before end along an axis.
Meaning define_slice_scatter(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto axis = static_cast<size_t>(call.axis("axis", x.rank()));
  const auto number = [&](std::string_view name, size_t i) {
    const Dims values = dims_of(call, name, i);
    if (values.size() != 1 || !values[0].as_const())
      call.fail(ErrorCode::Unsupported, "{} must be a number known at compile time", name);
    return *values[0].as_const();
  };
  std::vector<int64_t> begin(axis + 1, 0), end(axis + 1, INT32_MAX), strides(axis + 1, 1);
  begin[axis] = number("start", 2);
  end[axis] = number("end", 3);
  if (given(call, 4)) strides[axis] = number("step", 4);
  return make_call("strided_set", {call.arg(0), call.arg(1)}, {{"begin", begin}, {"end", end}, {"strides", strides}});
}

}  // namespace ingot::ops
