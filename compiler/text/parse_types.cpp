#include <fmt/format.h>

#include "compiler/text/parser_state.h"

namespace ingot::text {
namespace {

// dtypes as Relay's documents and programs spell them as well.
std::optional<DType> dtype_of_word(std::string_view word) {
  if (word == "Float" || word == "float") return DType::Float32;
  if (word == "Int" || word == "int") return DType::Int32;
  if (word == "uint") return DType::UInt32;
  if (word == "Bool" || word == "uint1") return DType::Bool;
  return parse_dtype(word);
}

// A dtype of a width that there is not.
bool looks_like_dtype(std::string_view word) {
  for (const std::string_view stem : {"int", "uint", "float", "bfloat"})
    if (word.starts_with(stem) && word.size() > stem.size() &&
        word.substr(stem.size()).find_first_not_of("0123456789x") == std::string_view::npos && word[stem.size()] != 'x')
      return true;
  return false;
}

constexpr uint32_t kUnknownRank = UINT32_MAX;

}  // namespace

std::optional<DType> Parser::dtype_name_here() {
  if (peek().kind != TokenKind::Identifier) return std::nullopt;
  const auto dtype = dtype_of_word(peek().text);
  if (!dtype && looks_like_dtype(peek().text) && sym_vars_.find(peek().text) == nullptr) refuse_dtype(peek());
  return dtype;
}

void Parser::refuse_type(const Token& name) {
  fail_at(span_of(name), fmt::format("{} is not a type", name.text),
          "types are Tensor[(n, 4), float32], Shape[(n,)], Prim[int64], (A, B), fn(A) -> B and Object");
}

void Parser::refuse_dtype(const Token& name) {
  report(span_of(name), fmt::format("there is no dtype {}", name.text),
         "integers have 8, 16, 32 or 64 bits, floats 16, 32 or 64, in single lanes", ErrorCode::WellFormedness, 20);
  throw SyntaxError{};
}

SymVar Parser::sym_var(const std::string& name) {
  if (const SymEntry* known = sym_vars_.find(name)) return known->var;
  SymVar var = make_sym_var(name);
  sym_vars_.bind(name, {var, ""});
  return var;
}

bool Parser::at_type() const {
  size_t ahead = 0;
  while (peek(ahead).is("(")) ++ahead;
  const Token& token = peek(ahead);
  if (token.kind != TokenKind::Identifier) return false;
  const Token& next = peek(ahead + 1);
  if (token.text == "Tensor" || token.text == "Shape" || token.text == "Prim" || token.text == "Tuple")
    return next.is("[") || next.is("<") || next.is(",") || next.is(")");
  if (token.text == "Object") return true;
  if (token.text == "impure" ? next.is_word("fn") : token.text == "fn" && next.is("(")) {
    // The same words begin a function, which has a body.
    size_t open = 0;
    for (size_t i = ahead + 1;; ++i) {
      const Token& at = peek(i);
      if (at.kind == TokenKind::End || at.is("{")) return false;
      if (open == 0 && (at.is(",") || at.is(")"))) return true;
      if (at.is("(") || at.is("[")) ++open;
      if (at.is(")") || at.is("]")) --open;
    }
  }
  return ahead == 0 && vars_.find(token.text) == nullptr && dtype_of_word(token.text) && (next.is(",") || next.is(")"));
}

StructInfo Parser::type() {
  const Nesting nesting(*this);
  const LineMode lines(*this, false);
  if (accept("(")) {
    std::vector<StructInfo> fields;
    bool tuple = at(")");
    while (!at(")")) {
      fields.push_back(type());
      if (!accept(",")) break;
      tuple = true;
    }
    expect(")", "after the fields of a tuple type");
    return tuple || fields.size() != 1 ? tuple_info(std::move(fields)) : fields[0];
  }
  if (peek().kind != TokenKind::Identifier)
    fail_here(fmt::format("expected a type, found {}", peek().described()),
              "types are Tensor[(n, 4), float32], Shape[(n,)], Prim[int64], (A, B), fn(A) -> B and Object");
  if (accept_word("impure")) {
    if (!accept_word("fn") && !accept_word("fun")) fail_here("expected 'fn' after 'impure' in a type");
    return function_type(false);
  }
  if (accept_word("fn") || accept_word("fun")) return function_type(true);
  const Token name = take();
  std::string_view closing;
  if (at("[")) closing = "]";
  if (at("<")) closing = ">";
  const bool parameterised = !closing.empty();
  if (name.text == "Object" || name.text == "Any") return object_info();
  if (name.text == "Tensor") {
    if (!parameterised) return tensor_info();
    take();
    return tensor_type(closing);
  }
  if (name.text == "Shape") {
    if (!parameterised) return shape_info();
    take();
    return shape_type(closing);
  }
  if (name.text == "Prim") {
    if (!parameterised) return prim_info(DType::None);
    take();
    return prim_type(closing);
  }
  if (name.text == "Tuple" && parameterised) {
    take();
    std::vector<StructInfo> fields;
    while (!at(closing)) {
      fields.push_back(type());
      if (!accept(",")) break;
    }
    expect(closing, "after the fields of a tuple type");
    return tuple_info(std::move(fields));
  }
  if (const SymEntry* parameter = sym_vars_.find(name.text); parameter != nullptr && !parameter->kind.empty()) {
    if (parameter->kind != "Type")
      fail_at(span_of(name),
              fmt::format("{} is a type parameter of kind {}, a Type is needed here", name.text, parameter->kind), {},
              ErrorCode::TypeError);
    StructInfoNode node;
    node.shape_var = parameter->var;
    return std::make_shared<const StructInfoNode>(std::move(node));
  }
  if (const auto dtype = dtype_of_word(name.text)) return tensor_info(*dtype, std::vector<PrimExpr>{});
  refuse_type(name);
}

// From behind `ndim`; -1 says unknown.
uint32_t Parser::rank() {
  expect("=", "after ndim");
  const bool unknown = accept("-");
  const Token count = take();
  if (count.kind != TokenKind::Integer || count.text.size() > 6)
    fail_at(span_of(count), "ndim must be a small integer");
  if (unknown && count.text != "1")
    fail_at(span_of(count), fmt::format("ndim is -{}, the only negative one is -1, which says unknown", count.text));
  return unknown ? kUnknownRank : static_cast<uint32_t>(std::stoul(count.text));
}

// Behind the opening bracket. Its parts come in any order: a dtype, dimensions in parentheses, ndim=2, a variable %s
// that holds the shape, type parameters; early spellings list the dimensions behind the dtype without parentheses.
StructInfo Parser::tensor_type(std::string_view closing) {
  const size_t first = at_;
  StructInfoNode node;
  node.kind = InfoKind::Tensor;
  uint32_t ndim = kUnknownRank;
  std::optional<std::vector<PrimExpr>> listed;
  const Token* listed_first = nullptr;
  const ir::VarRef* held = nullptr;
  std::vector<Token> kinds;
  while (!at(closing)) {
    if (accept_word("ndim")) {
      ndim = rank();
    } else if (accept_word("dtype")) {
      expect("=", "after dtype");
      const auto dtype = dtype_name_here();
      if (!dtype) fail_here(fmt::format("expected a dtype, found {}", peek().described()));
      take();
      node.dtype = *dtype;
    } else if (at("(") || at("[")) {
      const std::string_view end = at("(") ? ")" : "]";
      take();
      std::vector<PrimExpr> values;
      while (!at(end)) {
        values.push_back(accept("?") ? unknown_dim() : prim_expr());
        if (!accept(",")) break;
      }
      expect(end, "after the dimensions");
      node.dims = std::move(values);
    } else if (peek().kind == TokenKind::Local) {
      const Token name = take();
      const ir::VarRef* var = vars_.find(name.text);
      held = var;
      if (var != nullptr)
        node.shape_var = ir::shape_symbol(**var);
      else
        report(span_of(name), fmt::format("%{} is not defined", name.text), {}, ErrorCode::WellFormedness, 14);
      if (var == nullptr) node.shape_var = make_sym_var("");
    } else if (const auto dtype = dtype_name_here();
               dtype && node.dtype == DType::None && (peek(1).is(",") || peek(1).is(closing))) {
      take();
      node.dtype = *dtype;
    } else {
      const SymEntry* parameter = peek().kind == TokenKind::Identifier ? sym_vars_.find(peek().text) : nullptr;
      if (parameter != nullptr && !parameter->kind.empty()) {
        const Token name = take();
        kinds.push_back(name);
        if (parameter->kind == "Shape") {
          node.shape_var = parameter->var;
        } else if (parameter->kind == "BaseType") {
          node.value = PrimExpr(parameter->var);
        } else {
          fail_at(span_of(name),
                  fmt::format("{} is a type parameter of kind {}, a Shape or a BaseType is needed here", name.text,
                              parameter->kind),
                  {}, ErrorCode::TypeError);
        }
      } else {
        if (!listed) listed_first = &peek();
        if (!listed) listed.emplace();
        listed->push_back(accept("?") ? unknown_dim() : prim_expr(5));
      }
    }
    if (!accept(",")) break;
  }
  expect(closing, "after the parts of a tensor type");
  if (listed && node.dims && listed_first->kind == TokenKind::Identifier && node.dtype == DType::None)
    refuse_dtype(*listed_first);
  if (listed && node.dims) fail_at(span_from(first), "a tensor type lists its dimensions twice");
  if (listed) node.dims = std::move(listed);
  for (const Token& name : kinds) {
    const std::string& kind = sym_vars_.find(name.text)->kind;
    const bool twice = kind == "Shape" ? node.dims || held != nullptr : node.dtype != DType::None;
    const bool again = std::count_if(kinds.begin(), kinds.end(),
                                     [&](const Token& other) { return sym_vars_.find(other.text)->kind == kind; }) > 1;
    if (twice || again)
      fail_at(span_of(name),
              fmt::format("{} is a type parameter of kind {}, and the {} of this tensor type is stated already",
                          name.text, kind, kind == "Shape" ? "shape" : "dtype"),
              "a type parameter of kind Shape is a shape, one of kind BaseType a dtype", ErrorCode::TypeError);
  }
  if (node.dims) node.rank = static_cast<uint32_t>(node.dims->size());
  if (ndim != kUnknownRank && node.dims) {
    if (ndim != node.dims->size())
      report(span_from(first),
             fmt::format("a tensor type says ndim={} and lists {} dimensions", ndim, node.dims->size()), {},
             ErrorCode::WellFormedness, 10);
  } else if (ndim != kUnknownRank) {
    node.rank = ndim;
  }
  if (const auto& shape = held != nullptr ? (*held)->annotation : nullptr;
      shape != nullptr && shape->rank && ndim != kUnknownRank && *shape->rank != ndim)
    diagnostics_.error(ErrorCode::WellFormedness, span_from(first),
                       fmt::format("a tensor type says ndim={}, %{} holds a shape of {} dimensions", ndim,
                                   (*held)->name, *shape->rank),
                       {}, 10);
  return std::make_shared<const StructInfoNode>(std::move(node));
}

StructInfo Parser::shape_type(std::string_view closing) {
  const size_t first = at_;
  std::optional<std::vector<PrimExpr>> values;
  uint32_t ndim = kUnknownRank;
  while (!at(closing)) {
    if (accept_word("ndim")) {
      ndim = rank();
    } else {
      expect("(", "before the values of a shape type");
      values = dims();
    }
    if (!accept(",")) break;
  }
  expect(closing, "after the parts of a shape type");
  if (values && ndim != kUnknownRank && ndim != values->size())
    report(span_from(first), fmt::format("a shape type says ndim={} and lists {} values", ndim, values->size()), {},
           ErrorCode::WellFormedness, 10);
  if (values) return shape_info(std::move(*values));
  return ndim == kUnknownRank ? shape_info() : shape_info(ndim);
}

StructInfo Parser::prim_type(std::string_view closing) {
  const auto dtype = dtype_name_here();
  if (!dtype && (at_word("void") || at_word("handle"))) {
    report(span_of(peek()), fmt::format("Prim[{}]: the dtype must be an integer, a float or bool", peek().text), {},
           ErrorCode::WellFormedness, 19);
    throw SyntaxError{};
  }
  if (!dtype) fail_here(fmt::format("expected a dtype, found {}", peek().described()));
  take();
  StructInfo result = accept(",") ? prim_info(*dtype, prim_expr()) : prim_info(*dtype);
  expect(closing, "after the parts of a Prim type");
  return result;
}

// Behind `fn`.
StructInfo Parser::function_type(bool pure) {
  const auto mark = sym_vars_.enter();
  if (at("<") || at("[")) {
    const std::string_view closing = at("<") ? ">" : "]";
    take();
    Signature signature;
    type_params(signature, closing);
  }
  expect("(", "before the parameters of a function type");
  std::vector<StructInfo> params;
  const bool derived = at(".");
  if (derived)
    for (int i = 0; i < 3; ++i) expect(".", "in '...'");
  while (!derived && !at(")")) {
    params.push_back(type());
    if (!accept(",")) break;
  }
  expect(")", "after the parameters of a function type");
  expect("->", "before the result of a function type");
  StructInfo result = type();
  // Dimensions of a function type belong to it, unless they are known outside.
  sym_vars_.leave(mark);
  if (derived) return packed_func_info(std::move(result));
  return func_info(std::move(params), std::move(result), pure);
}

StructInfo Parser::annotation() {
  return erase_vars(type(), [this](const SymVar& var) { return !unknown_dims_.contains(var); });
}

}  // namespace ingot::text
