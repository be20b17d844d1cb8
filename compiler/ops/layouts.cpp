#include "compiler/ops/layouts.h"

#include <charconv>
#include <set>

#include "compiler/ops/functions.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

namespace {

struct Axis {
  char letter;        // a capital
  int64_t block = 0;  // elements of a block along this dimension; 0: the dimension itself, or its blocks
};

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::vector<Axis> parse_layout(const CallSite& call, const std::string& layout) {
  const auto refuse = [&] {
    call.fail(ErrorCode::InvalidArgument,
              "layout \"{}\": each dimension is a capital letter; \"16c\" are blocks of 16 of dimension C, once",
              layout);
  };
  std::vector<Axis> axes;
  std::set<char> seen;  // a block as the small letter
  for (size_t i = 0; i < layout.size();) {
    Axis axis{layout[i]};
    if (is_digit(axis.letter)) {
      const auto parsed = std::from_chars(&layout[i], layout.data() + layout.size(), axis.block);
      i = static_cast<size_t>(parsed.ptr - layout.data());
      if (parsed.ec != std::errc{} || axis.block < 1 || axis.block > INT32_MAX || i == layout.size()) refuse();
      axis.letter = static_cast<char>(layout[i] - 'a' + 'A');
    }
    ++i;
    if (!is_capital(axis.letter) ||
        !seen.insert(axis.block == 0 ? axis.letter : static_cast<char>(axis.letter - 'A' + 'a')).second)
      refuse();
    axes.push_back(axis);
  }
  for (const Axis& axis : axes)
    if (axis.block != 0 && !seen.contains(axis.letter)) refuse();
  return axes;
}

std::optional<size_t> find_axis(const std::vector<Axis>& axes, char letter, bool block) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].letter == letter && (axes[i].block != 0) == block) return i;
  return std::nullopt;
}

Expr transposed(const Expr& x, const std::vector<int64_t>& order) {
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<int64_t>(i)) return make_call("transpose", {x}, {{"axes", order}});
  return x;
}

Expr reshaped(const Expr& x, Dims dims) {
  return make_call("reshape", {x, make_shape(std::move(dims))}, {{"allowzero", true}});
}

std::string_view data_attribute(const CallSite& call) {
  for (const auto line : call.op().attributes)
    if (names_attribute(line, "data_layout")) return "data_layout";
  return "layout";
}

// The attribute where it names another layout than `plain`; empty otherwise.
std::string other(const CallSite& call, std::string_view attribute, std::string_view plain) {
  bool known = false;
  for (const auto line : call.op().attributes) known = known || names_attribute(line, attribute);
  if (!known || !call.has_attr(attribute)) return {};
  std::string layout = call.text(attribute);
  return layout == plain ? std::string() : layout;
}

Expr transformed(const Expr& x, std::string_view from, std::string_view to) {
  if (from == to) return x;
  return make_call("layout_transform", {x}, {{"src_layout", std::string(from)}, {"dst_layout", std::string(to)}});
}

// Holds `a` all values of `b`, or more of them than the other way round?
bool as_wide(DType a, DType b) {
  if (is_float(a) != is_float(b)) return is_float(a);
  return dtype_bytes(a) >= dtype_bytes(b);
}

}  // namespace

// Blocks are joined with their dimensions, those are put into order and split again.
Meaning define_layout_transform(const CallSite& call) {
  const auto x = operand(call, 0);
  const std::string source = call.text("src_layout"), target = call.text("dst_layout");
  const auto from = parse_layout(call, source), to = parse_layout(call, target);
  require_rank(call, x, from.size());
  std::vector<int64_t> joined_order, split_order;
  Dims joined, split;
  for (const Axis& axis : to) {
    if (axis.block != 0) continue;
    const auto at = find_axis(from, axis.letter, false), block = find_axis(from, axis.letter, true);
    if (!at) call.fail(ErrorCode::InvalidArgument, "\"{}\" and \"{}\" do not name the same dimensions", source, target);
    joined_order.push_back(static_cast<int64_t>(*at));
    PrimExpr size = x.dims()[*at];
    if (block) {
      const int64_t elements = from[*block].block;
      if (differ(call, x.dims()[*block], elements))
        call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {}, layout \"{}\" says {}", *block, x.name,
                  to_text(x.dims()[*block]), source, elements);
      joined_order.push_back(static_cast<int64_t>(*block));
      size = simplify(size * elements);
    }
    joined.push_back(size);
    if (const auto parts = find_axis(to, axis.letter, true)) {
      const int64_t elements = to[*parts].block;
      if (differ(call, floor_mod(size, elements), 0))
        call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {}, which blocks of {} do not divide", axis.letter,
                  x.name, to_text(size), elements);
      split.push_back(simplify(floor_div(size, elements)));
      split.emplace_back(elements);
    } else {
      split.push_back(size);
    }
  }
  if (joined_order.size() != from.size())
    call.fail(ErrorCode::InvalidArgument, "\"{}\" and \"{}\" do not name the same dimensions", source, target);
  for (const Axis& axis : to) {
    size_t place = 0;
    for (const Axis& before : to) {
      if (before.block != 0) continue;
      if (before.letter == axis.letter) break;
      place += find_axis(to, before.letter, true) ? 2 : 1;
    }
    split_order.push_back(static_cast<int64_t>(place + (axis.block != 0 ? 1 : 0)));
  }
  Expr result = transposed(call.arg(0), joined_order);
  if (joined.size() != from.size()) result = reshaped(result, joined);
  if (split.size() != joined.size()) result = reshaped(result, split);
  result = transposed(result, split_order);
  return result;
}

std::optional<Expr> in_plain_layouts(const CallSite& call, std::string_view data, std::string_view kernel) {
  const std::string_view attribute = data_attribute(call);
  const std::string from = other(call, attribute, data), of_kernel = other(call, "kernel_layout", kernel);
  std::string out = other(call, "out_layout", data);
  if (out.empty() && (!call.has_attr("out_layout") || call.text("out_layout").empty())) out = from;
  if (from.empty() && of_kernel.empty() && out.empty()) return std::nullopt;
  Attrs attrs = call.attrs();
  for (const std::string_view name : {attribute, std::string_view("kernel_layout"), std::string_view("out_layout")})
    attrs.erase(std::string(name));
  std::vector<Expr> args;
  for (size_t i = 0; i < call.size(); ++i) args.push_back(call.arg(i));
  if (!from.empty()) args[0] = transformed(args[0], from, data);
  if (!of_kernel.empty()) args[1] = transformed(args[1], of_kernel, kernel);
  const Expr result = make_call(call.op().name, std::move(args), std::move(attrs));
  return out.empty() ? result : transformed(result, data, out);
}

std::optional<Expr> in_out_dtype(const CallSite& call) {
  const DType out = dtype_of(call, "out_dtype");
  if (out == DType::None) return std::nullopt;
  DType wide = out;
  bool differs = false;
  std::vector<size_t> tensors;
  for (size_t i = 0; i < call.size(); ++i) {
    if (!given(call, i) || call.info(i) == nullptr || call.info(i)->kind != InfoKind::Tensor) continue;
    const auto x = operand(call, i);
    require_numeric(call, x);
    tensors.push_back(i);
    if (!as_wide(wide, x.dtype())) wide = x.dtype();
    differs = differs || x.dtype() != out;
  }
  if (!differs) return std::nullopt;
  std::vector<Expr> args;
  for (size_t i = 0; i < call.size(); ++i) args.push_back(call.arg(i));
  for (const size_t i : tensors)
    if (operand(call, i).dtype() != wide) args[i] = make_call("cast", {args[i]}, {{"dtype", wide}});
  Attrs attrs = call.attrs();
  attrs.erase("out_dtype");
  const Expr result = make_call(call.op().name, std::move(args), std::move(attrs));
  return wide == out ? result : make_call("cast", {result}, {{"dtype", out}});
}

std::optional<Expr> in_plain_form(const CallSite& call, std::string_view data, std::string_view kernel) {
  if (auto plain = in_plain_layouts(call, data, kernel)) return plain;
  return in_out_dtype(call);
}

}  // namespace ingot::ops
