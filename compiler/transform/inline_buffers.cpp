#include "compiler/transform/inline_buffers.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "runtime/tir/accesses.h"
#include "runtime/tir/builder.h"
#include "runtime/tir/walk.h"

namespace ingot::transform {
namespace {

using namespace tir;

// More are not worth their text.
constexpr size_t kMostNodes = 256;
constexpr uint32_t kMostIndexNodes = 64;

bool equal(const PrimExpr& a, const PrimExpr& b) { return prove_equal(a, b) == Proof::Yes; }

bool stores_to(const Stmt& stmt, BufferId buffer) {
  bool found = false;
  for_each_access(std::span(&stmt, 1),
                  [&](BufferId id, const auto&, bool is_store) { found = found || (is_store && id == buffer); });
  return found;
}

bool loads_from(const Stmt& stmt, BufferId buffer) {
  bool found = false;
  for_each_access(std::span(&stmt, 1),
                  [&](BufferId id, const auto&, bool is_store) { found = found || (!is_store && id == buffer); });
  return found;
}

// A nest that does nothing but buffer[v...] = value(v...) for every index.
struct Producer {
  size_t position;               // among the statements of the function
  std::vector<SymVar> vars;      // one per dimension
  std::vector<const Let*> lets;  // in front of the store
  Expr value;
};

std::optional<Producer> producer_of(const PrimFunc& func, BufferId buffer) {
  std::optional<size_t> position;
  for (size_t i = 0; i < func.body.size(); ++i) {
    if (!stores_to(func.body[i], buffer)) continue;
    if (position) return std::nullopt;
    position = i;
  }
  if (!position) return std::nullopt;

  std::map<const void*, PrimExpr> extents;
  const StmtNode* stmt = func.body[*position].get();
  std::vector<const Let*> lets;
  while (const auto* loop = std::get_if<For>(&stmt->node)) {
    extents.emplace(loop->var.get(), loop->extent);
    for (const Stmt& inner : std::span(loop->body).first(loop->body.size() - 1)) {
      const auto* let = std::get_if<Let>(&inner->node);
      if (let == nullptr) return std::nullopt;
      lets.push_back(let);
    }
    stmt = loop->body.back().get();
  }
  const auto* store = std::get_if<Store>(&stmt->node);
  const auto& dims = func.buffers[buffer].dims;
  if (store == nullptr || extents.size() != dims.size()) return std::nullopt;
  Producer found{*position, {}, std::move(lets), store->value};
  for (size_t d = 0; d < dims.size(); ++d) {
    if (store->indices[d].op() != PrimOp::Var) return std::nullopt;
    const auto extent = extents.find(store->indices[d].var().get());
    if (extent == extents.end() || !equal(extent->second, dims[d])) return std::nullopt;
    found.vars.push_back(store->indices[d].var());
    extents.erase(extent);
  }
  return found;
}

size_t count_nodes(const Expr& expr) {
  size_t count = 1;
  for (const Expr& operand : expr->operands) count += count_nodes(operand);
  return count;
}

// Is the value moved or converted, and not computed?
bool moves(const Expr& expr) {
  switch (expr->op) {
    case ExprOp::Const:
    case ExprOp::Index:
    case ExprOp::Load:
      return true;
    case ExprOp::Cast:
      return moves(expr->operands[0]);
    default:
      return false;
  }
}

// Does everything that the value reads stay as it is from the producer on?
bool stays(const PrimFunc& func, const Producer& producer) {
  std::unordered_set<BufferId> read;
  for_each_access(std::span(&func.body[producer.position], 1), [&](BufferId id, const auto&, bool is_store) {
    if (!is_store) read.insert(id);
  });
  for (size_t i = producer.position; i < func.body.size(); ++i)
    for (const BufferId id : read)
      if (stores_to(func.body[i], id)) return false;
  return true;
}

bool mentions_only(const PrimExpr& expr, std::span<const For* const> loops, const PrimFunc& func) {
  bool only = true;
  for_each_var(expr, [&](const SymVar& var) {
    const bool is_loop = std::ranges::any_of(loops, [&](const For* loop) { return loop->var == var; });
    bool is_size = false;
    for (const Buffer& buffer : func.buffers)
      for (const PrimExpr& dim : buffer.dims) is_size = is_size || (dim.op() == PrimOp::Var && dim.var() == var);
    only = only && (is_loop || is_size);
  });
  return only;
}

// How the reads of a buffer may be replaced.
struct Plan {
  bool each = false;             // each by its own computation
  const For* in_loop = nullptr;  // otherwise: one computation at the beginning of this loop's body
  std::vector<PrimExpr> indices = {};
};

std::optional<Plan> plan(const PrimFunc& func, BufferId buffer, const Producer& producer) {
  std::vector<Access> reads;
  for (Access& access : collect_accesses(func))
    if (access.buffer == buffer && !access.is_store) reads.push_back(std::move(access));
  if (reads.empty()) return Plan{true};
  for (const Access& read : reads)
    for (const PrimExpr& index : read.indices)
      if (index.nodes() > kMostIndexNodes) return std::nullopt;
  const bool alone = producer.lets.empty();
  if (alone && moves(producer.value)) return Plan{true};

  const Access& first = reads[0];
  PrimExpr evaluations = 1, elements = 1;
  for (const For* loop : first.loops) evaluations = evaluations * loop->extent;
  for (const PrimExpr& dim : func.buffers[buffer].dims) elements = elements * dim;
  if (!equal(evaluations, elements)) return std::nullopt;
  if (alone && reads.size() == 1) return Plan{true};
  if (first.loops.empty()) return std::nullopt;
  for (const Access& read : reads)
    if (read.conditional() || read.loops != first.loops || !std::ranges::equal(read.indices, first.indices, same_expr))
      return std::nullopt;
  for (const PrimExpr& index : first.indices)
    if (!mentions_only(index, first.loops, func)) return std::nullopt;
  return Plan{false, first.loops.back(), {first.indices.begin(), first.indices.end()}};
}

Expr at(const Producer& producer, const Expr& value, std::span<const PrimExpr> indices) {
  Rewrite moved;
  const Substitution by = [&](const SymVar& var) -> std::optional<PrimExpr> {
    const auto found = std::ranges::find(producer.vars, var);
    if (found == producer.vars.end()) return std::nullopt;
    return indices[static_cast<size_t>(found - producer.vars.begin())];
  };
  moved.index = [&](const PrimExpr& index) { return substitute(index, by); };
  return rewrite(value, moved);
}

std::vector<Stmt> with_lets(const std::vector<Stmt>& body, const For* in, const std::vector<Stmt>& lets) {
  std::vector<Stmt> result;
  for (const Stmt& stmt : body) {
    const auto* node = std::get_if<For>(&stmt->node);
    if (node == nullptr) {
      result.push_back(stmt);
      continue;
    }
    auto inner = with_lets(node->body, in, lets);
    if (node == in) inner.insert(inner.begin(), lets.begin(), lets.end());
    result.push_back(loop(node->var, node->extent, node->kind, std::move(inner)));
  }
  return result;
}

void remove_buffer(PrimFunc& func, BufferId buffer) {
  func.buffers.erase(func.buffers.begin() + buffer);
  Rewrite renumber;
  renumber.buffer = [buffer](BufferId id) { return id > buffer ? id - 1 : id; };
  func.body = rewrite(func.body, renumber);
}

bool inline_buffer(PrimFunc& func, BufferId buffer) {
  const auto producer = producer_of(func, buffer);
  if (!producer || count_nodes(producer->value) > kMostNodes || !stays(func, *producer)) return false;
  for (size_t i = 0; i <= producer->position; ++i)
    if (loads_from(func.body[i], buffer)) return false;
  const auto how = plan(func, buffer, *producer);
  if (!how) return false;

  Rewrite reads;
  Expr value;
  if (!how->each) {
    std::vector<Stmt> lets;
    for (const Let* before : producer->lets)
      lets.push_back(let(before->var, at(*producer, before->value, how->indices)));
    value = at(*producer, producer->value, how->indices);
    if (value->op != ExprOp::Let) {
      const LetRef var = make_let(func.buffers[buffer].name, func.buffers[buffer].dtype);
      lets.push_back(let(var, std::move(value)));
      value = let_value(var);
    }
    func.body = with_lets(func.body, how->in_loop, lets);
  }
  reads.expr = [&](const ExprNode& node) -> Expr {
    if (node.op != ExprOp::Load || node.buffer != buffer) return nullptr;
    return value == nullptr ? at(*producer, producer->value, node.indices) : value;
  };
  func.body.erase(func.body.begin() + static_cast<std::ptrdiff_t>(producer->position));
  std::erase_if(func.body, [&](const Stmt& stmt) {
    const auto* allocated = std::get_if<Allocate>(&stmt->node);
    return allocated != nullptr && allocated->buffer == buffer;
  });
  func.body = rewrite(func.body, reads);
  remove_buffer(func, buffer);
  return true;
}

}  // namespace

PrimFunc inline_buffers(PrimFunc func) {
  // What is read in several places may be read in one when others have moved.
  for (bool changed = true; changed;) {
    changed = false;
    for (BufferId buffer = func.params; buffer < func.buffers.size();) {
      if (inline_buffer(func, buffer)) {
        changed = true;
      } else {
        ++buffer;
      }
    }
  }
  return func;
}

}  // namespace ingot::transform
