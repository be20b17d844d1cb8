#include "runtime/tir/text_parser.h"

#include <algorithm>
#include <numeric>

#include "runtime/tir/builder.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/text.h"
#include "runtime/tir/walk.h"
#include "runtime/tir/words.h"

namespace ingot::tir {

PrimFunc Parser::function() {
  start_ = lexer_.peek().offset;
  lexer_.expect("prim_func");
  name();
  lexer_.expect("(");
  parameters();
  func_.body = body(1);
  if (any_order_) move_outputs_behind();
  func_.outputs = count_outputs();
  try {
    check(func_);
  } catch (Error& error) {
    error.add_context(lexer_.place(start_));
    throw;
  }
  return std::move(func_);
}

void Parser::name() {
  lexer_.expect("@");
  const Token token = lexer_.take();
  if (token.kind != TokenKind::Word && token.kind != TokenKind::Text)
    bad(token.offset, "expected the function's name after '@'");
  for (size_t i = 0; i < token.text.size(); ++i) {
    if (token.kind == TokenKind::Text && token.text[i] == '\\') ++i;
    func_.name += token.text[i];
  }
}

std::string Parser::new_name(std::string_view what) {
  const size_t offset = lexer_.peek().offset;
  const std::string name(lexer_.expect_word(what));
  if (is_reserved(name)) bad(offset, "'{}' cannot be a name", name);
  return name;
}

void Parser::bind(const std::string& name, Entity entity) {
  names_[name].push_back(std::move(entity));
  bound_.push_back(name);
}

const Parser::Entity* Parser::find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() || found->second.empty() ? nullptr : &found->second.back();
}

void Parser::unbind_to(size_t count) {
  for (; bound_.size() > count; bound_.pop_back()) names_.find(bound_.back())->second.pop_back();
}

DType Parser::dtype() {
  const size_t offset = lexer_.peek().offset;
  const std::string_view text = lexer_.expect_word("a dtype");
  const auto dtype = parse_dtype(text);
  if (!dtype || *dtype == DType::String) bad(offset, "'{}' is not a dtype of elements", text);
  return *dtype;
}

template <typename Visit>
void Parser::each_parameter(Visit visit) {
  func_.outputs = 0;
  while (!lexer_.accept(")")) {
    const bool is_output = lexer_.accept("out");
    const size_t offset = lexer_.peek().offset;
    const std::string name = new_name("a parameter");
    lexer_.expect(":");
    if (lexer_.at("Buffer") == in_parameters_ && find(name)) bad(offset, "{} is defined twice", name);
    visit(name, is_output);
    if (!lexer_.accept(",") && !lexer_.at(")")) lexer_.expect(")");
  }
}

void Parser::parameters() {
  const size_t start = lexer_.peek().offset;
  each_parameter([&](const std::string& name, bool) {
    if (lexer_.at("Buffer")) {
      while (!lexer_.at("]") && lexer_.peek().kind != TokenKind::End) lexer_.take();
      lexer_.expect("]");
      return;
    }
    const LetRef var = make_let(name, dtype());
    func_.scalars.push_back({var});
    bind(name, var);
  });
  lexer_.rewind(start);
  in_parameters_ = true;
  each_parameter([&](const std::string& name, bool is_output) {
    if (!lexer_.at("Buffer")) {
      dtype();
      return;
    }
    has_out_ |= is_output;
    out_.push_back(is_output);
    if (has_out_ && !is_output && !any_order_)
      bad(lexer_.peek().offset, "{} is an input; inputs come before outputs", name);
    func_.outputs += is_output;
    bind(name, buffer(name));
    ++func_.params;
  });
  in_parameters_ = false;
}

BufferId Parser::buffer(const std::string& name) {
  lexer_.expect("Buffer");
  lexer_.expect("[");
  Buffer buffer{name, DType::None, {}};
  lexer_.expect("(");
  while (!lexer_.accept(")")) {
    buffer.dims.push_back(index());
    if (!lexer_.accept(",") && !lexer_.at(")")) lexer_.expect(")");
  }
  lexer_.expect(",");
  buffer.dtype = dtype();
  lexer_.expect("]");
  func_.buffers.push_back(std::move(buffer));
  stored_.push_back(false);
  return static_cast<BufferId>(func_.buffers.size() - 1);
}

void Parser::move_outputs_behind() {
  const std::vector<bool>& is_output = has_out_ ? out_ : stored_;
  for (const bool outputs : {false, true})
    for (uint32_t i = 0; i < func_.params; ++i)
      if (is_output[i] == outputs) order_.push_back(i);
  if (std::ranges::is_sorted(order_)) return order_.clear();
  const std::vector<Buffer> buffers = func_.buffers;
  std::vector<BufferId> place(buffers.size());
  std::iota(place.begin(), place.end(), BufferId{0});
  std::vector<bool> stored = stored_;
  for (uint32_t i = 0; i < func_.params; ++i) {
    place[order_[i]] = i;
    func_.buffers[i] = buffers[order_[i]];
    stored_[i] = stored[order_[i]];
  }
  Rewrite renumber;
  renumber.buffer = [&](BufferId id) { return place[id]; };
  func_.body = rewrite(func_.body, renumber);
}

uint32_t Parser::count_outputs() const {
  const auto params = std::span(func_.buffers).first(func_.params);
  if (has_out_) return func_.outputs;
  uint32_t outputs = 0;
  while (outputs < func_.params && stored_[func_.params - 1 - outputs]) ++outputs;
  for (uint32_t id = 0; id + outputs < func_.params; ++id)
    if (stored_[id])
      bad(start_,
          "@{}: {} is written but comes before {}, which is not; outputs come last, `out` in front of a name makes "
          "one of it",
          func_.name, params[id].name, params[func_.params - 1 - outputs].name);
  return outputs;
}

PrimFunc parse(std::string_view text, size_t& offset, std::vector<uint32_t>* order) {
  Parser parser(text, offset, order != nullptr);
  PrimFunc func = parser.function();
  if (order != nullptr) *order = parser.order();
  offset = parser.end();
  return func;
}

}  // namespace ingot::tir
