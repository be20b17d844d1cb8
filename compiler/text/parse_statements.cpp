#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "compiler/ops/ops.h"
#include "compiler/text/parser_state.h"

namespace ingot::text {

// A sequence while it is parsed.
struct Parser::Block {
  std::vector<ir::BindingBlock> blocks;
  Expr result;
  ir::Span result_span;

  void add(ir::Binding binding) {
    if (blocks.empty() || blocks.back().dataflow) blocks.push_back({});
    blocks.back().bindings.push_back(std::move(binding));
  }
};

namespace {

// A match_cast that is the whole value of a binding becomes the binding's own: gives its StructInfo, and its value back
// in `value`.
StructInfo unwrap_match_cast(ir::Expr& value) {
  const auto* seq = ir::as<ir::Seq>(value);
  if (seq == nullptr || seq->blocks.size() != 1 || seq->blocks[0].bindings.size() != 1) return nullptr;
  const ir::Binding inner = seq->blocks[0].bindings[0];
  if (inner.cast == nullptr || seq->body != inner.var || !inner.var->name.empty()) return nullptr;
  value = inner.value;
  return inner.cast;
}

// Stands it for what was not understood?
bool is_missing(const ir::Expr& value) {
  const auto* var = ir::as<ir::Var>(value);
  return var != nullptr && var->name.empty();
}

}  // namespace

ir::Expr Parser::block() { return statements("}"); }

// Bindings and their result, to behind the closing bracket. Opens a scope.
ir::Expr Parser::statements(std::string_view closing) {
  const Nesting nesting(*this);
  const LineMode lines(*this, false);
  const size_t first = at_;
  const auto vars = vars_.enter();
  const auto syms = sym_vars_.enter();
  Block block;
  bool complete = true;
  const size_t errors = diagnostics_.all().size();
  while (!at(closing) && peek().kind != TokenKind::End) {
    const size_t begin = at_;
    try {
      if (!statement(block, closing)) break;
    } catch (const SyntaxError&) {
      complete = false;
      skip_statement();
      bind_skipped(block, begin);
      bind_skipped_dims(block, begin);
      if (at("}") || at_definition()) break;
    }
  }
  vars_.leave(vars);
  sym_vars_.leave(syms);
  if (!complete && (!at(closing) || closing != "}")) throw SyntaxError{};
  if (!accept(closing)) fail_here(fmt::format("expected '{}' or a statement, found {}", closing, peek().described()));
  if (!block.result) {
    if (complete && diagnostics_.all().size() == errors) {
      --at_;
      std::string hint = "write the result without ';' before the closing bracket";
      if (continued_ > first)
        hint = fmt::format("the '(' at {}:{} continues the line before it; a ';' may be missing there",
                           tokens_[continued_].line, tokens_[continued_].column);
      fail_here("a block must end with an expression, its value", std::move(hint));
    }
    block.result = missing(span_from(first));
  }
  if (block.blocks.empty() && (closing != "}" || ir::as<ir::Var>(block.result) == nullptr)) return block.result;
  auto seq = std::make_shared<ir::Seq>(std::move(block.blocks), std::move(block.result), span_from(first));
  seq->result_span = block.result_span;
  return seq;
}

// What the text from there to here would have bound had it been understood: uses of it are no errors.
void Parser::bind_skipped(Block& block, size_t begin) {
  if (gave_up_) return;
  for (size_t i = begin; i + 1 < at_; ++i) {
    const bool graph = tokens_[i].kind == TokenKind::Local && tokens_[i + 1].is("=");
    const size_t name = tokens_[i].is_word("let") ? i + 1 : i;
    if ((!graph && name == i) || vars_.find(tokens_[name].text) != nullptr) continue;
    const ir::Span span = span_of(tokens_[name]);
    const auto var = new_var(tokens_[name].text, nullptr, false, span);
    bind_local(var->name, var, name);
    block.add({var, missing(span), nullptr, span});
  }
}

// The same for shape variables: a match_cast of them all.
void Parser::bind_skipped_dims(Block& block, size_t begin) {
  const auto skipped = std::span(tokens_).subspan(begin, at_ - begin);
  if (gave_up_ || std::ranges::none_of(skipped, [](const Token& token) { return token.is_word("match_cast"); })) return;
  std::vector<PrimExpr> dims;
  for (size_t i = begin; i < at_; ++i) {
    const Token& token = tokens_[i];
    if (token.kind != TokenKind::Identifier || tokens_[i + 1].is("(")) continue;
    const SymEntry* known = sym_vars_.find(token.text);
    if (known == nullptr || known->kind.empty()) dims.emplace_back(sym_var(token.text));
  }
  const ir::Span span = span_of(tokens_[begin]);
  block.add({new_var("", nullptr, false, span), missing(span), shape_info(std::move(dims)), span});
}

// False where it was the result.
bool Parser::statement(Block& block, std::string_view closing) {
  if (at_word("let")) {
    let(block, false);
    return true;
  }
  if (at_word("dataflow") && peek(1).is("{")) {
    dataflow_block(block);
    return true;
  }
  if (peek().kind == TokenKind::Local && peek(1).is("=")) {
    graph_binding(block, false);
    return true;
  }
  const bool returns = at_word("return") && vars_.find("return") == nullptr;
  if (returns) take();
  const size_t first = at_;
  Expr value = expression();
  if (returns) {
    block.result_span = span_from(first);
    accept(";");
    block.result = std::move(value);
    return false;
  }
  if (accept(";")) {
    const ir::Span span = span_from(first);
    StructInfo cast = unwrap_match_cast(value);
    block.add({new_var("", nullptr, false, span), std::move(value), std::move(cast), span});
    return true;
  }
  if (!at(closing)) fail_here(fmt::format("expected ';' or '{}', found {}", closing, peek().described()));
  block.result_span = span_from(first);
  block.result = std::move(value);
  return false;
}

ir::VarRef Parser::new_var(const std::string& name, StructInfo annotation, bool dataflow, const ir::Span& span) {
  return std::make_shared<const ir::Var>(name, std::move(annotation), dataflow, span);
}

std::string Parser::local_name(std::string_view where) {
  const Token name = peek();
  if (name.kind != TokenKind::Local && name.kind != TokenKind::Identifier)
    fail_here(fmt::format("expected the name of a local variable {}, found {}", where, name.described()));
  take();
  return name.text;
}

namespace {

// Words that stand before "(" as operators do.
bool is_form(std::string_view name) {
  constexpr std::string_view kForms[] = {"shape", "prim", "dtype", "null_value", "extern", "match_cast", "Constant"};
  return std::ranges::find(kForms, name) != std::end(kForms);
}

}  // namespace

void Parser::bind_local(const std::string& name, const ir::VarRef& var, size_t token) {
  if (tokens_[token].kind == TokenKind::Local && (is_form(name) || ops::find(name) != nullptr))
    beside_operators_.insert(var.get());
  vars_.bind(name, var);
}

// The value of a binding; where it is not understood, the variable is bound all the same, so that its uses are no
// errors, and the parser is behind the binding or at the bracket that ends its block.
ir::Expr Parser::bound_value(bool line_ends) {
  const LineMode lines(*this, line_ends);
  const auto vars = vars_.enter();
  const auto syms = sym_vars_.enter();
  const size_t first = at_;
  try {
    return expression();
  } catch (const SyntaxError&) {
    vars_.leave(vars);
    sym_vars_.leave(syms);
    if (gave_up_) throw;
    skip_statement(line_ends);
    return missing(span_of(tokens_[first]));
  }
}

void Parser::let(Block& block, bool dataflow) {
  const size_t first = at_;
  take();
  const size_t defines = at_;
  const std::string name = local_name("behind 'let'");
  const ir::Span name_span = span_from(defines);
  StructInfo annotation;
  if (accept(":") && !accept_word("_")) annotation = this->annotation();
  expect("=", "in a let");
  const bool in_dataflow = dataflow && !outputs_[defines];
  const auto var = new_var(name, annotation, in_dataflow, name_span);
  const bool recursive = at_word("fn") || at_word("fun") || (at_word("impure") && (peek(1).is_word("fn")));
  if (recursive) bind_local(name, var, defines);
  Expr value = bound_value(false);
  const bool understood = !is_missing(value);
  StructInfo cast = unwrap_match_cast(value);
  if (!recursive) bind_local(name, var, defines);
  block.add({var, std::move(value), std::move(cast), span_from(first)});
  if (!understood) bind_skipped_dims(block, first);
  if (!accept(";") && !at_word("let") && !(peek().starts_line) && understood)
    fail_here(fmt::format("expected ';' behind a let, found {}", peek().described()));
}

void Parser::graph_binding(Block& block, bool dataflow) {
  const size_t first = at_;
  const std::string name = take().text;
  const ir::Span name_span = span_from(first);
  take();
  Expr value = bound_value(true);
  const bool understood = !is_missing(value);
  const auto var = new_var(name, nullptr, dataflow && !outputs_[first], name_span);
  bind_local(name, var, first);
  block.add({var, std::move(value), nullptr, span_from(first), !dataflow});
  if (!understood) bind_skipped_dims(block, first);
  if (!accept(";") && !peek().starts_line && !at("}") && understood)
    fail_here(fmt::format("expected ';' or a line break behind a graph binding, found {}", peek().described()));
}

// Which definitions of the dataflow block that begins here leave it: the last one of each name that `output` lists.
std::unordered_map<size_t, bool> Parser::dataflow_outputs() const {
  std::unordered_map<std::string, size_t> last;
  std::unordered_map<size_t, bool> result;
  size_t depth = 0;
  for (size_t i = at_; i + 1 < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (token.is("{") || token.is("(") || token.is("[")) {
      ++depth;
    } else if (token.is("}") || token.is(")") || token.is("]")) {
      if (depth == 0) break;
      --depth;
    } else if (depth != 0) {
      continue;
    } else if (token.is_word("let")) {
      last[tokens_[i + 1].text] = i + 1;
    } else if (token.kind == TokenKind::Local && tokens_[i + 1].is("=") && i > 0 && !tokens_[i - 1].is_word("let")) {
      last[token.text] = i;
    } else if (token.is_word("output") && tokens_[i + 1].is("(")) {
      for (size_t k = i + 2; k < tokens_.size() && !tokens_[k].is(")") && tokens_[k].kind != TokenKind::End; ++k)
        if (const auto found = last.find(tokens_[k].text); found != last.end()) result[found->second] = true;
    }
  }
  return result;
}

void Parser::dataflow_block(Block& block) {
  take();
  expect("{", "after 'dataflow'");
  const Nesting nesting(*this);
  auto outer_outputs = std::exchange(outputs_, dataflow_outputs());
  const auto mark = vars_.enter();
  Block inner;
  inner.blocks.push_back({});
  enum class Outputs { Open, Listed, Reported } outputs = Outputs::Open;
  while (!at("}") && peek().kind != TokenKind::End) {
    const size_t begin = at_;
    try {
      if (outputs == Outputs::Listed) {
        outputs = Outputs::Reported;
        diagnostics_.error(
            ErrorCode::ParseError, span_of(peek()),
            fmt::format("expected '}}' behind the outputs of a dataflow block, found {}", peek().described()));
      }
      if (at_word("let")) {
        let(inner, true);
      } else if (peek().kind == TokenKind::Local && peek(1).is("=")) {
        graph_binding(inner, true);
      } else if (at_word("output") && peek(1).is("(")) {
        take();
        take();
        std::unordered_set<std::string> bound;
        for (const auto& [name, var] : vars_.since(mark)) bound.insert(name);
        while (!at(")")) {
          const size_t first = at_;
          const std::string name = local_name("in output");
          const ir::VarRef* var = vars_.find(name);
          if (var == nullptr)
            report(span_from(first), fmt::format("%{} is not defined", name), {}, ErrorCode::WellFormedness, 2);
          else if (!bound.contains(name))
            report(span_from(first), fmt::format("%{} is an output of a dataflow block that does not bind it", name),
                   {}, ErrorCode::WellFormedness, 1);
          if (!accept(",")) break;
        }
        expect(")", "after the outputs of a dataflow block");
        accept(";");
        if (outputs == Outputs::Open) outputs = Outputs::Listed;
      } else {
        const size_t first = at_;
        Expr value = expression();
        if (!accept(";"))
          fail_here(fmt::format("expected ';' in a dataflow block, found {}", peek().described()),
                    "the value of a dataflow block is what output(...) lists");
        const ir::Span span = span_from(first);
        StructInfo cast = unwrap_match_cast(value);
        inner.add({new_var("", nullptr, true, span), std::move(value), std::move(cast), span});
      }
    } catch (const SyntaxError&) {
      skip_statement();
      bind_skipped(inner, begin);
      bind_skipped_dims(inner, begin);
      if (at_definition()) break;
    }
  }
  outputs_ = std::move(outer_outputs);
  // Outputs stay visible. So does a variable of the block that hides nothing: that its use is an error is for the
  // checker to say.
  const auto bound = vars_.since(mark);
  vars_.leave(mark);
  for (const auto& [name, var] : bound)
    if (!var->dataflow || vars_.find(name) == nullptr) vars_.bind(name, var);
  expect("}", "after a dataflow block");
  ir::BindingBlock merged{true, {}};
  for (auto& part : inner.blocks)
    for (auto& binding : part.bindings) merged.bindings.push_back(std::move(binding));
  block.blocks.push_back(std::move(merged));
}

}  // namespace ingot::text
