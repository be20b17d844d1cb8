#include "random_func.h"

#include <limits>

#include "runtime/base/convert.h"
#include "runtime/tir/builder.h"
#include "runtime/tir/expr_ops.h"

namespace ingot::tir {

struct RandomFunc::Scope {
  struct Index {
    SymVar var;
    PrimExpr extent;
  };
  std::vector<Index> indices;
  std::vector<LetRef> lets;
  std::vector<BufferId> readable;
  std::vector<BufferId> writable;
};

DType RandomFunc::some_dtype() {
  if (all() && chance(40)) return static_cast<DType>(number(1, static_cast<int64_t>(DType::Float64)));
  constexpr DType kDtypes[] = {DType::Float32, DType::Float32, DType::Float32, DType::Int64,   DType::Int32,
                               DType::Bool,    DType::UInt8,   DType::Float64, DType::Float16, DType::BFloat16};
  return kDtypes[number(0, std::size(kDtypes) - 1)];
}

// Mostly in bounds, often not provably so.
PrimExpr RandomFunc::index(const PrimExpr& dim, const Scope& scope) {
  if (scope.indices.empty() || chance(5)) {
    for (const LetRef& let : scope.lets)
      if (let->index && chance(50)) return floor_mod(PrimExpr(let->index), max(dim, 1));
    return 0;
  }
  const auto& picked = scope.indices[static_cast<size_t>(number(0, static_cast<int64_t>(scope.indices.size()) - 1))];
  const PrimExpr i = picked.var;
  switch (number(0, 12)) {
    case 0:
      return floor_mod(i + number(0, 3), max(dim, 1));
    case 1:
      return max(min(i * number(1, 3) - number(0, 2), dim - 1), 0);
    case 2:
      return dim - 1 - i;
    case 3:
      return floor_div(i, number(1, 4));
    case 4:
      return PrimExpr::make(PrimOp::Select, {PrimExpr::make(PrimOp::Less, {i + 1, dim}), i + 1, i});
    case 5:
      return i + number(-1, 1);
    case 6: {
      const PrimExpr j = scope.indices.back().var;
      return floor_mod(i * number(1, 5) + j, max(dim, 1));
    }
    default:
      for (const auto& candidate : scope.indices)
        if (same_expr(candidate.extent, dim) && chance(70)) return candidate.var;
      return i;
  }
}

std::vector<PrimExpr> RandomFunc::indices(BufferId buffer, const Scope& scope) {
  std::vector<PrimExpr> result;
  for (const PrimExpr& dim : func_.buffers[buffer].dims) result.push_back(index(dim, scope));
  return result;
}

Expr RandomFunc::leaf(DType dtype, const Scope& scope) {
  for (const LetRef& let : scope.lets)
    if (let->dtype == dtype && chance(30)) return let_value(let);
  for (const BufferId buffer : scope.readable)
    if (func_.buffers[buffer].dtype == dtype && chance(60)) return load(func_, buffer, indices(buffer, scope));
  if (dtype == DType::Int64 && !scope.indices.empty() && chance(50)) {
    const PrimExpr i = scope.indices.back().var;
    return index_value(chance(50) ? i : floor_div(i * 3, 2));
  }
  return constant(dtype, is_float(dtype) ? static_cast<double>(number(-8, 8)) / 4 : static_cast<double>(number(0, 5)));
}

Expr RandomFunc::guarded_load(BufferId buffer, const Scope& scope) {
  std::vector<PrimExpr> at;
  Expr condition = constant_int(DType::Bool, 1);
  for (const PrimExpr& dim : func_.buffers[buffer].dims) {
    const auto picked = static_cast<size_t>(number(0, static_cast<int64_t>(scope.indices.size()) - 1));
    const PrimExpr i = scope.indices[picked].var;
    const int64_t shift = number(-3, 3);
    const int64_t slack = chance(10) ? 1 : 0;
    at.push_back(i + shift);
    const Expr from_below = binary(ExprOp::LessEqual, constant_int(DType::Int64, -shift - slack), index_value(i));
    const Expr from_above = binary(ExprOp::Greater, index_value(dim - shift), index_value(i));
    condition = binary(ExprOp::And, condition, binary(ExprOp::And, from_below, from_above));
  }
  const DType dtype = func_.buffers[buffer].dtype;
  const Expr element = load(func_, buffer, at);
  return chance(70) ? select(condition, element, leaf(dtype, scope))
                    : select(unary(ExprOp::Not, condition), leaf(dtype, scope), element);
}

// Any operator that gives the dtype, from all of them.
Expr RandomFunc::rarer_operator(DType dtype, int depth, const Scope& scope) {
  const auto part = [&](DType type) { return expression(type, depth - 1, scope); };
  while (true) {
    const auto op = static_cast<ExprOp>(number(static_cast<int64_t>(ExprOp::Neg), kExprOpCount - 1));
    const DType operand = dtype == DType::Bool ? some_dtype() : dtype;
    if (!accepts_dtype(op, operand) || result_dtype(op, operand) != dtype) continue;
    if (op >= ExprOp::Exp && op <= ExprOp::Sigmoid && !transcendental_) continue;
    if (expr_op_info(op).arity == 1) return unary(op, part(operand));
    const bool divides = op == ExprOp::Div || (op >= ExprOp::Mod && op <= ExprOp::FloorMod);
    if (is_integer(operand) && (divides || op == ExprOp::Pow) && chance(80))
      return binary(op, part(operand), constant_int(operand, number(1, 7)));
    return binary(op, part(operand), part(operand));
  }
}

// What differs from iteration to iteration by the indices alone.
Expr RandomFunc::index_condition(const Scope& scope) {
  constexpr ExprOp kOps[] = {ExprOp::Less, ExprOp::LessEqual, ExprOp::Greater, ExprOp::Equal, ExprOp::NotEqual};
  const auto picked = [&]() -> PrimExpr {
    return scope.indices[static_cast<size_t>(number(0, static_cast<int64_t>(scope.indices.size()) - 1))].var;
  };
  PrimExpr left = picked();
  if (chance(50)) left = chance(50) ? left * number(-2, 3) + picked() : floor_mod(left + number(-2, 2), number(1, 5));
  const Expr right = chance(40)   ? index_value(picked() + number(-1, 1))
                     : chance(50) ? index_value(dim_exprs_[static_cast<size_t>(number(0, 2))] - number(0, 2))
                                  : constant_int(DType::Int64, number(0, 20));
  return binary(kOps[number(0, 4)], index_value(left), right);
}

Expr RandomFunc::expression(DType dtype, int depth, const Scope& scope) {
  if (depth == 0 || chance(20)) return leaf(dtype, scope);
  const auto part = [&](DType type) { return expression(type, depth - 1, scope); };
  if (all() && chance(25)) return rarer_operator(dtype, depth, scope);
  if (all() && dtype == DType::Bool && !scope.indices.empty() && chance(40)) return index_condition(scope);
  if (!scope.indices.empty() && chance(20))
    for (const BufferId buffer : scope.readable)
      if (func_.buffers[buffer].dtype == dtype && chance(50)) return guarded_load(buffer, scope);
  if (chance(15)) return select(part(DType::Bool), part(dtype), part(dtype));
  if (chance(10)) return cast(dtype, part(some_dtype()));
  if (dtype == DType::Bool) {
    const DType operand = some_dtype();
    switch (number(0, 4)) {
      case 0:
        return unary(ExprOp::Not, part(dtype));
      case 1:
        return binary(chance(50) ? ExprOp::And : ExprOp::Or, part(dtype), part(dtype));
      case 2:
        return binary(ExprOp::Equal, part(operand), part(operand));
      default:
        return binary(chance(50) ? ExprOp::Less : ExprOp::GreaterEqual, part(operand), part(operand));
    }
  }
  if (is_float(dtype) && chance(15))
    return unary(chance(50) || !transcendental_ ? ExprOp::Floor : ExprOp::Tanh, part(dtype));
  if (is_integer(dtype) && chance(5)) return binary(ExprOp::Div, part(dtype), part(dtype));
  if (is_integer(dtype) && chance(10)) return binary(ExprOp::BitXor, part(dtype), part(dtype));
  constexpr ExprOp kOps[] = {ExprOp::Add, ExprOp::Sub, ExprOp::Mul, ExprOp::Min, ExprOp::Max};
  if (chance(10)) return unary(chance(50) ? ExprOp::Neg : ExprOp::Abs, part(dtype));
  return binary(kOps[number(0, 4)], part(dtype), part(dtype));
}

Stmt RandomFunc::whole_write(BufferId buffer, const Scope& scope) {
  Scope inner = scope;
  std::vector<SymVar> vars;
  std::vector<PrimExpr> at;
  for (const PrimExpr& dim : func_.buffers[buffer].dims) {
    vars.push_back(make_sym_var("w" + std::to_string(names_++)));
    at.emplace_back(vars.back());
    inner.indices.push_back({vars.back(), dim});
  }
  Stmt stmt = store(buffer, at, expression(func_.buffers[buffer].dtype, 2, inner));
  for (size_t d = vars.size(); d-- > 0;)
    stmt = loop(vars[d], func_.buffers[buffer].dims[d], d == 0 && chance(50) ? LoopKind::Parallel : LoopKind::Serial,
                {stmt});
  return stmt;
}

Stmt RandomFunc::statement(int depth, Scope& scope) {
  if (depth > 0 && chance(45)) {
    Scope inner = scope;
    const PrimExpr extent = chance(70) ? dim_exprs_[static_cast<size_t>(number(0, 2))] : PrimExpr(number(0, 5));
    const SymVar var = make_sym_var("i" + std::to_string(names_++));
    inner.indices.push_back({var, extent});
    const LoopKind kind = chance(20) ? LoopKind::Parallel : chance(30) ? LoopKind::Reduce : LoopKind::Serial;
    return loop(var, extent, kind, statements(depth - 1, std::move(inner)));
  }
  if (depth > 0 && chance(10)) {
    Expr condition = expression(DType::Bool, 2, scope);
    std::vector<Stmt> then_body = statements(depth - 1, scope);
    return branch(std::move(condition), std::move(then_body),
                  chance(50) ? statements(depth - 1, scope) : std::vector<Stmt>{});
  }
  if (chance(25)) {
    const DType dtype = chance(40) ? DType::Int64 : some_dtype();
    const LetRef var = make_let("x" + std::to_string(names_++), dtype);
    Stmt stmt = let(var, expression(dtype, 2, scope));
    scope.lets.push_back(var);
    return stmt;
  }
  const BufferId to = scope.writable[static_cast<size_t>(number(0, static_cast<int64_t>(scope.writable.size()) - 1))];
  const DType dtype = func_.buffers[to].dtype;
  std::vector<PrimExpr> at = indices(to, scope);
  Expr value = expression(dtype, 3, scope);
  if (chance(35)) {
    const Expr old = load(func_, to, at);
    const ExprOp op = dtype == DType::Bool ? ExprOp::Or : chance(50) ? ExprOp::Add : ExprOp::Max;
    value = chance(80) ? binary(op, old, value) : binary(op, value, old);
  }
  return store(to, std::move(at), std::move(value));
}

std::vector<Stmt> RandomFunc::statements(int depth, Scope scope) {
  std::vector<Stmt> list;
  for (int64_t count = number(1, 3); count > 0; --count) list.push_back(statement(depth, scope));
  return list;
}

PrimFunc RandomFunc::make() {
  func_ = PrimFunc{};
  names_ = 0;
  transcendental_ = !all() || chance(15);
  func_.name = "random";
  const PrimExpr n = make_sym_var("n"), m = make_sym_var("m");
  dim_exprs_ = {n, m, n + m};
  const auto add = [&](const char* name, bool plain) {
    std::vector<PrimExpr> dims;
    if (plain) {
      dims = {n, m};
    } else {
      for (int64_t rank = number(0, 2); rank > 0; --rank) dims.push_back(dim_exprs_[static_cast<size_t>(number(0, 2))]);
    }
    func_.buffers.push_back({name, some_dtype(), std::move(dims)});
    return static_cast<BufferId>(func_.buffers.size() - 1);
  };
  Scope scope;
  scope.readable = {add("A", true), add("B", false), add("C", false)};
  scope.writable = {add("X", false), add("Y", false)};
  func_.params = 5;
  func_.outputs = 2;
  const BufferId temporary = add("T", false);
  func_.body.push_back(allocate(temporary));
  func_.body.push_back(whole_write(temporary, scope));
  scope.readable.push_back(temporary);
  scope.writable.push_back(temporary);
  if (chance(50)) func_.body.push_back(whole_write(3, scope));
  scope.readable.insert(scope.readable.end(), {3, 4});
  for (const Stmt& stmt : statements(3, scope)) func_.body.push_back(stmt);
  return func_;
}

Dims RandomFunc::dims() {
  // Lanes of registers are 4, 8 or 16, and some steps have several registers.
  constexpr int64_t kBorders[] = {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257};
  const auto border = [&](int64_t most) { return kBorders[number(0, most)]; };
  int64_t n = 0, m = 0;
  if (all()) {
    n = chance(60) ? border(13) : border(std::size(kBorders) - 1);
    m = chance(50) ? number(0, 6) : border(11);
    if (chance(30)) std::swap(n, m);
  } else {
    n = chance(8) ? number(255, 300) : number(0, 6);
    m = number(0, 6);
  }
  Dims result;
  for (size_t i = 0; i < func_.params; ++i) {
    result.emplace_back();
    for (const PrimExpr& dim : func_.buffers[i].dims)
      result.back().push_back(same_expr(dim, dim_exprs_[0]) ? n : same_expr(dim, dim_exprs_[1]) ? m : n + m);
  }
  return result;
}

std::vector<Bytes> RandomFunc::inputs(const Dims& dims) {
  const bool special = all() && chance(50);
  const auto special_value = [&]<typename T>() {
    if constexpr (FloatElement<T>) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      constexpr double kValues[] = {
          kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), -0.0, 1e-40, -3e-8, 65519, 3e9, -1e19, 1e30};
      return convert<T>(kValues[number(0, std::size(kValues) - 1)]);
    } else {
      const auto bits =
          static_cast<uint64_t>(number(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
      const int64_t value = chance(50) ? static_cast<int64_t>(bits >> number(0, 63)) : int64_t{1} << number(0, 63);
      return convert<T>(chance(50) ? value : static_cast<int64_t>(static_cast<uint64_t>(value) - 1));
    }
  };
  std::vector<Bytes> result;
  for (size_t i = 0; i < func_.params; ++i) {
    Bytes bytes(buffer_bytes(func_, dims, i));
    with_element(func_.buffers[i].dtype, [&]<typename T>() {
      for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        const bool odd = special && chance(15);
        store_element(bytes.data() + at, odd ? special_value.template operator()<T>()
                                             : convert<T>(static_cast<double>(number(-12, 40)) / 4));
      }
    });
    result.push_back(std::move(bytes));
  }
  return result;
}

}  // namespace ingot::tir
