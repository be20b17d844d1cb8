#pragma once
#include <algorithm>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/source.h"
#include "runtime/kernels/kernel_call.h"
#include "runtime/symbolic/struct_info.h"
#include "runtime/tensor/tensor.h"

// The IR is Relax's. Nodes are immutable and shared; a program is a tree of them, flat after normalization.
namespace ingot::ir {

enum class ExprKind : uint8_t {
  Constant,
  Var,
  GlobalVar,
  Tuple,
  Seq,
  PrimValue,
  String,
  DataType,
  NullValue,
  Function,
  If,
  ExternFunc,
  Call,
  Shape,
  TupleGetItem,
  Op,
};

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

struct ExprNode {
  explicit ExprNode(ExprKind kind_, Span span_, uint32_t depth_ = 1)
      : kind(kind_), depth(depth_), span(std::move(span_)) {}
  virtual ~ExprNode() = default;

  const ExprKind kind;
  // How deeply expressions are nested in it; 1 for a leaf. Walks recurse this deep: the parser keeps it below
  // kMaxNesting, passes do not raise it by more than a constant factor.
  const uint32_t depth;
  const Span span;
  // What inference derived; null before it. Written once per node by analysis/infer, the only mutation of a node.
  mutable StructInfo info;
};

// One more than the deepest of them; null ones do not count.
uint32_t depth_above(std::initializer_list<Expr> children);
uint32_t depth_above(const std::vector<Expr>& children);

// The node as T, or null. T::kKind says which kind T is.
template <typename T>
const T* as(const Expr& expr) {
  return expr != nullptr && expr->kind == T::kKind ? static_cast<const T*>(expr.get()) : nullptr;
}

// A tensor constant of any rank.
struct Constant final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Constant;
  Constant(Ref<TensorObject> data_, bool adapts_, Span s)
      : ExprNode(kKind, std::move(s)), data(std::move(data_)), adapts(adapts_) {}
  Ref<TensorObject> data;
  // An unsuffixed literal of the program: inference gives it the dtype that its context asks for.
  bool adapts;
};

// Compared by identity. A dataflow variable may only be used in its dataflow block.
struct Var final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Var;
  Var(std::string name_, StructInfo annotation_, bool dataflow_, Span s)
      : ExprNode(kKind, std::move(s)),
        name(std::move(name_)),
        annotation(std::move(annotation_)),
        dataflow(dataflow_) {}
  std::string name;       // without sigil
  StructInfo annotation;  // null where there is none
  bool dataflow;
  // How StructInfo refers to the shape that the variable holds (`Tensor[%s, float32]`); null until somebody asks.
  mutable SymVar shape_symbol;
};
using VarRef = std::shared_ptr<const Var>;
// The variable's shape_symbol, made where there is none.
const SymVar& shape_symbol(const Var& var);

struct GlobalVar final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::GlobalVar;
  GlobalVar(std::string name_, Span s) : ExprNode(kKind, std::move(s)), name(std::move(name_)) {}
  std::string name;  // without sigil; functions and PrimFuncs of the module
};

struct Tuple final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Tuple;
  Tuple(std::vector<Expr> fields_, Span s)
      : ExprNode(kKind, std::move(s), depth_above(fields_)), fields(std::move(fields_)) {}
  std::vector<Expr> fields;
};

// var := value, never null (a name is empty where the program gives none); with `cast`, a match_cast of the value to
// that StructInfo, which binds new symbolic variables.
struct Binding {
  VarRef var;
  Expr value;
  StructInfo cast;  // null for an ordinary binding
  Span span;
  // `%1 = ...`: a node of a dataflow graph, which normalization puts into the innermost sequence that holds all its
  // uses. Only in form Parsed.
  bool graph = false;
};
struct BindingBlock {
  bool dataflow = false;
  std::vector<Binding> bindings;
};
uint32_t depth_above(const std::vector<BindingBlock>& blocks, const Expr& body);

struct Seq final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Seq;
  Seq(std::vector<BindingBlock> blocks_, Expr body_, Span s)
      : ExprNode(kKind, std::move(s), depth_above(blocks_, body_)),
        blocks(std::move(blocks_)),
        body(std::move(body_)) {}
  std::vector<BindingBlock> blocks;
  Expr body;
  Span result_span;  // of the body: a use of a variable has no span of its own
};

// An immutable scalar outside of tensor arithmetic: an integer expression over symbolic variables, a float or a bool.
struct PrimValue final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::PrimValue;
  PrimValue(std::variant<PrimExpr, double, bool> value_, Span s)
      : ExprNode(kKind, std::move(s)), value(std::move(value_)) {}
  std::variant<PrimExpr, double, bool> value;
};
struct String final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::String;
  String(std::string value_, Span s) : ExprNode(kKind, std::move(s)), value(std::move(value_)) {}
  std::string value;
};
struct DataType final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::DataType;
  DataType(DType value_, Span s) : ExprNode(kKind, std::move(s)), value(value_) {}
  DType value;
};
struct NullValue final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::NullValue;
  explicit NullValue(Span s) : ExprNode(kKind, std::move(s)) {}
};

// Attributes of calls and functions.
using AttrValue = std::variant<int64_t, double, bool, std::string, DType, std::vector<int64_t>, std::vector<double>>;
using Attrs = std::map<std::string, AttrValue, std::less<>>;

// `fn` and, bound to a GlobalVar in the module, `def`.
struct Function final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Function;
  // In StructInfo a type parameter is a symbolic variable: an Object with that shape_var (kind Type), a Tensor with
  // that shape_var (kind Shape), a Tensor with that value (kind BaseType).
  struct TypeParam {
    SymVar var;
    std::string kind;  // "Type", "Shape", "BaseType"
  };
  Function(std::vector<VarRef> params_, Expr body_, StructInfo result_, bool pure_, Attrs attrs_, Span s)
      : ExprNode(kKind, std::move(s), depth_above({body_})),
        params(std::move(params_)),
        body(std::move(body_)),
        result(std::move(result_)),
        pure(pure_),
        attrs(std::move(attrs_)) {}
  std::vector<VarRef> params;
  Expr body;
  StructInfo result;  // the annotation; null where there is none
  bool pure;
  Attrs attrs;
  std::vector<TypeParam> type_params;
  std::vector<std::string> where;  // names of type relations
};
using FunctionRef = std::shared_ptr<const Function>;

// `a && b` is If(a, b, False), `a || b` is If(a, True, b), each marked: inference makes them elementwise operators
// where an operand has a rank above 0. Only in forms Parsed and Normal.
enum class ShortCircuit : uint8_t { None, And, Or };

struct If final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::If;
  If(Expr condition_, Expr then_branch_, Expr else_branch_, Span s, ShortCircuit sugar_ = ShortCircuit::None)
      : ExprNode(kKind, std::move(s), depth_above({condition_, then_branch_, else_branch_})),
        condition(std::move(condition_)),
        then_branch(std::move(then_branch_)),
        else_branch(std::move(else_branch_)),
        sugar(sugar_) {}
  Expr condition, then_branch, else_branch;
  ShortCircuit sugar;
};

struct ExternFunc final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::ExternFunc;
  ExternFunc(std::string name_, std::vector<StructInfo> results_, std::vector<uint32_t> writes_, Span s)
      : ExprNode(kKind, std::move(s)),
        name(std::move(name_)),
        results(std::move(results_)),
        writes(std::move(writes_)) {}
  std::string name;
  std::vector<StructInfo> results;  // none: Object; one: it; several: their tuple
  std::vector<uint32_t> writes;     // arguments that the function writes
};

// A call of an operator, a function, a closure or a PackedFunc.
struct Call final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Call;
  Call(Expr callee_, std::vector<Expr> args_, Attrs attrs_, std::vector<StructInfo> info_args_, Span s)
      : ExprNode(kKind, std::move(s), std::max(depth_above({callee_}), depth_above(args_))),
        callee(std::move(callee_)),
        args(std::move(args_)),
        attrs(std::move(attrs_)),
        info_args(std::move(info_args_)) {}
  Expr callee;
  std::vector<Expr> args;
  Attrs attrs;  // of operators
  std::vector<StructInfo>
      info_args;  // call_tir, call_kernel: the outputs; calls of polymorphic functions: type arguments
  std::shared_ptr<const KernelCall> kernel;  // of operator call_kernel
};

struct Shape final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Shape;
  Shape(std::vector<PrimExpr> dims_, Span s) : ExprNode(kKind, std::move(s)), dims(std::move(dims_)) {}
  std::vector<PrimExpr> dims;
};

struct TupleGetItem final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::TupleGetItem;
  TupleGetItem(Expr tuple_, uint32_t index_, Span s)
      : ExprNode(kKind, std::move(s), depth_above({tuple_})), tuple(std::move(tuple_)), index(index_) {}
  Expr tuple;
  uint32_t index;
};

struct Op;  // op.h

struct OpExpr final : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Op;
  OpExpr(const Op* op_, Span s) : ExprNode(kKind, std::move(s)), op(op_) {}
  const Op* op;
};

// Is it a leaf of the normal form: usable as an argument, a field, a condition? A tuple is one if its fields are.
bool is_leaf(const Expr& expr);

}  // namespace ingot::ir
