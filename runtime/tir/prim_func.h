#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/symbolic/prim_expr.h"

// Loop-level functions: what an operator does to the elements of its buffers. Interpreter, fuser and JIT read the same
// objects.
namespace ingot::tir {

// A row-major tensor parameter. Dimensions may use the function's symbolic variables.
struct Buffer {
  std::string name;
  DType dtype;
  std::vector<PrimExpr> dims;
};
using BufferId = uint32_t;  // position in PrimFunc::buffers

// The numbers are part of the file format: append only.
enum class ExprOp : uint8_t {
  Const,   // `bits` holds the element of `dtype`
  Index,   // `index` as an int64
  Let,     // a value bound by a Let statement; `let`
  Load,    // buffers[buffer][indices]
  Cast,    // operand 0 converted to dtype, by the table of docs/language.md
  Select,  // operand 0 (bool) ? operand 1 : operand 2; only the chosen one is evaluated
  // dtype in, same dtype out
  Neg,
  Not,  // of a bool; of an integer all bits
  Abs,
  Sign,
  Ceil,
  Floor,
  Round,
  Trunc,
  Sqrt,
  Rsqrt,
  Exp,
  Log,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Sigmoid,
  // two of a dtype in, the same out
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  FloorDiv,
  FloorMod,
  Min,
  Max,
  Pow,
  Atan2,
  BitAnd,
  BitOr,
  BitXor,
  ShiftLeft,
  ShiftRight,
  And,
  Or,
  // two of a dtype in, bool out
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  // one float in, bool out
  IsNan,
  IsInf,
  IsFinite,
  // one float in, the same out
  Gelu,
};

struct ExprNode;
// Immutable, shared.
using Expr = std::shared_ptr<const ExprNode>;

struct LetVar {
  std::string name;
  DType dtype;
  // Set for int64, and only then: the same value for use in indices and extents of the statements below.
  SymVar index = {};
};
using LetRef = std::shared_ptr<const LetVar>;

struct ExprNode {
  ExprOp op;
  DType dtype;
  uint64_t bits = 0;
  PrimExpr index = {};
  LetRef let = {};
  BufferId buffer = 0;
  std::vector<PrimExpr> indices = {};
  std::vector<Expr> operands = {};
};

// Serial runs in order. Parallel promises that iterations write disjoint elements (checked). Reduce promises that the
// loop only accumulates: its order may change.
enum class LoopKind : uint8_t { Serial, Parallel, Reduce };

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;

// for var in [0, extent)
struct For {
  SymVar var;
  PrimExpr extent;
  LoopKind kind;
  std::vector<Stmt> body;
};
struct Let {
  LetRef var;
  Expr value;
};
struct If {
  Expr condition;
  std::vector<Stmt> then_body, else_body;
};
struct Store {
  BufferId buffer;
  std::vector<PrimExpr> indices;
  Expr value;
};
// A buffer that lives as long as the statements that follow it in its list; not initialised. Its id was reserved in
// PrimFunc::buffers.
struct Allocate {
  BufferId buffer;
};
struct StmtNode {
  std::variant<For, Let, If, Store, Allocate> node;
};

// Parameters come in the order inputs, outputs, then scalars. Symbolic variables are bound by the dimensions of the
// buffer parameters where they stand alone, or are scalar parameters themselves (int64).
struct Scalar {
  LetRef var;  // in indices: var->index
};
struct PrimFunc {
  std::string name;
  std::vector<Buffer> buffers;  // parameters first, then what Allocate names
  uint32_t params = 0;          // how many of the buffers are parameters
  uint32_t outputs = 1;         // how many of the parameters, the last ones, are written
  std::vector<Scalar> scalars;
  std::vector<Stmt> body;
};
using PrimFuncRef = std::shared_ptr<const PrimFunc>;

}  // namespace ingot::tir
