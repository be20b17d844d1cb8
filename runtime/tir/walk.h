#pragma once
#include <functional>
#include <span>
#include <vector>

#include "runtime/tir/prim_func.h"

// Reading and rebuilding statements, for what transforms PrimFuncs.
namespace ingot::tir {

// Pre-order, nested statements included.
void for_each_stmt(std::span<const Stmt> body, const std::function<void(const StmtNode&)>& visit);

// Every expression of the statement itself, without the statements inside of it; pre-order.
void for_each_expr(const StmtNode& stmt, const std::function<void(const ExprNode&)>& visit);

// Every read and write of a buffer in the statements; of a Store its reads come first.
using AccessVisitor = std::function<void(BufferId buffer, const std::vector<PrimExpr>& indices, bool is_store)>;
void for_each_access(std::span<const Stmt> body, const AccessVisitor& visit);

// Every symbolic expression of the statements: indices, extents, values of Index.
void for_each_index(std::span<const Stmt> body, const std::function<void(const PrimExpr&)>& visit);

// What a rewriting does; members that are not set leave things as they are.
struct Rewrite {
  std::function<PrimExpr(const PrimExpr&)> index;
  std::function<BufferId(BufferId)> buffer;
  std::function<SymVar(const SymVar&)> loop_var;
  std::function<LetRef(const LetRef&)> let;
  // An expression whose operands have been rewritten, before the members above are applied to it; null: as it is.
  std::function<Expr(const ExprNode&)> expr;
};
Expr rewrite(const Expr& expr, const Rewrite& how);
std::vector<Stmt> rewrite(std::span<const Stmt> body, const Rewrite& how);

}  // namespace ingot::tir
