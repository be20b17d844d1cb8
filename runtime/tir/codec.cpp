#include "runtime/tir/codec.h"

#include <unordered_map>

#include "runtime/base/error.h"
#include "runtime/symbolic/codec.h"
#include "runtime/tir/expr_ops.h"

namespace ingot::tir {
namespace {

// A function is written as name, buffers, scalars and body, behind the tables of its symbolic variables and lets, which
// these refer to by number.
class Encoder {
 public:
  explicit Encoder(const PrimFunc& func) {
    out_.put_string(func.name);
    out_.put(static_cast<uint32_t>(func.buffers.size()));
    for (const Buffer& buffer : func.buffers) {
      out_.put_string(buffer.name);
      out_.put(buffer.dtype);
      exprs(buffer.dims);
    }
    out_.put(func.params);
    out_.put(func.outputs);
    out_.put(static_cast<uint32_t>(func.scalars.size()));
    for (const Scalar& scalar : func.scalars) out_.put(let_id(scalar.var));
    body(func.body);
  }

  void finish(ByteWriter& out) {
    ByteWriter lets;
    lets.put(static_cast<uint32_t>(lets_.size()));
    for (const LetRef& let : lets_) {
      lets.put_string(let->name);
      lets.put(let->dtype);
      if (let->index) lets.put(vars_.id_of(let->index));
    }
    out.put(static_cast<uint32_t>(vars_.vars().size()));
    for (const SymVar& var : vars_.vars()) out.put_string(var->name);
    out.put_bytes(lets.bytes());
    out.put_bytes(out_.bytes());
  }

 private:
  uint32_t let_id(const LetRef& let) {
    const auto [found, added] = let_ids_.try_emplace(let.get(), static_cast<uint32_t>(lets_.size()));
    if (added) lets_.push_back(let);
    return found->second;
  }

  void exprs(const std::vector<PrimExpr>& list) {
    out_.put(static_cast<uint32_t>(list.size()));
    for (const PrimExpr& expr : list) ingot::encode(out_, expr, vars_);
  }

  void expr(const ExprNode& node) {
    out_.put(node.op);
    out_.put(node.dtype);
    if (node.op == ExprOp::Const) out_.put(node.bits);
    if (node.op == ExprOp::Index) ingot::encode(out_, node.index, vars_);
    if (node.op == ExprOp::Let) out_.put(let_id(node.let));
    if (node.op == ExprOp::Load) {
      out_.put(node.buffer);
      exprs(node.indices);
    }
    for (const Expr& operand : node.operands) expr(*operand);
  }

  void body(const std::vector<Stmt>& statements) {
    out_.put(static_cast<uint32_t>(statements.size()));
    for (const Stmt& stmt : statements) {
      out_.put(static_cast<uint8_t>(stmt->node.index()));
      std::visit([&](const auto& node) { statement(node); }, stmt->node);
    }
  }

  void statement(const For& node) {
    out_.put(vars_.id_of(node.var));
    ingot::encode(out_, node.extent, vars_);
    out_.put(node.kind);
    body(node.body);
  }
  void statement(const Let& node) {
    out_.put(let_id(node.var));
    expr(*node.value);
  }
  void statement(const If& node) {
    expr(*node.condition);
    body(node.then_body);
    body(node.else_body);
  }
  void statement(const Store& node) {
    out_.put(node.buffer);
    exprs(node.indices);
    expr(*node.value);
  }
  void statement(const Allocate& node) { out_.put(node.buffer); }

  ByteWriter out_;
  SymVarTable vars_;
  std::vector<LetRef> lets_;
  std::unordered_map<const LetVar*, uint32_t> let_ids_;
};

class Decoder {
 public:
  explicit Decoder(ByteReader& in) : in_(in) {}

  PrimFunc func() {
    const uint32_t var_count = in_.get_count(sizeof(uint32_t));
    for (uint32_t i = 0; i < var_count; ++i) vars_.add(make_sym_var(std::string(in_.get_string())));
    const uint32_t let_count = in_.get_count(sizeof(uint32_t) + 1);
    for (uint32_t i = 0; i < let_count; ++i) {
      LetVar let{std::string(in_.get_string()), dtype()};
      if (let.dtype == DType::Int64) let.index = vars_.var(in_.get<uint32_t>());
      lets_.push_back(std::make_shared<const LetVar>(std::move(let)));
    }
    PrimFunc func;
    func.name = in_.get_string();
    const uint32_t buffers = in_.get_count(2 * sizeof(uint32_t) + 1);
    for (uint32_t i = 0; i < buffers; ++i) {
      Buffer buffer{std::string(in_.get_string()), dtype(), {}};
      buffer.dims = exprs();
      func.buffers.push_back(std::move(buffer));
    }
    buffers_ = buffers;
    func.params = in_.get<uint32_t>();
    func.outputs = in_.get<uint32_t>();
    if (func.params > buffers || func.outputs > func.params)
      fail(ErrorCode::CorruptFile, "a PrimFunc has {} buffers, {} parameters and {} outputs", buffers, func.params,
           func.outputs);
    const uint32_t scalars = in_.get_count(sizeof(uint32_t));
    for (uint32_t i = 0; i < scalars; ++i) func.scalars.push_back({let()});
    func.body = body(1);
    return func;
  }

 private:
  template <typename T>
  T checked(uint8_t value, uint8_t last, const char* what) {
    if (value > last) fail(ErrorCode::CorruptFile, "{} {} of a PrimFunc is unknown", what, value);
    return static_cast<T>(value);
  }
  DType dtype() { return checked<DType>(in_.get<uint8_t>(), static_cast<uint8_t>(DType::String), "dtype"); }

  const LetRef& let() {
    const auto id = in_.get<uint32_t>();
    if (id >= lets_.size())
      fail(ErrorCode::CorruptFile, "let {} of a PrimFunc does not exist, there are {}", id, lets_.size());
    return lets_[id];
  }

  BufferId buffer() {
    const auto id = in_.get<BufferId>();
    if (id >= buffers_)
      fail(ErrorCode::CorruptFile, "buffer {} of a PrimFunc does not exist, there are {}", id, buffers_);
    return id;
  }

  std::vector<PrimExpr> exprs() {
    std::vector<PrimExpr> list(in_.get_count(1 + sizeof(uint32_t)));
    for (PrimExpr& expr : list) expr = decode_prim_expr(in_, vars_);
    return list;
  }

  Expr expr(uint32_t depth) {
    if (depth > kMaxExprNesting)
      fail(ErrorCode::CorruptFile, "an expression of a PrimFunc is nested deeper than {}", kMaxExprNesting);
    ExprNode node{.op = checked<ExprOp>(in_.get<uint8_t>(), kExprOpCount - 1, "operator"), .dtype = dtype()};
    if (node.op == ExprOp::Const) node.bits = in_.get<uint64_t>();
    if (node.op == ExprOp::Index) node.index = decode_prim_expr(in_, vars_);
    if (node.op == ExprOp::Let) node.let = let();
    if (node.op == ExprOp::Load) {
      node.buffer = buffer();
      node.indices = exprs();
    }
    node.operands.resize(expr_op_info(node.op).arity);
    for (Expr& operand : node.operands) operand = expr(depth + 1);
    return std::make_shared<const ExprNode>(std::move(node));
  }

  std::vector<Stmt> body(uint32_t depth) {
    if (depth > kMaxStmtDepth)
      fail(ErrorCode::CorruptFile, "statements of a PrimFunc are nested deeper than {}", kMaxStmtDepth);
    std::vector<Stmt> statements(in_.get_count(1 + sizeof(uint32_t)));
    for (Stmt& stmt : statements) stmt = std::make_shared<const StmtNode>(StmtNode{statement(depth)});
    return statements;
  }

  decltype(StmtNode::node) statement(uint32_t depth) {
    const auto kind = in_.get<uint8_t>();
    switch (kind) {
      case 0: {
        For node;
        node.var = vars_.var(in_.get<uint32_t>());
        node.extent = decode_prim_expr(in_, vars_);
        node.kind = checked<LoopKind>(in_.get<uint8_t>(), static_cast<uint8_t>(LoopKind::Reduce), "loop kind");
        node.body = body(depth + 1);
        return node;
      }
      case 1: {
        Let node;
        node.var = let();
        node.value = expr(1);
        return node;
      }
      case 2: {
        If node;
        node.condition = expr(1);
        node.then_body = body(depth + 1);
        node.else_body = body(depth + 1);
        return node;
      }
      case 3: {
        Store node;
        node.buffer = buffer();
        node.indices = exprs();
        node.value = expr(1);
        return node;
      }
      case 4:
        return Allocate{buffer()};
      default:
        fail(ErrorCode::CorruptFile, "statement kind {} of a PrimFunc is unknown", kind);
    }
  }

  ByteReader& in_;
  SymVarTable vars_;
  std::vector<LetRef> lets_;
  uint32_t buffers_ = 0;
};

}  // namespace

void encode(ByteWriter& out, const PrimFunc& func) { Encoder(func).finish(out); }

PrimFunc decode_prim_func(ByteReader& in) { return Decoder(in).func(); }

}  // namespace ingot::tir
