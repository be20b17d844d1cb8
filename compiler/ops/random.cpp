#include <cmath>
#include <numbers>

#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

// Random numbers of a counter (Threefry-4x64 with 20 rounds, as Relay has it): a key of ten uint64 (key of four words,
// path of two, counter of two, the next step of the path of two) gives numbers and the next key. No state anywhere.
namespace ingot::ops {

using namespace ir;
using tir::ExprOp;
using tir::Indices;

namespace {

constexpr size_t kWords = 4;
using Words = std::array<Element, kWords>;

// A word as it is, whatever its size.
Element word(uint64_t value) { return {tir::constant_int(DType::UInt64, static_cast<int64_t>(value))}; }
Element number(int64_t value) { return word(static_cast<uint64_t>(value)); }

// Values with names, in front of the statements that use them.
class Named {
 public:
  Element operator()(const Element& value) {
    const auto var = tir::make_let("w", value.dtype());
    statements_.push_back(tir::let(var, value.expr));
    return {tir::let_value(var)};
  }
  std::vector<tir::Stmt>& statements() { return statements_; }

 private:
  std::vector<tir::Stmt> statements_;
};

Words hashed(Named& named, const Words& key, Words x) {
  constexpr int kRotations[8][2] = {{14, 16}, {52, 57}, {23, 40}, {5, 37}, {25, 33}, {46, 12}, {58, 22}, {32, 32}};
  Element last = word(0x1BD11BDAA9FC1A22);
  for (const Element& k : key) last = named(apply(ExprOp::BitXor, last, k));
  const auto key_word = [&](size_t i) { return i % (kWords + 1) == kWords ? last : key[i % (kWords + 1)]; };
  for (size_t group = 0; group < 5; ++group) {
    for (size_t j = 0; j < kWords; ++j) {
      x[j] = x[j] + key_word(group + j);
      if (j + 1 == kWords) x[j] = x[j] + number(static_cast<int64_t>(group));
      x[j] = named(x[j]);
    }
    for (size_t k = 0; k < 4; ++k) {
      for (size_t j = 0; j < 2; ++j) {
        Element &a = x[2 * j], &b = x[2 * j + 1];
        const int turn = kRotations[(group * 4 + k) % 8][j];
        const Element turned = apply(
            ExprOp::BitOr, apply(ExprOp::ShiftLeft, b, number(turn)),
            apply(ExprOp::BitAnd, apply(ExprOp::ShiftRight, b, number(64 - turn)), word((uint64_t{1} << turn) - 1)));
        const Element sum = named(a + b);
        b = named(apply(ExprOp::BitXor, sum, turned));
        a = sum;
      }
      std::swap(x[1], x[3]);
    }
  }
  return x;
}

using Key = std::array<Element, 10>;

Key load_key(OpFunc& f, Named& named) {
  Key key;
  for (size_t i = 0; i < key.size(); ++i) key[i] = named(f.load(f.in(), {PrimExpr(static_cast<int64_t>(i))}));
  return key;
}

// The step of the path behind this one.
std::pair<Element, Element> next_step(Named& named, const Element& a, const Element& b) {
  const Element one = number(1), zero = number(0);
  const Element half_b = apply(ExprOp::BitAnd, apply(ExprOp::ShiftRight, b, one), word(~uint64_t{0} >> 1));
  const Element half_a = apply(ExprOp::BitAnd, apply(ExprOp::ShiftRight, a, one), word(~uint64_t{0} >> 1));
  const Element next_a = named(select(equal(a, one), zero, half_a));
  const Element next_b = named(select(equal(a, one), word(uint64_t{1} << 63), select(equal(a, zero), half_b, zero)));
  return {next_a, next_b};
}

Words first_words(const Key& key) { return {key[0], key[1], key[2], key[3]}; }
Words counters(const Key& key) { return {key[4], key[5], key[6], key[7]}; }

// The key itself where its counter has room for so many numbers, else one with a new path, or a new key.
Key with_room(Named& named, const Key& key, int64_t count) {
  const Element zero = number(0), ones = word(~uint64_t{0});
  const Element fits = named(key[7] < named(ones - number(count)));
  const Element no_path = named(both(equal(key[8], zero), equal(key[9], zero)));
  const Words fresh = hashed(named, first_words(key), {ones, ones, ones, ones});
  const auto [step_a, step_b] = next_step(named, key[8], key[9]);
  const auto chosen = [&](size_t i, const Element& of_path, const Element& of_key) {
    return named(select(fits, key[i], select(no_path, of_key, of_path)));
  };
  Key result;
  for (size_t i = 0; i < 4; ++i) result[i] = chosen(i, key[i], fresh[i]);
  result[4] = chosen(4, apply(ExprOp::BitOr, key[4], key[8]), zero);
  result[5] = chosen(5, apply(ExprOp::BitOr, key[5], key[9]), zero);
  result[6] = chosen(6, zero, zero);
  result[7] = chosen(7, zero, zero);
  result[8] = chosen(8, step_a, word(uint64_t{1} << 63));
  result[9] = chosen(9, step_b, zero);
  return result;
}

void require_key(const CallSite& call, const Operand& key) {
  require_rank(call, key, 1);
  if (key.dtype() != DType::UInt64 || differ(call, key.dims()[0], 10))
    call.fail(ErrorCode::TypeError, "{} must be a key: 10 elements of uint64, it is {}", key.name, to_text(key.info));
}

int64_t asked_count(const CallSite& call, const Dims& dims) {
  const auto count = product(dims).as_const();
  if (!count) call.fail(ErrorCode::Unsupported, "out_shape is {}; it must be known", dims_text(dims));
  if (*count < 0 || *count > INT32_MAX)
    call.fail(ErrorCode::InvalidArgument, "out_shape {} has {} elements, {} are the most", dims_text(dims), *count,
              INT32_MAX);
  return *count;
}

StructInfo key_info() { return tensor_info(DType::UInt64, Dims{10}); }

void store_key(OpFunc& f, size_t result, Named& named, const Key& key) {
  for (size_t i = 0; i < key.size(); ++i)
    named.statements().push_back(tir::store(f.out(result), {PrimExpr(static_cast<int64_t>(i))}, key[i].expr));
}

}  // namespace

// (next key, numbers).
StructInfo infer_threefry_numbers(const CallSite& call) {
  require_key(call, operand(call, 0));
  const Dims dims = dims_of(call, "out_shape", 1);
  asked_count(call, dims);
  return tuple_info({key_info(), tensor_info(DType::UInt64, Dims{product(dims)})});
}

Meaning define_threefry_numbers(const CallSite& call) {
  OpFunc f(call);
  const int64_t count = *f.dims(f.out(1))[0].as_const(), whole = count / 4;
  f.require_size(0, 0, 10);
  {
    Named named;
    Key key = with_room(named, load_key(f, named), count);
    key[6] = number(0);
    key[7] = key[7] + number(count % 4 == 0 ? count : whole * 4 + 4);
    store_key(f, 0, named, key);
    for (auto& statement : named.statements()) f.builder().append(std::move(statement));
  }
  const auto block = [&](Named& named, const PrimExpr& index) {
    const Key key = with_room(named, load_key(f, named), count);
    Words x = counters(key);
    for (Element& c : x) c = c + cast(DType::UInt64, element(DType::Int64, index));
    return hashed(named, first_words(key), x);
  };
  if (whole > 0)
    f.builder().append(loop(whole, tir::LoopKind::Serial, [&](const PrimExpr& i) {
      Named named;
      const Words x = block(named, i);
      for (size_t j = 0; j < kWords; ++j)
        named.statements().push_back(tir::store(f.out(1), {i * 4 + static_cast<int64_t>(j)}, x[j].expr));
      return named.statements();
    }));
  if (count % 4 == 0) return f.finish();
  // Those behind the last whole block are of a counter whose last word alone is moved on.
  Named named;
  const Key key = with_room(named, load_key(f, named), count);
  Words x = counters(key);
  x[3] = x[3] + number(whole * 4);
  x = hashed(named, first_words(key), x);
  for (int64_t j = 0; j < count % 4; ++j)
    named.statements().push_back(tir::store(f.out(1), {PrimExpr(whole * 4 + j)}, x[static_cast<size_t>(j)].expr));
  for (auto& statement : named.statements()) f.builder().append(std::move(statement));
  return f.finish();
}

// Two keys whose numbers have nothing to do with one another.
StructInfo infer_threefry_split(const CallSite& call) {
  require_key(call, operand(call, 0));
  return tuple_info({key_info(), key_info()});
}

Meaning define_threefry_split(const CallSite& call) {
  OpFunc f(call);
  f.require_size(0, 0, 10);
  Named named;
  const Key key = load_key(f, named);
  const Element zero = number(0);
  const Element no_path = named(both(equal(key[8], zero), equal(key[9], zero)));
  const Words fresh = hashed(named, first_words(key), counters(key));
  const auto [step_a, step_b] = next_step(named, key[8], key[9]);
  for (size_t side = 0; side < 2; ++side) {
    Key result;
    const auto chosen = [&](size_t i, const Element& of_path, const Element& of_key) {
      result[i] = named(select(no_path, of_key, of_path));
    };
    for (size_t i = 0; i < 4; ++i) chosen(i, key[i], fresh[i]);
    chosen(4, side == 0 ? key[4] : apply(ExprOp::BitOr, key[4], key[8]), side == 0 ? zero : word(uint64_t{1} << 63));
    chosen(5, side == 0 ? key[5] : apply(ExprOp::BitOr, key[5], key[9]), zero);
    chosen(6, key[6], zero);
    chosen(7, key[7], zero);
    chosen(8, step_a, word(uint64_t{1} << 62));
    chosen(9, step_b, zero);
    store_key(f, side, named, result);
  }
  for (auto& statement : named.statements()) f.builder().append(std::move(statement));
  return f.finish();
}

namespace {

struct Numbers {
  Expr key, values;
};

// Numbers of a shape: their random bits behind the point of a float between 1 and 2, less 1.
Numbers uniform(const CallSite& call, const Dims& dims, DType dtype) {
  if (dtype != DType::Float32 && dtype != DType::Float64)
    call.fail(ErrorCode::Unsupported, "out_dtype is {}, possible are float32 and float64", dtype_name(dtype));
  const bool narrow = dtype == DType::Float32;
  asked_count(call, dims);
  const Expr both = make_call("threefry_numbers", {call.arg(0), make_shape(dims)});
  // The lower word of each number, and of that the upper bits.
  const DType bits = DType::Int64;
  const Expr all = make_call("reinterpret", {field(both, 1)}, {{"dtype", bits}});
  const auto places = [&](int64_t n) { return scalar(bits, static_cast<double>(n)); };
  const int64_t fraction = narrow ? 23 : 52;
  const int64_t width = narrow ? 32 : 64;
  const Expr upper =
      of("bitwise_and", of("right_shift", all, places(width - fraction)), places((int64_t{1} << fraction) - 1));
  const int64_t exponent = narrow ? int64_t{127} << 23 : int64_t{1023} << 52;
  Expr mantissa = of("bitwise_or", upper, places(exponent));
  if (narrow) mantissa = converted(mantissa, DType::Int32);
  const Expr one_and_more = make_call("reinterpret", {mantissa}, {{"dtype", dtype}});
  const Expr values = of("subtract", one_and_more, scalar(dtype, 1));
  return {field(both, 0), make_call("reshape", {values, make_shape(dims)}, {{"allowzero", true}})};
}

DType asked_dtype(const CallSite& call) {
  const DType dtype = dtype_of(call, "out_dtype");
  return dtype == DType::None ? DType::Float32 : dtype;
}

// Argument `i`, a scalar, or the number that stands for it.
Expr scalar_or(const CallSite& call, size_t i, double fallback, DType dtype) {
  if (!given(call, i)) return scalar(dtype, fallback);
  require_rank(call, operand(call, i), 0);
  return converted(call.arg(i), dtype);
}

}  // namespace

Meaning define_threefry_generate(const CallSite& call) {
  require_key(call, operand(call, 0));
  const Dims dims = dims_of(call, "out_shape", 1);
  asked_count(call, dims);
  const Expr both = make_call("threefry_numbers", {call.arg(0), make_shape(dims)});
  return make_tuple({field(both, 0), make_call("reshape", {field(both, 1), make_shape(dims)}, {{"allowzero", true}})});
}

// (next key, numbers from low to before high).
Meaning define_random_uniform(const CallSite& call) {
  require_key(call, operand(call, 0));
  const DType dtype = asked_dtype(call);
  const Numbers n = uniform(call, dims_of(call, "out_shape"), dtype);
  const Expr low = scalar_or(call, 1, 0, dtype), high = scalar_or(call, 2, 1, dtype);
  return make_tuple({n.key, of("add", of("multiply", n.values, of("subtract", high, low)), low)});
}

// (next key, numbers of the normal distribution), by the method of Box and Muller.
Meaning define_random_normal(const CallSite& call) {
  require_key(call, operand(call, 0));
  const DType dtype = asked_dtype(call);
  Dims dims = dims_of(call, "out_shape");
  dims.insert(dims.begin(), PrimExpr(2));
  const Numbers n = uniform(call, dims, dtype);
  const auto half = [&](int64_t k) { return taken(n.values, scalar(DType::Int64, static_cast<double>(k)), 0); };
  const Expr logarithm = make_call("log", {of("subtract", scalar(dtype, 1), half(0))});
  const Expr length = make_call("sqrt", {of("multiply", scalar(dtype, -2), logarithm)});
  const Expr height = make_call("sin", {of("multiply", scalar(dtype, 2 * std::numbers::pi), half(1))});
  const Expr values = of("multiply", of("multiply", length, height), scalar_or(call, 2, 1, dtype));
  return make_tuple({n.key, of("add", values, scalar_or(call, 1, 0, dtype))});
}

// (next key, num_samples indices of each row, as likely as the row's numbers say).
Meaning define_random_multinomial(const CallSite& call) {
  require_key(call, operand(call, 0));
  const auto x = operand(call, 1);
  require_numeric(call, x);
  const int64_t samples = call.integer("num_samples");
  if (x.rank() == 0 || samples < 1)
    call.fail(ErrorCode::InvalidArgument, "{} has rank {}, num_samples is {}; both must be 1 or more", x.name, x.rank(),
              samples);
  Dims dims(x.dims().begin(), x.dims().end() - 1);
  dims.emplace_back(samples);
  const Numbers n = uniform(call, dims, DType::Float32);
  const Expr likely = of("maximum", converted(call.arg(1), DType::Float32), scalar(DType::Float32, 0));
  const Attrs last = {{"axis", int64_t{-1}}, {"keepdims", true}};
  const Expr running =
      make_call("cumsum", {of("divide", likely, make_call("sum", {likely}, last))}, {{"axis", int64_t{-1}}});
  const auto spread = [](const Expr& e, int64_t axis) { return make_call("expand_dims", {e}, {{"axis", axis}}); };
  const Expr distance = of("subtract", spread(running, -1), spread(n.values, -2));
  const Expr above =
      make_call("where", {of("greater", distance, scalar(DType::Float32, 0)), distance, scalar(DType::Float32, 1)});
  return make_tuple({n.key, make_call("argmin", {above}, {{"axis", int64_t{-2}}})});
}

}  // namespace ingot::ops
