#include <cmath>

#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/quantized.h"

// Relay's qnn operators on elements, rows and windows.
namespace ingot::ops {

using namespace ir;

namespace {

DType out_dtype(const CallSite& call) {
  const DType to = call.dtype_attr("out_dtype");
  if (!is_integer(to) || dtype_bytes(to) > 4 || to == DType::UInt32)
    call.fail(ErrorCode::InvalidArgument, "out_dtype is {}, possible are int8, uint8, int16, uint16 and int32",
              dtype_name(to));
  return to;
}

Expr sum_of(const Expr& x, const Expr& y) { return make_call("add", {x, y}); }
Expr difference(const Expr& x, const Expr& y) { return make_call("subtract", {x, y}); }

Expr as_scalar(const CallSite& call, const Parameter& p, DType dtype) {
  require_scalar(call, p);
  return converted(make_call("reshape", {p.value, make_shape({})}), dtype);
}

// Data of argument 0 in the encoding of arguments 1 and 2, brought into that of arguments 3 and 4.
struct Unary {
  Operand x;
  Encoding from, to;
};

Unary unary(const CallSite& call) {
  Unary u{quantized_operand(call, 0), encoding_at(call, 1), encoding_at(call, 3)};
  for (const auto* p : {&u.from.scale, &u.from.zero, &u.to.scale, &u.to.zero}) require_scalar(call, *p);
  return u;
}

}  // namespace

Meaning define_qnn_requantize(const CallSite& call) {
  const auto x = operand(call, 0);
  require_integer(call, x);
  const auto or_default = [&](std::string_view name, std::string_view fallback) {
    std::string text = call.text(name);
    return text == "None" || text.empty() ? std::string(fallback) : text;
  };
  return requantized(
      call, call.arg(0), x, encoding_at(call, 1), encoding_at(call, 3),
      {call.integer("axis"), or_default("rounding", "UPWARD"), or_default("compute_dtype", "int64"), out_dtype(call)});
}

// Of "qnn_add" and "qnn_subtract": both sides in the encoding of the result.
Meaning define_qnn_sum(const CallSite& call) {
  const auto x = quantized_operand(call, 0), y = quantized_operand(call, 1);
  require_same_dtype(call, x, y);
  const Encoding to = encoding_at(call, 6);
  const Expr left = requantized(call, call.arg(0), x, encoding_at(call, 2), to, {call.integer("lhs_axis")});
  const Expr right = requantized(call, call.arg(1), y, encoding_at(call, 4), to, {call.integer("rhs_axis")});
  const Expr zero = as_scalar(call, to.zero, DType::Int32);
  const bool adds = call.op().name == "qnn_add";
  return narrowed(adds ? difference(sum_of(left, right), zero) : sum_of(difference(left, right), zero), x.dtype());
}

Meaning define_qnn_multiply(const CallSite& call) {
  const auto x = quantized_operand(call, 0), y = quantized_operand(call, 1);
  require_same_dtype(call, x, y);
  const Encoding of_x = encoding_at(call, 2), of_y = encoding_at(call, 4);
  const int64_t x_axis = call.integer("lhs_axis"), y_axis = call.integer("rhs_axis");
  const bool vectors = of_x.scale.info.rank() + of_y.scale.info.rank() != 0;
  if (vectors && (x_axis != y_axis || x.rank() != y.rank()))
    call.fail(ErrorCode::Unsupported, "scales along axes {} and {} of ranks {} and {}; they must be the same", x_axis,
              y_axis, x.rank(), y.rank());
  const Operand& wider = x.rank() >= y.rank() ? x : y;
  const Expr product = make_call(
      "multiply", {centred(call, call.arg(0), x, of_x.zero, x_axis), centred(call, call.arg(1), y, of_y.zero, y_axis)});
  const auto& scale = of_x.scale.info.rank() != 0 ? of_x.scale.info : of_y.scale.info;
  const Encoding both = {{multiplied(of_x.scale, of_y.scale), scale}, constant_parameter(DType::Int32, 0)};
  return requantized(call, product, wider, both, encoding_at(call, 6), {x_axis, "UPWARD", "int64", x.dtype()});
}

// Of the functions of one number: computed in float32 in between.
Meaning define_qnn_unary(const CallSite& call) {
  const Unary u = unary(call);
  std::string_view op = call.op().name;
  op.remove_prefix(std::string_view("qnn_").size());
  const Expr real = make_call("dequantize", {call.arg(0), as_scalar(call, u.from.scale, DType::Float32),
                                             as_scalar(call, u.from.zero, DType::Int32)});
  return make_call("quantize",
                   {make_call(op == "hardswish" ? "hard_swish" : op, {real}),
                    as_scalar(call, u.to.scale, DType::Float32), as_scalar(call, u.to.zero, DType::Int32)},
                   {{"out_dtype", u.x.dtype()}});
}

// Below the zero point alpha * x + (1 - alpha) * zero point, in the encoding of the result.
Meaning define_qnn_leaky_relu(const CallSite& call) {
  const Unary u = unary(call);
  const double alpha = call.number("alpha");
  const Expr x = requantized(call, call.arg(0), u.x, u.from, u.to, {});
  const Expr below = sum_of(times(x, alpha), times(as_scalar(call, u.to.zero, DType::Int32), 1 - alpha));
  const Expr is_below =
      make_call("less", {converted(call.arg(0), DType::Int32), as_scalar(call, u.from.zero, DType::Int32)});
  return narrowed(make_call("where", {is_below, below, x}), u.x.dtype());
}

// By shifts and one division: exp(x) as powers of two times a line in between (arXiv:2207.01405, algorithm 1).
Meaning define_qnn_softmax(const CallSite& call) {
  const Unary u = unary(call);
  if (u.x.dtype() != DType::Int8)
    call.fail(ErrorCode::TypeError, "{} must be int8, it is {}", u.x.name, dtype_name(u.x.dtype()));
  const int64_t axis = call.axis("axis", u.x.rank());
  const auto integer = [](int64_t value) { return scalar(DType::Int32, static_cast<double>(value)); };
  const auto reduce = [&](std::string_view op, const Expr& x) {
    return make_call(op, {x}, {{"axis", axis}, {"keepdims", true}});
  };
  const auto shifted = [&](const Expr& x, int64_t places) { return make_call("right_shift", {x, integer(places)}); };
  const Expr steps = make_call("divide", {scalar(DType::Float32, 1), as_scalar(call, u.from.scale, DType::Float32)});
  const Expr unit = converted(make_call("floor", {sum_of(steps, scalar(DType::Float32, 0.5))}), DType::Int32);
  const Expr data = difference(converted(call.arg(0), DType::Int32), as_scalar(call, u.from.zero, DType::Int32));
  const Expr x = difference(data, reduce("max", data));
  const Expr power = difference(sum_of(x, shifted(x, 1)), shifted(x, 4));
  const Expr minus_unit = make_call("negative", {unit});
  const Expr whole = make_call("clip", {make_call("divide", {power, minus_unit})}, {{"a_min", 0.0}, {"a_max", 20.0}});
  const Expr rest = difference(power, make_call("multiply", {whole, minus_unit}));
  const Expr line = sum_of(shifted(rest, 1), unit);
  const Expr exps = make_call("left_shift", {line, difference(reduce("max", whole), whole)});
  const Expr share = make_call("divide", {integer(1 << 30), reduce("sum", exps)});
  const Expr result = shifted(make_call("multiply", {share, exps}), 23);
  const Encoding from = {constant_parameter(DType::Float32, 1.0 / 128), constant_parameter(DType::Int32, 0)};
  return requantized(call, result, u.x, from, u.to, {0, "UPWARD", "int64", DType::Int8});
}

Meaning define_qnn_avg_pool2d(const CallSite& call) {
  const Unary u = unary(call);
  const Expr x = requantized(call, call.arg(0), u.x, u.from, u.to, {});
  Attrs attrs = call.attrs();
  if (!attrs.contains("layout")) attrs["layout"] = call.text("layout");
  attrs["count_include_pad"] = call.flag("count_include_pad");
  return narrowed(make_call("avg_pool2d", {x}, std::move(attrs)), u.x.dtype());
}

Meaning define_qnn_concatenate(const CallSite& call) {
  const auto xs = operand_list(call, 0), scales = operand_list(call, 1), zeros = operand_list(call, 2);
  if (scales.size() != xs.size() || zeros.size() != xs.size())
    call.fail(ErrorCode::ArityMismatch, "{} tensors have {} scales and {} zero points", xs.size(), scales.size(),
              zeros.size());
  const auto data = field_exprs(call, 0), scale = field_exprs(call, 1), zero = field_exprs(call, 2);
  const Encoding to = encoding_at(call, 3);
  std::vector<Expr> parts;
  for (size_t i = 0; i < xs.size(); ++i) {
    require_integer(call, xs[i]);
    require_float(call, scales[i]);
    require_integer(call, zeros[i]);
    const Encoding from = {{scale[i], scales[i]}, {zero[i], zeros[i]}};
    for (const auto* p : {&from.scale, &from.zero}) require_scalar(call, *p);
    parts.push_back(requantized(call, data[i], xs[i], from, to, {-1, "UPWARD", "int64", xs[i].dtype()}));
  }
  return make_call("concat", {make_tuple(std::move(parts))}, {{"axis", call.integer("axis")}});
}

namespace {

// Which integers are simulated: none, int8, uint8 or int32, by number or by name.
constexpr std::string_view kSimulated[] = {"disable", "int8", "uint8", "int32"};

Expr simulated_code(const CallSite& call) {
  const auto* text = as<String>(call.arg(1));
  const auto* dtype = as<DataType>(call.arg(1));
  if (text == nullptr && dtype == nullptr) {
    const auto code = operand(call, 1);
    require_integer(call, code);
    require_rank(call, code, 0);
    return converted(call.arg(1), DType::Int32);
  }
  const std::string name = text != nullptr ? text->value : std::string(dtype_name(dtype->value));
  for (size_t i = 0; i < std::size(kSimulated); ++i)
    if (name == kSimulated[i]) return scalar(DType::Int32, static_cast<double>(i));
  call.fail(ErrorCode::InvalidArgument,
            "argument 1 is \"{}\", possible are \"disable\", \"int8\", \"uint8\" and \"int32\"", name);
}

}  // namespace

// Of "qnn_simulated_quantize" and "qnn_simulated_dequantize": the numbers that quantisation would give, as floats.
Meaning define_qnn_simulated(const CallSite& call) {
  const auto x = operand(call, 0);
  require_float(call, x);
  const Encoding encoding = {scale_at(call, 2), parameter_at(call, 3)};
  const int64_t axis = call.integer("axis");
  const Expr code = simulated_code(call);
  const Expr scale = converted(beside(call, encoding.scale, axis, x), x.dtype());
  const Expr zero = converted(beside(call, encoding.zero, axis, x), x.dtype());
  const auto is = [&](int64_t n) { return make_call("equal", {code, scalar(DType::Int32, static_cast<double>(n))}); };
  const auto number = [&](double value) { return scalar(x.dtype(), value); };
  Expr result;
  if (call.op().name == "qnn_simulated_quantize") {
    const auto bound = [&](double int8, double uint8, double int32) {
      return make_call("where", {is(1), number(int8), make_call("where", {is(2), number(uint8), number(int32)})});
    };
    const Expr value = sum_of(make_call("round", {make_call("divide", {call.arg(0), scale})}), zero);
    result =
        make_call("maximum", {make_call("minimum", {value, bound(127, 255, INT32_MAX)}), bound(-128, 0, INT32_MIN)});
  } else {
    result = make_call("multiply", {difference(call.arg(0), zero), scale});
  }
  const Expr known = make_call("logical_and", {make_call("less", {scalar(DType::Int32, 0), code}),
                                               make_call("less_equal", {code, scalar(DType::Int32, 3)})});
  return make_call("where", {known, result, call.arg(0)});
}

namespace {

// Where output channels lie in a layout of kernels.
int64_t output_axis(const CallSite& call, const std::string& layout) {
  const size_t at = layout.find('O');
  if (at == std::string::npos)
    call.fail(ErrorCode::InvalidArgument, "kernel_layout \"{}\" names no dimension O", layout);
  return static_cast<int64_t>(at);
}

Attrs without(const CallSite& call, std::initializer_list<std::string_view> names) {
  Attrs attrs = call.attrs();
  for (const auto name : names) attrs.erase(std::string(name));
  return attrs;
}

// The sums of products of centred integers: arguments 2 and 3 are the zero points, 4 and 5 scales of which the result
// does not depend.
Meaning product(const CallSite& call, std::string_view op, const Expr& weight, const Operand& w, int64_t axis,
                Attrs attrs) {
  const auto x = quantized_operand(call, 0);
  const Parameter zero = zero_at(call, 2), weight_zero = zero_at(call, 3);
  require_scalar(call, zero);
  require_scalar(call, scale_at(call, 4));
  scale_at(call, 5);
  const DType to = call.dtype_attr("out_dtype");
  if (!is_signed_int(to) || dtype_bytes(to) < 2)
    call.fail(ErrorCode::InvalidArgument, "out_dtype is {}, possible are int16, int32 and int64", dtype_name(to));
  Expr left = centred(call, call.arg(0), x, zero, -1), right = centred(call, weight, w, weight_zero, axis);
  if (to == DType::Int64) {
    left = converted(left, to);
    right = converted(right, to);
  }
  const Expr sum = make_call(op, {left, right}, std::move(attrs));
  return to == DType::Int16 ? converted(sum, to) : sum;
}

}  // namespace

// Of "qnn_conv2d" and "qnn_conv2d_transpose".
Meaning define_qnn_conv(const CallSite& call) {
  const bool transposed = call.op().name == "qnn_conv2d_transpose";
  return product(call, transposed ? "conv2d_transpose" : "conv2d", call.arg(1), quantized_operand(call, 1),
                 output_axis(call, call.text("kernel_layout")), without(call, {"out_dtype"}));
}

Meaning define_qnn_dense(const CallSite& call) {
  return product(call, "dense", call.arg(1), quantized_operand(call, 1), 0, without(call, {"out_dtype"}));
}

Meaning define_qnn_batch_matmul(const CallSite& call) {
  require_scalar(call, zero_at(call, 3));
  return product(call, "batch_matmul", call.arg(1), quantized_operand(call, 1), -1, without(call, {"out_dtype"}));
}

namespace {

// The weight of "contrib_dense_pack" as (units, inputs).
std::pair<Expr, Operand> unpacked_weight(const CallSite& call, std::string_view attribute) {
  const auto w = operand(call, 1);
  const std::string layout = call.text(attribute);
  if (layout == "NC") return {call.arg(1), w};
  const Expr plain =
      make_call("layout_transform", {call.arg(1)}, {{"src_layout", layout}, {"dst_layout", std::string("NC")}});
  if (w.rank() != 4) require_rank(call, w, 3);
  // Blocks stand behind: NC32n4c, NC8n.
  const bool n_first = layout.find('n') < layout.find('c');
  Dims dims = {w.dims()[0], w.dims()[1]};
  size_t next = 2;
  for (const char letter : n_first ? std::string("nc") : std::string("cn"))
    if (layout.find(letter) != std::string::npos && next < w.rank())
      dims[letter == 'n' ? 0 : 1] = dims[letter == 'n' ? 0 : 1] * w.dims()[next++];
  return {plain, {w.name, tensor_info(w.dtype(), dims)}};
}

}  // namespace

Meaning define_qnn_dense_pack(const CallSite& call) {
  quantized_operand(call, 1);
  const auto [weight, w] = unpacked_weight(call, "kernel_layout");
  return product(call, "dense", weight, w, 0, without(call, {"out_dtype", "kernel_layout"}));
}

Meaning define_dense_pack(const CallSite& call) {
  return make_call("dense", {call.arg(0), unpacked_weight(call, "weight_layout").first},
                   without(call, {"weight_layout"}));
}

}  // namespace ingot::ops
