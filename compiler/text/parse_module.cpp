#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "compiler/text/parser_state.h"
#include "runtime/tir/text.h"

namespace ingot::text {

ir::Module Parser::module() {
  ir::Module module;
  while (peek().kind != TokenKind::End) {
    const size_t before = at_;
    try {
      definition(module);
    } catch (const SyntaxError&) {
      size_t name = before;
      while (name < at_ && tokens_[name].kind == TokenKind::Identifier) ++name;
      module.unread.insert(name < at_ && tokens_[name].kind == TokenKind::Global ? tokens_[name].text : "");
      if (at_ == before) take();
      skip_definition();
    }
  }
  return orders_.empty() ? module : reorder_arguments(std::move(module), orders_, diagnostics_);
}

void Parser::definition(ir::Module& module) {
  const size_t first = at_;
  bool exported = true;
  bool pure = true;
  while (true) {
    if (accept_word("private"))
      exported = false;
    else if (accept_word("impure"))
      pure = false;
    else
      break;
  }
  if (at_word("prim_func")) return prim_func(module, exported);
  const bool foreign = at_word("extern") && peek(1).is_word("type");
  if (foreign || (at_word("type") && peek(1).kind == TokenKind::Identifier))
    fail_at(span_of(peek()), "algebraic data types are not there, nor is match",
            "a tuple of a number that tells the case and of its fields stands for one", ErrorCode::Unsupported);
  if (!accept_word("def"))
    fail_here(fmt::format("expected a definition, found {}", peek().described()),
              "a module is a list of `def @name(...) { ... }` and `prim_func @name(...) { ... }`");
  if (peek().kind != TokenKind::Global)
    fail_here(fmt::format("expected a name with '@' behind 'def', found {}", peek().described()));
  const Token name = take();
  Expr function_node = function(pure, first);
  const ir::Span span = span_of(name);
  if (module.find(name.text) != nullptr) {
    diagnostics_.error(ErrorCode::WellFormedness, span, fmt::format("@{} is defined twice", name.text), {}, 2);
    return;
  }
  module.set({name.text, std::static_pointer_cast<const ir::Function>(function_node), nullptr, exported, span});
}

void Parser::prim_func(ir::Module& module, bool exported) {
  const ir::Span span = span_of(peek());
  size_t offset = peek().offset;
  std::vector<uint32_t> order;
  try {
    auto func = std::make_shared<const tir::PrimFunc>(tir::parse(source_->text, offset, &order));
    while (peek().kind != TokenKind::End && peek().offset < offset) take();
    if (module.find(func->name) != nullptr)
      diagnostics_.error(ErrorCode::WellFormedness, span, fmt::format("@{} is defined twice", func->name), {}, 2);
    else
      module.set({func->name, nullptr, func, exported, span});
    if (!order.empty()) orders_.emplace(func->name, std::move(order));
  } catch (const Error& error) {
    // The message begins with "line:column: ".
    std::string_view message = error.what();
    ir::Span place = span;
    uint32_t line = 0;
    uint32_t column = 0;
    int read = 0;
    if (std::sscanf(error.what(), "%u:%u: %n", &line, &column, &read) == 2 && read > 0) {
      place.line = line;
      place.column = column;
      place.length = 1;
      message.remove_prefix(static_cast<size_t>(read));
    }
    take();
    if (peek().kind == TokenKind::Global) take();
    fail_at(place, std::string(message), {}, error.code());
  }
}

// `name: Kind` or `name`, up to the closing bracket.
void Parser::type_params(Signature& into, std::string_view closing) {
  expect(closing == ">" ? "<" : "[", "before type parameters");
  while (!at(closing)) {
    const Token name = take();
    if (name.kind != TokenKind::Identifier)
      fail_at(span_of(name), fmt::format("expected the name of a type parameter, found {}", name.described()));
    std::string kind = "Type";
    if (accept(":")) {
      const Token word = take();
      kind = word.text;
      if (kind != "Type" && kind != "Shape" && kind != "BaseType")
        fail_at(span_of(word), fmt::format("{} is not a kind of type parameters", word.described()),
                "kinds are Type, Shape and BaseType");
    }
    const SymVar var = make_sym_var(name.text);
    sym_vars_.bind(name.text, {var, kind});
    into.type_params.push_back({var, kind});
    if (!accept(",")) break;
  }
  expect(closing, "after type parameters");
}

Parser::Signature Parser::signature() {
  Signature result;
  if (at("<")) type_params(result, ">");
  if (at("[")) type_params(result, "]");
  expect("(", "before the parameters of a function");
  while (!at(")")) {
    // Relay's text writes the attributes of a function behind its parameters.
    if (peek().kind == TokenKind::Identifier && peek(1).is("=")) {
      attribute(result.attrs);
      if (!accept(",")) break;
      continue;
    }
    const size_t first = at_;
    const std::string name = local_name("as a parameter");
    const ir::Span span = span_from(first);
    StructInfo annotation;
    if (accept(":") && !accept_word("_")) annotation = type();
    if (std::ranges::any_of(result.params, [&](const ir::VarRef& param) { return param->name == name; }))
      report(span, fmt::format("the parameter %{} is bound twice", name), "give one of them another name",
             ErrorCode::WellFormedness, 2);
    result.params.push_back(new_var(name, std::move(annotation), false, span));
    bind_local(name, result.params.back(), first);
    if (!accept(",")) break;
  }
  expect(")", "after the parameters of a function");
  while (true) {
    if (accept("->")) {
      if (!accept_word("_")) result.result = annotation();
    } else if (accept_word("where")) {
      do {
        if (peek().kind != TokenKind::Identifier)
          fail_here(fmt::format("expected the name of a type relation, found {}", peek().described()));
        result.where.push_back(take().text);
      } while (accept(","));
    } else if (at_word("attrs") && peek(1).is("{")) {
      take();
      for (auto& [name, value] : attribute_block()) result.attrs[name] = std::move(value);
    } else {
      return result;
    }
  }
}

// To behind the bracket that opens the body. Where the signature is not understood the body is read for errors of
// syntax alone: all else may only follow.
Parser::Signature Parser::understood_signature() {
  try {
    Signature result = signature();
    expect("{", "before the body of a function");
    return result;
  } catch (const SyntaxError&) {
    if (gave_up_ || !skip_to_body()) throw;
    const bool outer = std::exchange(syntax_only_, true);
    try {
      block();
    } catch (const SyntaxError&) {
    }
    syntax_only_ = outer;
    throw;
  }
}

ir::Expr Parser::function(bool pure, size_t first) {
  const Nesting nesting(*this);
  const LineMode lines(*this, false);
  const auto vars = vars_.enter();
  const auto syms = sym_vars_.enter();
  const auto leave = [&] {
    vars_.leave(vars);
    sym_vars_.leave(syms);
  };
  try {
    Signature s = understood_signature();
    Expr body = block();
    leave();
    auto result = make<ir::Function>(std::move(s.params), std::move(body), std::move(s.result), pure,
                                     std::move(s.attrs), span_from(first));
    result->type_params = std::move(s.type_params);
    result->where = std::move(s.where);
    return result;
  } catch (const SyntaxError&) {
    leave();
    throw;
  }
}

ir::Module parse_module(std::shared_ptr<const ir::Source> source, ir::Diagnostics& diagnostics,
                        const ParseOptions& options) {
  return Parser(std::move(source), diagnostics, options).module();
}

}  // namespace ingot::text
