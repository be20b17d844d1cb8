#pragma once
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "runtime/tir/func_shape.h"

// A PrimFunc for concrete dimensions: what the interpreter compiles. Accesses that are proved to be in bounds have
// become positions in row-major memory, and perfectly nested loops have become one where that keeps all positions
// linear.
namespace ingot::tir {

struct Place {
  BufferId buffer = 0;
  bool proved = false;
  bool guarded = false;           // proved under conditions alone
  std::vector<PrimExpr> indices;  // proved: the position alone
};

struct NestExpr;
using NestExprRef = std::shared_ptr<const NestExpr>;
struct NestExpr {
  ExprOp op;
  DType dtype;
  uint64_t bits = 0;
  PrimExpr index = {};
  LetRef let = {};
  Place place = {};
  std::vector<NestExprRef> operands = {};
};

struct NestStmt;
struct NestLoop {
  SymVar var;
  PrimExpr extent;
  LoopKind kind;
  std::vector<NestStmt> body;
  std::vector<BufferId> owned;  // buffers allocated inside of it
};
struct NestLet {
  LetRef var;
  NestExprRef value;
};
struct NestIf {
  NestExprRef condition;
  std::vector<NestStmt> then_body, else_body;
};
struct NestStore {
  Place place;
  NestExprRef value;
};
struct NestStmt {
  std::variant<NestLoop, NestLet, NestIf, NestStore> node;
};

struct Nest {
  std::vector<NestBuffer> buffers;
  uint32_t params = 0;
  std::vector<Scalar> scalars;
  // Of int64 scalars the value that the dimensions ask for, or that the caller promised.
  std::vector<std::optional<int64_t>> scalar_values;
  std::vector<NestStmt> body;
  uint64_t work = 0;  // the product of loop extents, summed over the innermost bodies; at least 1
  // Of shaped nests alone: the dimensions that are known when it runs.
  std::vector<SymVar> vars = {};
};

// Throws as shape_of.
Nest make_nest(const PrimFunc& func, std::span<const std::vector<int64_t>> dims, std::span<const int64_t> scalars);

// The nest for all values of some dimensions, from 1 to this: extents and positions are expressions over `vars`. The
// values of scalars and the work stay open, and buffers have a `shape`, but `dims` only where these do not depend on
// any of `vars`.
inline constexpr int64_t kMostOfShaped = int64_t{1} << 24;
// Bit d of varying[i] says that dimension d of parameter i may be any number; of the others `dims` has the value.
// nullopt where none varies, and where sizes or extents depend on anything else.
std::optional<Nest> make_shaped_nest(const PrimFunc& func, std::span<const std::vector<int64_t>> dims,
                                     std::span<const uint32_t> varying);

// Every place that the statements read or write, those of a Store first.
void for_each_place(const std::vector<NestStmt>& body, const std::function<void(const Place&, bool is_store)>& visit);

}  // namespace ingot::tir
