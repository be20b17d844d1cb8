#include "runtime/tir/text.h"

#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "runtime/tir/expr_ops.h"
#include "runtime/tir/literals.h"
#include "runtime/tir/words.h"

namespace ingot::tir {
namespace {

class Printer {
 public:
  // What is not well formed prints as `?`: messages of the checker show it. Expressions end at about `limit`
  // characters.
  explicit Printer(const PrimFunc& func, size_t limit = SIZE_MAX) : func_(func), limit_(limit) {
    for (const Buffer& buffer : func.buffers) buffers_.push_back(fresh(buffer.name));
    for (const Scalar& scalar : func.scalars)
      if (scalar.var) name_let(scalar.var);
    for (const Buffer& buffer : func.buffers)
      for (const PrimExpr& dim : buffer.dims)
        if (dim)
          for_each_var(dim, [&](const SymVar& var) {
            if (!vars_.contains(var.get())) vars_[var.get()] = fresh(var->name);
          });
  }

  std::string function() {
    text_ = fmt::format("prim_func {}(", function_name(func_.name));
    const bool inferred = implied(stored_params(), func_.outputs);
    for (uint32_t i = 0; i < func_.params; ++i) {
      if (i != 0) text_ += ", ";
      if (!inferred && i >= func_.params - func_.outputs) text_ += "out ";
      buffer(i);
    }
    for (size_t i = 0; i < func_.scalars.size(); ++i) {
      if (i != 0 || func_.params != 0) text_ += ", ";
      const LetRef& var = func_.scalars[i].var;
      text_ += fmt::format("{}: {}", lets_.at(var.get()), dtype_name(var->dtype));
    }
    text_ += ") ";
    body(func_.body);
    text_ += "\n";
    return std::move(text_);
  }

  // Names are given on the way to the statement.
  bool head(const std::vector<Stmt>& list, const Stmt& wanted) {
    for (const Stmt& stmt : list) {
      if (!stmt) continue;
      if (stmt == wanted) {
        text_.clear();
        statement(stmt);
        return true;
      }
      if (const auto* loop = std::get_if<For>(&stmt->node)) {
        if (loop->var) name_var(loop->var);
        if (head(loop->body, wanted)) return true;
      } else if (const auto* branch = std::get_if<If>(&stmt->node)) {
        if (head(branch->then_body, wanted) || head(branch->else_body, wanted)) return true;
      } else if (const auto* let = std::get_if<Let>(&stmt->node)) {
        if (let->var) name_let(let->var);
      }
    }
    return false;
  }

  std::string take() { return std::move(text_); }

 private:
  // A name that nothing in scope has.
  std::string fresh(const std::string& wanted) {
    const std::string base = identifier(wanted);
    std::string name = base;
    for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    return name;
  }
  void name_var(const SymVar& var) { vars_[var.get()] = fresh(var->name); }
  void name_let(const LetRef& let) {
    const std::string name = fresh(let->name);
    lets_[let.get()] = name;
    if (!let->index) return;
    vars_[let->index.get()] = name;
    let_indices_.insert(let->index.get());
  }

  std::string index_text(const PrimExpr& expr) const {
    if (!expr) return "?";
    return to_text(expr, [&](const SymVar& var) {
      const auto found = vars_.find(var.get());
      return found == vars_.end() ? identifier(var->name) : found->second;
    });
  }

  std::string buffer_name(BufferId id) const { return id < buffers_.size() ? buffers_[id] : "?"; }

  void list(const std::vector<PrimExpr>& exprs) {
    for (size_t i = 0; i < exprs.size(); ++i) {
      if (i != 0) text_ += ", ";
      text_ += index_text(exprs[i]);
    }
  }

  void buffer(BufferId id) {
    text_ += buffer_name(id);
    if (id >= func_.buffers.size()) return;
    const Buffer& buffer = func_.buffers[id];
    text_ += ": Buffer[(";
    list(buffer.dims);
    text_ += fmt::format("{}), {}]", buffer.dims.size() == 1 ? "," : "", dtype_name(buffer.dtype));
  }

  std::vector<bool> stored_params() const {
    std::vector<bool> stored(func_.params);
    mark_stores(func_.body, stored);
    return stored;
  }
  static void mark_stores(const std::vector<Stmt>& list, std::vector<bool>& stored) {
    for (const Stmt& stmt : list) {
      if (const auto* loop = std::get_if<For>(&stmt->node)) mark_stores(loop->body, stored);
      if (const auto* branch = std::get_if<If>(&stmt->node)) {
        mark_stores(branch->then_body, stored);
        mark_stores(branch->else_body, stored);
      }
      const auto* store = std::get_if<Store>(&stmt->node);
      if (store && store->buffer < stored.size()) stored[store->buffer] = true;
    }
  }
  // The outputs are exactly the parameters that are stored to.
  static bool implied(const std::vector<bool>& stored, uint32_t outputs) {
    const auto first = stored.end() - outputs;
    return std::find(stored.begin(), first, true) == first && std::find(first, stored.end(), false) == stored.end();
  }

  void line(std::string_view text) {
    text_ += "\n";
    text_.append(2 * indent_, ' ');
    text_ += text;
  }

  void body(const std::vector<Stmt>& list) {
    text_ += "{";
    ++indent_;
    std::unordered_set<std::string> outside = taken_;
    for (const Stmt& stmt : list) {
      line("");
      statement(stmt);
      if (const auto* loop = std::get_if<For>(&stmt->node)) {
        body(loop->body);
        taken_.erase(vars_.at(loop->var.get()));
      } else if (const auto* branch = std::get_if<If>(&stmt->node)) {
        body(branch->then_body);
        if (!branch->else_body.empty()) {
          text_ += " else ";
          body(branch->else_body);
        }
      }
    }
    taken_ = std::move(outside);
    --indent_;
    line("}");
  }

  void statement(const Stmt& stmt) {
    std::visit([&](const auto& node) { print(node); }, stmt->node);
  }

  // Of statements with a body the part in front of it.
  void print(const For& node) {
    if (!node.var) {
      text_ += "for ?";
      return;
    }
    const std::string extent = index_text(node.extent);
    name_var(node.var);
    constexpr std::string_view kKinds[] = {"", "parallel ", "reduce "};
    text_ += fmt::format("for {} in {} {}", vars_.at(node.var.get()), extent, kKinds[static_cast<size_t>(node.kind)]);
  }
  void print(const Let& node) {
    const size_t start = text_.size();
    expression(node.value, 0);
    if (!node.var) return;
    const std::string value = text_.substr(start);
    text_.resize(start);
    name_let(node.var);
    text_ += fmt::format("let {} = {};", lets_.at(node.var.get()), value);
  }
  void print(const If& node) {
    text_ += "if (";
    expression(node.condition, 0);
    text_ += ") ";
  }
  void print(const Store& node) {
    text_ += buffer_name(node.buffer) + "[";
    list(node.indices);
    text_ += "] = ";
    expression(node.value, 0);
    text_ += ";";
  }
  void print(const Allocate& node) {
    text_ += "alloc ";
    buffer(node.buffer);
    text_ += ";";
  }

  void arguments(const ExprNode& node) {
    text_ += "(";
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (i != 0) text_ += ", ";
      expression(node.operands[i], 0);
    }
  }

  void operand(const ExprNode& node, size_t i, int least) {
    expression(i < node.operands.size() ? node.operands[i] : nullptr, least);
  }

  void expression(const Expr& expr, int least) {
    if (!expr) {
      text_ += "?";
    } else if (text_.size() < limit_) {
      expression(*expr, least);
    }
  }

  void expression(const ExprNode& node, int least) {
    const ExprOpInfo& info = expr_op_info(node.op);
    switch (node.op) {
      case ExprOp::Const:
        text_ += literal_text(node.dtype, node.bits);
        return;
      case ExprOp::Index: {
        const bool plain =
            node.index && node.index.op() == PrimOp::Var && !let_indices_.contains(node.index.var().get());
        text_ += plain ? index_text(node.index) : fmt::format("index({})", index_text(node.index));
        return;
      }
      case ExprOp::Let: {
        const auto found = lets_.find(node.let.get());
        text_ += found != lets_.end() ? found->second : node.let ? identifier(node.let->name) : "?";
        return;
      }
      case ExprOp::Load:
        text_ += buffer_name(node.buffer) + "[";
        list(node.indices);
        text_ += "]";
        return;
      case ExprOp::Cast:
        text_ += "cast";
        arguments(node);
        text_ += fmt::format(", {})", dtype_name(node.dtype));
        return;
      default:
        break;
    }
    if (info.precedence == 0) {
      text_ += info.name;
      arguments(node);
      text_ += ")";
    } else if (info.arity == 1) {
      text_ += info.name;
      const bool literal = !node.operands.empty() && node.operands[0] && node.operands[0]->op == ExprOp::Const;
      if (literal) text_ += "(";
      operand(node, 0, kUnaryPrecedence);
      if (literal) text_ += ")";
    } else {
      const bool parentheses = info.precedence < least;
      if (parentheses) text_ += "(";
      operand(node, 0, info.precedence);
      text_ += fmt::format(" {} ", info.name);
      operand(node, 1, info.precedence + 1);
      if (parentheses) text_ += ")";
    }
  }

  const PrimFunc& func_;
  size_t limit_;
  std::string text_;
  size_t indent_ = 0;
  std::unordered_set<std::string> taken_;
  std::vector<std::string> buffers_;
  std::unordered_map<const SymVarNode*, std::string> vars_;
  std::unordered_map<const LetVar*, std::string> lets_;
  std::unordered_set<const SymVarNode*> let_indices_;
};

}  // namespace

std::string print(const PrimFunc& func) { return Printer(func).function(); }

std::string print_head(const PrimFunc& func, const Stmt& stmt) {
  constexpr size_t kLimit = 160;
  Printer printer(func, kLimit);
  printer.head(func.body, stmt);
  std::string text = printer.take();
  if (text.size() > kLimit) text = text.substr(0, kLimit) + " ...";
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace ingot::tir
