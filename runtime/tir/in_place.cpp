#include "runtime/tir/in_place.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/tir/accesses.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/walk.h"

namespace ingot::tir {
namespace {

// The dimension that the loop's index selects alone; nullopt where there is none.
std::optional<size_t> dim_of(const Access& store, const For& loop) {
  for (size_t d = 0; d < store.indices.size(); ++d)
    if (store.indices[d].op() == PrimOp::Var && store.indices[d].var() == loop.var) return d;
  return std::nullopt;
}

// Does a read that comes before the store in the text see only elements that the store has not yet written? The loops
// around both have brought the store to one slice, which is read at the same indices.
bool comes_first(const Access& read, const Access& store) {
  for (size_t i = 0; i < std::min(read.loops.size(), store.loops.size()) && read.loops[i] == store.loops[i]; ++i) {
    const size_t d = *dim_of(store, *store.loops[i]);
    if (!same_expr(read.indices[d], store.indices[d])) return false;
  }
  return true;
}

// The reads in the statement that stores to the buffer, by where their indices lie.
std::unordered_set<const PrimExpr*> reads_of_store(const PrimFunc& func, BufferId buffer) {
  std::unordered_set<const PrimExpr*> reads;
  for_each_stmt(func.body, [&](const StmtNode& stmt) {
    const auto* store = std::get_if<Store>(&stmt.node);
    if (store == nullptr || store->buffer != buffer) return;
    for_each_expr(stmt, [&](const ExprNode& expr) {
      if (expr.op == ExprOp::Load) reads.insert(expr.indices.data());
    });
  });
  return reads;
}

}  // namespace

std::vector<bool> in_place_inputs(const PrimFunc& func) {
  const uint32_t output = func.params - 1;
  std::vector<bool> result(func.params - func.outputs, false);
  if (func.outputs != 1) return result;
  const std::vector<Access> accesses = collect_accesses(func);
  const Access* store = nullptr;
  for (const Access& access : accesses) {
    if (access.buffer != output) continue;
    if (!access.is_store || store != nullptr) return result;
    store = &access;
  }
  if (store == nullptr || store->conditional() || store->loops.size() != store->indices.size()) return result;
  for (const For* loop : store->loops)
    if (!dim_of(*store, *loop)) return result;
  if (!writes_whole(func, output)) return result;

  const auto own = reads_of_store(func, output);
  for (uint32_t input = 0; input < result.size(); ++input)
    result[input] = func.buffers[input].dtype == func.buffers[output].dtype &&
                    func.buffers[input].dims.size() == func.buffers[output].dims.size();
  bool behind = false;
  for (const Access& access : accesses) {
    behind = behind || &access == store;
    if (access.is_store || access.buffer >= result.size() || !result[access.buffer]) continue;
    const bool before = !behind || own.contains(access.indices.data());
    if (!before || !comes_first(access, *store)) result[access.buffer] = false;
  }
  return result;
}

}  // namespace ingot::tir
