#include <fmt/format.h>

#include "compiler/text/parser_state.h"

namespace ingot::text {

// invoke_closure(closure, (arguments), StructInfo?): a call, whose value is held against the StructInfo.
ir::Expr Parser::closure_call(size_t first) {
  take();
  take();
  const Nesting nesting(*this);
  const LineMode lines(*this, false);
  Expr closure = expression();
  expect(",", "between a closure and the tuple of its arguments");
  const Expr given = expression();
  StructInfo result;
  if (accept(",") && !at(")")) {
    if (at_word("sinfo_args") && peek(1).is("=")) {
      take();
      take();
    }
    const bool list = accept("[");
    result = type();
    if (list) expect("]", "after the StructInfo of the result");
    accept(",");
  }
  expect(")", "after the arguments of a closure");
  const auto* tuple = ir::as<ir::Tuple>(given);
  std::vector<Expr> args = tuple != nullptr ? tuple->fields : std::vector<Expr>{given};
  Expr call =
      make<ir::Call>(std::move(closure), std::move(args), ir::Attrs{}, std::vector<StructInfo>{}, span_from(first));
  return result == nullptr ? call : cast_to(std::move(call), std::move(result), first);
}

// Of the definition of that name, which may stand further down.
std::optional<Parser::Heading> Parser::heading_of(std::string_view global) const {
  for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
    if (tokens_[i].kind != TokenKind::Global || tokens_[i].text != global || !tokens_[i - 1].is_word("def")) continue;
    const bool impure = i > 1 && (tokens_[i - 2].is_word("impure") || (i > 2 && tokens_[i - 3].is_word("impure")));
    while (i < tokens_.size() && !tokens_[i].is("(")) ++i;
    size_t depth = 0, count = 0;
    for (; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.is("(") || token.is("[")) ++depth;
      if (depth == 1 && token.kind == TokenKind::Local) ++count;
      if ((token.is(")") || token.is("]")) && --depth == 0) return Heading{count, !impure};
    }
  }
  return std::nullopt;
}

// make_closure(@f, (captured...)): fn(parameters...) { @f(parameters..., captured...) }, the captured evaluated once.
ir::Expr Parser::closure_of(size_t first) {
  take();
  take();
  const Nesting nesting(*this);
  const LineMode lines(*this, false);
  const Token name = peek();
  const Expr callee = expression();
  std::vector<Expr> captured;
  if (accept(",") && !at(")")) {
    const Expr given = expression();
    const auto* tuple = ir::as<ir::Tuple>(given);
    captured = tuple != nullptr ? tuple->fields : std::vector<Expr>{given};
    accept(",");
  }
  expect(")", "after what a closure captures");
  const ir::Span span = span_from(first);
  const auto heading = heading_of(name.text);
  if (!heading)
    fail_at(span_of(name), fmt::format("there is no function @{}", name.text), "the module defines what it closes over",
            ErrorCode::TypeError);
  if (captured.size() > heading->params)
    fail_at(span, fmt::format("@{} takes {} arguments, {} are captured", name.text, heading->params, captured.size()),
            {}, ErrorCode::ArityMismatch);
  std::vector<ir::Binding> bindings;
  for (Expr& value : captured) {
    if (ir::as<ir::Var>(value) != nullptr) continue;
    const auto var = std::make_shared<const ir::Var>("", nullptr, false, span);
    bindings.push_back({var, std::move(value), nullptr, span});
    value = var;
  }
  std::vector<ir::VarRef> params;
  std::vector<Expr> args;
  for (size_t i = captured.size(); i < heading->params; ++i) {
    params.push_back(std::make_shared<const ir::Var>("", nullptr, false, span));
    args.push_back(params.back());
  }
  args.insert(args.end(), captured.begin(), captured.end());
  const Expr call = make<ir::Call>(callee, std::move(args), ir::Attrs{}, std::vector<StructInfo>{}, span);
  const Expr body = make<ir::Seq>(std::vector<ir::BindingBlock>{}, call, span);
  Expr closure = make<ir::Function>(std::move(params), body, StructInfo{}, heading->pure, ir::Attrs{}, span);
  if (bindings.empty()) return closure;
  std::vector<ir::BindingBlock> blocks{{false, std::move(bindings)}};
  return make<ir::Seq>(std::move(blocks), std::move(closure), span);
}

ir::Expr Parser::extern_function(size_t first) {
  take();
  take();
  const LineMode lines(*this, false);
  if (peek().kind != TokenKind::String)
    fail_here(fmt::format("extern needs the name of a PackedFunc as a string, found {}", peek().described()));
  const std::string name = take().text;
  std::vector<StructInfo> results;
  std::vector<uint32_t> writes;
  while (accept(",") && !at(")")) {
    if (at_word("writes") && peek(1).is("=")) {
      const Token word = take();
      take();
      const auto value = attribute_value();
      const auto* list = value ? std::get_if<std::vector<int64_t>>(&*value) : nullptr;
      if (list == nullptr) fail_at(span_of(word), "writes must list the positions of arguments, as in writes=(0,)");
      for (const int64_t position : *list) {
        if (position < 0 || position > 255)
          fail_at(span_of(word), fmt::format("writes lists {}, positions of arguments are 0 to 255", position));
        writes.push_back(static_cast<uint32_t>(position));
      }
    } else {
      results.push_back(type());
    }
  }
  expect(")", "after the parts of extern");
  return make<ir::ExternFunc>(name, std::move(results), std::move(writes), span_from(first));
}

}  // namespace ingot::text
