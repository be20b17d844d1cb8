#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "runtime/symbolic/simplify.h"

// Arithmetic on integers of few bits, by integers of 32: what it gives, not how fast it could be.
namespace ingot::ops {

using namespace ir;

namespace {

Expr number(int64_t value) { return scalar(DType::Int32, static_cast<double>(value)); }

int64_t bits_of(const CallSite& call, std::string_view name) {
  const int64_t bits = call.integer(name);
  if (bits < 1 || bits > 8) call.fail(ErrorCode::InvalidArgument, "{} is {}, it must be between 1 and 8", name, bits);
  return bits;
}

Expr low_bits(const CallSite& call, size_t i, int64_t bits) {
  require_integer(call, operand(call, i));
  return of("bitwise_and", converted(call.arg(i), DType::Int32), number((int64_t{1} << bits) - 1));
}

// The weight's value: unipolar, the sum of plus or minus each power of two.
Expr weight_of(const CallSite& call) {
  const int64_t bits = bits_of(call, "weight_bits");
  const Expr weight = low_bits(call, 1, bits);
  if (!call.flag("unipolar")) return weight;
  return of("subtract", of("multiply", weight, number(2)), number((int64_t{1} << bits) - 1));
}

}  // namespace

Meaning define_simulated_quantize(const CallSite& call) {
  const auto data = operand(call, 0);
  require_float(call, data);
  for (size_t i = 1; i < 4; ++i) require_same_dtype(call, data, operand(call, i));
  if (!call.flag("sign") || call.text("rounding") != "round")
    call.fail(ErrorCode::Unsupported, "sign is {} and rounding \"{}\", only True and \"round\" are there",
              call.flag("sign") ? "True" : "False", call.text("rounding"));
  if (call.integer("kind") == 0) return make_call("identity", {call.arg(0)});
  const Expr scaled = of("divide", call.arg(0), call.arg(1));
  const Expr bounded = of("maximum", of("minimum", scaled, call.arg(3)), call.arg(2));
  return of("multiply", make_call("round", {bounded}), call.arg(1));
}

Meaning define_bitserial_dense(const CallSite& call) {
  for (const size_t i : {0u, 1u}) require_rank(call, operand(call, i), 2);
  const Expr data = low_bits(call, 0, bits_of(call, "data_bits"));
  return converted(of("dense", data, weight_of(call)), call.dtype_attr("out_dtype"));
}

Meaning define_bitserial_conv2d(const CallSite& call) {
  for (const size_t i : {0u, 1u}) require_rank(call, operand(call, i), 4);
  const Expr data = low_bits(call, 0, bits_of(call, "activation_bits"));
  Attrs attrs;
  for (const char* name : {"strides", "padding", "channels", "kernel_size", "data_layout", "kernel_layout"})
    if (const auto given = call.attrs().find(name); given != call.attrs().end()) attrs[name] = given->second;
  return converted(make_call("conv2d", {data, weight_of(call)}, std::move(attrs)), call.dtype_attr("out_dtype"));
}

Meaning define_bitpack(const CallSite& call) {
  const auto x = operand(call, 0);
  require_integer(call, x);
  const DType word = call.dtype_attr("pack_type");
  const int64_t bits = bits_of(call, "bits"), axis = call.axis("pack_axis", x.rank());
  const int64_t bit_axis = call.axis("bit_axis", x.rank() + 1);
  if (word != DType::UInt8 && word != DType::UInt16 && word != DType::UInt32 && word != DType::UInt64)
    call.fail(ErrorCode::InvalidArgument, "pack_type is {}, it must be an unsigned integer's", dtype_name(word));
  const auto width = static_cast<int64_t>(8 * dtype_bytes(word));
  const auto at = static_cast<size_t>(axis);
  if (differ(call, floor_mod(x.dims()[at], width), 0))
    call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {}, which {} does not divide", axis, x.name,
              to_text(x.dims()[at]), width);
  Dims dims = x.dims(), places(x.rank() + 1, PrimExpr(1));
  dims[at] = simplify(floor_div(dims[at], width));
  dims.insert(dims.begin() + axis + 1, PrimExpr(width));
  places[at + 1] = width;
  const auto reshaped = [](const Expr& e, Dims to) {
    return make_call("reshape", {e, make_shape(std::move(to))}, {{"allowzero", true}});
  };
  const auto shift = [&](double by) { return scalar(word, by); };
  const Expr words = reshaped(converted(call.arg(0), word), dims);
  const Expr rising = make_call("arange", {make_prim(width)}, {{"dtype", word}});
  const Expr place = reshaped(of("subtract", shift(static_cast<double>(width - 1)), rising), places);
  std::vector<Expr> packed;
  for (int64_t b = 0; b < bits; ++b) {
    const Expr bit = of("bitwise_and", of("right_shift", words, shift(static_cast<double>(b))), shift(1));
    packed.push_back(make_call("sum", {of("left_shift", bit, place)}, {{"axis", axis + 1}}));
  }
  return make_call("stack", {make_tuple(std::move(packed))}, {{"axis", bit_axis}});
}

}  // namespace ingot::ops
