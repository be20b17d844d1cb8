#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/attrs.h"
#include "compiler/text/literal.h"
#include "compiler/text/parser_state.h"

namespace ingot::text {
namespace {

// "x|data", of "x|data?" and "x|data...": the names of a parameter.
std::string_view names_of_param(std::string_view line) {
  while (!line.empty() && (line.back() == '.' || line.back() == '?')) line.remove_suffix(1);
  return line;
}

std::string_view bare_param(std::string_view line) { return ir::attribute_name(names_of_param(line)); }

bool takes_any_number(const ir::Op& op) { return !op.params.empty() && op.params.back().ends_with("..."); }

std::string_view bare_attribute(std::string_view line) { return ir::attribute_name(line); }

// The attribute that takes a list where parameter `i` takes a shape: reshape(%x, (2, -1)). Empty where there is none.
std::string_view list_attribute(const ir::Op& op, size_t i) {
  if (i >= op.params.size() || bare_param(op.params[i]) != "shape") return {};
  for (const std::string_view line : op.attributes)
    if (bare_attribute(line) == "newshape" || bare_attribute(line) == "shape") return bare_attribute(line);
  return {};
}

// Does it take a dtype, as opposed to StructInfo?
bool takes_dtype(const ir::Op& op) {
  return std::ranges::any_of(op.attributes,
                             [](std::string_view line) { return bare_attribute(line).ends_with("dtype"); });
}

// What a PrimFunc's scalars are, written as a prim value or a tuple of them: a shape.
ir::Expr as_scalars(const ir::Expr& e) {
  std::vector<PrimExpr> values;
  const auto add = [&](const ir::Expr& field) {
    const auto* prim = ir::as<ir::PrimValue>(field);
    const auto* value = prim == nullptr ? nullptr : std::get_if<PrimExpr>(&prim->value);
    if (value != nullptr) values.push_back(*value);
    return value != nullptr;
  };
  const auto* tuple = ir::as<ir::Tuple>(e);
  const bool scalars = tuple == nullptr ? add(e) : std::ranges::all_of(tuple->fields, add);
  return scalars ? std::make_shared<ir::Shape>(std::move(values), e->span) : e;
}

// A literal as the attribute that it stands for: nullopt where it is no literal.
std::optional<ir::AttrValue> as_attribute(const ir::Expr& e) {
  if (const auto* text = ir::as<ir::String>(e)) return text->value;
  if (const auto* dtype = ir::as<ir::DataType>(e)) return dtype->value;
  if (const auto* constant = ir::as<ir::Constant>(e)) return literal_attribute(*constant->data);
  if (const auto* prim = ir::as<ir::PrimValue>(e)) {
    if (const auto* number = std::get_if<double>(&prim->value)) return *number;
    const auto* expr = std::get_if<PrimExpr>(&prim->value);
    const auto value = expr != nullptr ? expr->as_const() : std::nullopt;
    return value ? std::optional<ir::AttrValue>(*value) : std::nullopt;
  }
  const auto* tuple = ir::as<ir::Tuple>(e);
  const auto* shape = ir::as<ir::Shape>(e);
  std::vector<int64_t> integers;
  std::vector<double> numbers;
  if (shape != nullptr) {
    for (const PrimExpr& dim : shape->dims) {
      const auto value = dim.as_const();
      if (!value) return std::nullopt;
      integers.push_back(*value);
    }
    return integers;
  }
  if (tuple == nullptr) return std::nullopt;
  for (const auto& field : tuple->fields) {
    const auto value = as_attribute(field);
    if (!value) return std::nullopt;
    if (const auto* integer = std::get_if<int64_t>(&*value)) {
      integers.push_back(*integer);
      numbers.push_back(static_cast<double>(*integer));
    } else if (const auto* number = std::get_if<double>(&*value)) {
      numbers.push_back(*number);
    } else {
      return std::nullopt;
    }
  }
  if (integers.size() == numbers.size()) return integers;
  return numbers;
}

}  // namespace

// A number behind a name that both an argument and an attribute have is the attribute: pad(%x, pad_value=1).
bool Parser::number_attribute(const ir::Op& op, std::string_view name, Arguments& into) {
  const size_t first = at_;
  for (const std::string_view line : op.attributes) {
    if (bare_attribute(line) != name) continue;
    auto value = attribute_value();
    if (!value || (!std::holds_alternative<int64_t>(*value) && !std::holds_alternative<double>(*value)) ||
        !(at(",") || at(")")))
      break;
    return into.attrs.emplace(std::string(name), std::move(*value)).second;
  }
  at_ = first;
  return false;
}

void Parser::named_argument(const ir::Op* op, Arguments& into) {
  const Token name = take();
  take();
  if (op == nullptr)
    fail_at(span_of(name), fmt::format("only operators have named arguments, this call names {}", name.text));
  if (name.text == "out_sinfo" || name.text == "sinfo_args") {
    const bool list = accept("[");
    do into.infos.push_back(type());
    while (list && accept(",") && !at("]"));
    if (list) expect("]", "after the StructInfo of the results");
    return;
  }
  std::string_view param = name.text == "tir_vars" ? "vars" : std::string_view(name.text);
  for (const std::string_view line : op->attributes)
    if (ir::names_attribute(line, name.text)) param = bare_attribute(line);
  bool twice = false;
  for (size_t i = 0; i < op->params.size(); ++i) {
    if (!ir::names_attribute(names_of_param(op->params[i]), param)) continue;
    if (number_attribute(*op, param, into)) return;
    if (i < into.positional.size() && into.positional[i] != nullptr) {
      twice = true;
      continue;
    }
    const bool dtype = dtype_name_here() && (peek(1).is(",") || peek(1).is(")"));
    Expr value = dtype ? dtype_argument() : at("[") ? list_argument() : expression();
    if (i >= into.positional.size()) into.positional.resize(i + 1);
    into.positional[i] = std::move(value);
    return;
  }
  if (twice) fail_at(span_of(name), fmt::format("{}: argument {} is given twice", op->name, name.text));
  if (at_word("None")) {
    take();
    return;
  }
  auto value = attribute_value();
  if (!value || !(at(",") || at(")")))
    fail_here(fmt::format("{}: attribute {} must be a literal, found {}", op->name, name.text, peek().described()));
  std::string canonical = name.text;
  for (const std::string_view line : op->attributes)
    if (ir::names_attribute(line, name.text)) canonical = ir::attribute_name(line);
  if (!into.attrs.emplace(std::move(canonical), std::move(*value)).second)
    fail_at(span_of(name), fmt::format("{}: attribute {} is given twice", op->name, name.text));
}

// The name of a dtype where an operator takes arguments: cast(%x, int8).
ir::Expr Parser::dtype_argument() {
  const size_t first = at_;
  const auto dtype = dtype_name_here();
  take();
  return make<ir::DataType>(*dtype, span_from(first));
}

// Numbers in brackets where an operator takes arguments: tile(%x, [2, 2]).
ir::Expr Parser::list_argument() {
  const size_t first = at_;
  const Nesting nesting(*this);
  take();
  std::vector<PrimExpr> values;
  while (!at("]")) {
    values.push_back(prim_expr());
    if (!accept(",")) break;
  }
  expect("]", "after a list");
  return make<ir::Shape>(std::move(values), span_from(first));
}

// From `(` to behind `)`.
Parser::Arguments Parser::arguments(const ir::Op* op) {
  expect("(", "before arguments");
  const Nesting nesting(*this);
  const LineMode lines(*this, false);
  Arguments result;
  while (!at(")")) {
    const bool gap = std::ranges::find(result.positional, nullptr) != result.positional.end();
    if (peek().kind == TokenKind::Identifier && peek(1).is("="))
      named_argument(op, result);
    else if (gap && !at_type())
      fail_here(fmt::format("{}: an argument without a name follows named ones", op->name));
    else if (op != nullptr && takes_dtype(*op) && dtype_name_here() && (peek(1).is(",") || peek(1).is(")")))
      result.positional.push_back(dtype_argument());
    else if (op != nullptr && at("[") && op->name == "call_tir_inplace" && result.positional.size() == 2 &&
             !result.attrs.contains("inplace_indices"))
      result.attrs.emplace("inplace_indices", *attribute_value());
    else if (op != nullptr && at("["))
      result.positional.push_back(list_argument());
    else if (at_type())
      result.infos.push_back(type());
    else
      result.positional.push_back(expression());
    if (!accept(",")) break;
  }
  expect(")", "after the arguments of a call");
  if (op != nullptr) {
    fill_gaps(*op, result);
    bind_positional_attributes(*op, result);
  }
  return result;
}

// What named arguments leave out is null where it is optional.
void Parser::fill_gaps(const ir::Op& op, Arguments& into) {
  for (size_t i = 0; i < into.positional.size(); ++i) {
    if (into.positional[i] != nullptr) continue;
    const ir::Span span = span_of(tokens_[at_ - 1]);
    if (!op.params[i].ends_with('?'))
      fail_at(span, fmt::format("{}: argument {} is missing", op.name, bare_param(op.params[i])), {},
              ErrorCode::ArityMismatch);
    into.positional[i] = make<ir::NullValue>(span);
  }
}

// Literals behind the last parameter are attributes in the operator's order: softmax(%x, -1), cast(%x, "int8").
void Parser::bind_positional_attributes(const ir::Op& op, Arguments& into) {
  if (!into.positional.empty() && into.positional.back()->kind == ir::ExprKind::Tuple) {
    const std::string_view name = list_attribute(op, into.positional.size() - 1);
    if (auto list = name.empty() ? std::nullopt : as_attribute(into.positional.back())) {
      into.attrs.emplace(name, std::move(*list));
      into.positional.pop_back();
    }
  }
  if (takes_any_number(op) || into.positional.size() <= op.params.size()) return;
  for (size_t i = op.params.size(), next = 0; i < into.positional.size(); ++i, ++next) {
    if (next >= op.attributes.size()) return;
    auto value = as_attribute(into.positional[i]);
    if (!value) return;
    if (!into.attrs.emplace(bare_attribute(op.attributes[next]), std::move(*value)).second) return;
    if (i + 1 == into.positional.size()) into.positional.resize(op.params.size());
  }
}

ir::Expr Parser::call(Expr callee, std::vector<StructInfo> type_args, size_t first) {
  const auto* op = ir::as<ir::OpExpr>(callee);
  Arguments args = arguments(op != nullptr ? op->op : nullptr);
  // The name of a PackedFunc stands for the function.
  if (op != nullptr && !args.positional.empty() && bare_param(op->op->params.front()) == "func")
    if (const auto* name = ir::as<ir::String>(args.positional.front()))
      args.positional.front() =
          std::make_shared<ir::ExternFunc>(name->value, std::vector<StructInfo>{}, std::vector<uint32_t>{}, name->span);
  if (op != nullptr && args.positional.size() == 3 && op->op->params.size() == 3 && op->op->params[2] == "vars?")
    args.positional[2] = as_scalars(args.positional[2]);
  if (!args.infos.empty() && op == nullptr)
    fail_at(span_from(first), "only operators take StructInfo as arguments",
            "the result of a PackedFunc is stated as extern(\"name\", Tensor[...])");
  type_args.insert(type_args.end(), args.infos.begin(), args.infos.end());
  return make<ir::Call>(std::move(callee), std::move(args.positional), std::move(args.attrs), std::move(type_args),
                        span_from(first));
}

// `<T, ...>` where a call follows; otherwise nothing is taken, for `<` is a comparison.
std::optional<std::vector<StructInfo>> Parser::try_type_arguments() {
  const size_t start = at_;
  const auto errors = diagnostics_.all().size();
  const auto mark = sym_vars_.enter();
  take();
  std::vector<StructInfo> result;
  try {
    do result.push_back(type_argument());
    while (accept(","));
    if (accept(">") && at("(")) return result;
  } catch (const SyntaxError&) {
  }
  diagnostics_.truncate(errors);
  sym_vars_.leave(mark);
  at_ = start;
  return std::nullopt;
}

// A type, or a shape for a parameter of kind Shape: `(n, 4)`.
StructInfo Parser::type_argument() {
  if (!at("(")) return type();
  const size_t start = at_;
  const auto errors = diagnostics_.all().size();
  const auto mark = sym_vars_.enter();
  try {
    return type();
  } catch (const SyntaxError&) {
    diagnostics_.truncate(errors);
    sym_vars_.leave(mark);
    at_ = start;
  }
  take();
  return shape_info(dims());
}

ir::Expr Parser::match_cast_expression(size_t first) {
  take();
  take();
  const Nesting nesting(*this);
  const LineMode lines(*this, false);
  Expr value = expression();
  expect(",", "between the value and the StructInfo of match_cast");
  StructInfo cast = type();
  expect(")", "after the StructInfo of match_cast");
  return cast_to(std::move(value), std::move(cast), first);
}

ir::Expr Parser::cast_to(Expr value, StructInfo cast, size_t first) {
  const ir::Span span = span_from(first);
  const auto var = std::make_shared<const ir::Var>("", nullptr, false, span);
  std::vector<ir::BindingBlock> blocks{{false, {{var, std::move(value), std::move(cast), span}}}};
  return make<ir::Seq>(std::move(blocks), var, span);
}

}  // namespace ingot::text
