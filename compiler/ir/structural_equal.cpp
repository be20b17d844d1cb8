#include "compiler/ir/structural_equal.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "compiler/ir/op.h"
#include "runtime/object/objects.h"
#include "runtime/tir/same_func.h"

namespace ingot::ir {
namespace {

bool same_tensor(const TensorObject& a, const TensorObject& b) {
  if (a.dtype != b.dtype || a.rank != b.rank || !std::ranges::equal(a.dims(), b.dims()) || a.bytes != b.bytes)
    return false;
  if (a.dtype != DType::String) return a.bytes == 0 || std::memcmp(a.data, b.data, a.bytes) == 0;
  const size_t count = a.bytes / sizeof(StringObject*);
  for (size_t i = 0; i < count; ++i)
    if (a.elements<StringObject*>()[i]->text() != b.elements<StringObject*>()[i]->text()) return false;
  return true;
}

bool same_kernel(const std::shared_ptr<const KernelCall>& a, const std::shared_ptr<const KernelCall>& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  if ((a->prim_func == nullptr) != (b->prim_func == nullptr)) return false;
  if (a->prim_func != nullptr && !tir::same_func(*a->prim_func, *b->prim_func)) return false;
  return a->contract == b->contract && a->inputs == b->inputs && a->outputs == b->outputs &&
         a->attributes == b->attributes && a->post_ops == b->post_ops;
}

struct FlatBinding {
  const Binding* binding;
  size_t dataflow;  // number of the dataflow block; 0: none
};

class Comparison {
 public:
  std::string difference;

  bool expr(const Expr& left, const Expr& right) {
    const Expr& a = inner(left);
    const Expr& b = inner(right);
    if (a == b && a->kind != ExprKind::Var && a->depth == 1) return true;
    if (a->kind != b->kind) return differ(*a, "different kinds of expressions");
    switch (a->kind) {
      case ExprKind::Constant: {
        const auto& x = *as<Constant>(a);
        const auto& y = *as<Constant>(b);
        return (x.adapts == y.adapts && same_tensor(*x.data, *y.data)) || differ(*a, "different constants");
      }
      case ExprKind::Var:
        return use(as<Var>(a), as<Var>(b)) || differ(*a, "different variables: %" + as<Var>(a)->name);
      case ExprKind::GlobalVar:
        return as<GlobalVar>(a)->name == as<GlobalVar>(b)->name || differ(*a, "different functions");
      case ExprKind::Tuple:
        return list(*a, as<Tuple>(a)->fields, as<Tuple>(b)->fields);
      case ExprKind::Seq:
        return sequence(*as<Seq>(a), *as<Seq>(b));
      case ExprKind::PrimValue:
        return prim_value(*as<PrimValue>(a), *as<PrimValue>(b)) || differ(*a, "different prim values");
      case ExprKind::String:
        return as<String>(a)->value == as<String>(b)->value || differ(*a, "different strings");
      case ExprKind::DataType:
        return as<DataType>(a)->value == as<DataType>(b)->value || differ(*a, "different dtypes");
      case ExprKind::NullValue:
        return true;
      case ExprKind::Function:
        return function(*as<Function>(a), *as<Function>(b));
      case ExprKind::If: {
        const auto& x = *as<If>(a);
        const auto& y = *as<If>(b);
        if (x.sugar != y.sugar) return differ(*a, "an if and a short-circuit operator");
        return expr(x.condition, y.condition) && expr(x.then_branch, y.then_branch) &&
               expr(x.else_branch, y.else_branch);
      }
      case ExprKind::ExternFunc: {
        const auto& x = *as<ExternFunc>(a);
        const auto& y = *as<ExternFunc>(b);
        return (x.name == y.name && x.writes == y.writes && infos(x.results, y.results)) ||
               differ(*a, "different extern functions");
      }
      case ExprKind::Call: {
        const auto& x = *as<Call>(a);
        const auto& y = *as<Call>(b);
        if (x.attrs != y.attrs) return differ(*a, "different attributes");
        if (!infos(x.info_args, y.info_args)) return differ(*a, "different StructInfo arguments");
        if (!same_kernel(x.kernel, y.kernel)) return differ(*a, "different kernels");
        return expr(x.callee, y.callee) && list(*a, x.args, y.args);
      }
      case ExprKind::Shape:
        return dims(as<Shape>(a)->dims, as<Shape>(b)->dims) || differ(*a, "different shapes");
      case ExprKind::TupleGetItem: {
        const auto& x = *as<TupleGetItem>(a);
        const auto& y = *as<TupleGetItem>(b);
        if (x.index != y.index) return differ(*a, "different projections");
        return expr(x.tuple, y.tuple);
      }
      case ExprKind::Op:
        return as<OpExpr>(a)->op == as<OpExpr>(b)->op || differ(*a, "different operators");
    }
    return false;
  }

  bool function(const Function& a, const Function& b) {
    if (a.params.size() != b.params.size()) return differ(a, "different numbers of parameters");
    if (a.pure != b.pure || a.attrs != b.attrs || a.where != b.where || a.type_params.size() != b.type_params.size())
      return differ(a, "different purity, attributes or type parameters");
    for (size_t i = 0; i < a.type_params.size(); ++i)
      if (a.type_params[i].kind != b.type_params[i].kind || !sym(a.type_params[i].var, b.type_params[i].var))
        return differ(a, "different type parameters");
    for (size_t i = 0; i < a.params.size(); ++i)
      if (!define(a.params[i], b.params[i])) return differ(a, "different parameters: %" + a.params[i]->name);
    if (!info(a.result, b.result)) return differ(a, "different result annotations");
    return expr(a.body, b.body);
  }

 private:
  static const Expr& inner(const Expr& e) {
    const auto* seq = as<Seq>(e);
    return seq != nullptr && std::ranges::all_of(seq->blocks, [](const auto& b) { return b.bindings.empty(); })
               ? inner(seq->body)
               : e;
  }

  bool differ(const ExprNode& at, std::string what) {
    if (difference.empty())
      difference =
          at.span.line == 0 ? std::move(what) : fmt::format("{}:{}: {}", at.span.line, at.span.column, std::move(what));
    return false;
  }

  static std::vector<FlatBinding> flat(const Seq& seq) {
    std::vector<FlatBinding> result;
    size_t dataflow = 0;
    for (const auto& block : seq.blocks) {
      if (block.dataflow && !block.bindings.empty()) ++dataflow;
      for (const auto& binding : block.bindings) result.push_back({&binding, block.dataflow ? dataflow : 0});
    }
    return result;
  }

  bool sequence(const Seq& a, const Seq& b) {
    const auto left = flat(a);
    const auto right = flat(b);
    for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      const Binding& x = *left[i].binding;
      const Binding& y = *right[i].binding;
      if (left[i].dataflow != right[i].dataflow || x.graph != y.graph)
        return differ(*x.value, "different kinds of bindings");
      const bool recursive = x.value->kind == ExprKind::Function;
      if (recursive && !define(x.var, y.var)) return differ(*x.value, "different bound variables");
      if (!expr(x.value, y.value)) return false;
      if (!info(x.cast, y.cast)) return differ(*x.value, "different casts");
      if (!recursive && !define(x.var, y.var)) return differ(*x.value, "different bound variables: %" + x.var->name);
    }
    if (left.size() != right.size()) return differ(a, "different numbers of bindings");
    return expr(a.body, b.body);
  }

  bool list(const ExprNode& at, const std::vector<Expr>& a, const std::vector<Expr>& b) {
    if (a.size() != b.size()) return differ(at, "lists of different lengths");
    for (size_t i = 0; i < a.size(); ++i)
      if (!expr(a[i], b[i])) return false;
    return true;
  }

  bool define(const VarRef& a, const VarRef& b) {
    if (a == nullptr || b == nullptr) return a == b;
    if (a->dataflow != b->dataflow || !info(a->annotation, b->annotation)) return false;
    vars_[a.get()] = b.get();
    reverse_vars_[b.get()] = a.get();
    return true;
  }

  bool use(const Var* a, const Var* b) {
    const auto found = vars_.find(a);
    if (found != vars_.end()) return found->second == b;
    return !reverse_vars_.contains(b) && a->name == b->name;
  }

  bool sym(const SymVar& a, const SymVar& b) {
    if (a == nullptr || b == nullptr) return a == b;
    const auto [at, added] = syms_.try_emplace(a.get(), b.get());
    const auto [back, reverse_added] = reverse_syms_.try_emplace(b.get(), a.get());
    return at->second == b.get() && back->second == a.get();
  }

  bool prim(const PrimExpr& a, const PrimExpr& b) {
    if (a.op() != b.op() || a.value() != b.value()) return false;
    if (a.op() == PrimOp::Var) return sym(a.var(), b.var());
    return dims(a.operands(), b.operands());
  }

  bool dims(std::span<const PrimExpr> a, std::span<const PrimExpr> b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!prim(a[i], b[i])) return false;
    return true;
  }

  bool prim_value(const PrimValue& a, const PrimValue& b) {
    if (a.value.index() != b.value.index()) return false;
    if (const auto* dim = std::get_if<PrimExpr>(&a.value)) return prim(*dim, std::get<PrimExpr>(b.value));
    if (const auto* number = std::get_if<double>(&a.value))
      return std::bit_cast<uint64_t>(*number) == std::bit_cast<uint64_t>(std::get<double>(b.value));
    return std::get<bool>(a.value) == std::get<bool>(b.value);
  }

  bool infos(const std::vector<StructInfo>& a, const std::vector<StructInfo>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!info(a[i], b[i])) return false;
    return true;
  }

  bool info(const StructInfo& a, const StructInfo& b) {
    if (a == nullptr || b == nullptr) return a == b;
    if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank || a->has_params != b->has_params ||
        a->pure != b->pure || a->dims.has_value() != b->dims.has_value() ||
        a->value.has_value() != b->value.has_value() || !sym(a->shape_var, b->shape_var))
      return false;
    if (a->dims && !dims(*a->dims, *b->dims)) return false;
    if (a->value && !prim(*a->value, *b->value)) return false;
    return infos(a->fields, b->fields) && info(a->result, b->result);
  }

  std::unordered_map<const Var*, const Var*> vars_, reverse_vars_;
  std::unordered_map<const SymVarNode*, const SymVarNode*> syms_, reverse_syms_;
};

}  // namespace

bool structurally_equal(const Expr& a, const Expr& b, std::string* difference) {
  Comparison comparison;
  const bool equal = comparison.expr(a, b);
  if (difference != nullptr) *difference = std::move(comparison.difference);
  return equal;
}

bool structurally_equal(const Module& a, const Module& b, std::string* difference) {
  const auto differ = [&](std::string what) {
    if (difference != nullptr) *difference = std::move(what);
    return false;
  };
  if (a.definitions().size() != b.definitions().size()) return differ("different numbers of definitions");
  for (size_t i = 0; i < a.definitions().size(); ++i) {
    const Definition& x = a.definitions()[i];
    const Definition& y = b.definitions()[i];
    if (x.name != y.name || x.exported != y.exported || (x.function == nullptr) != (y.function == nullptr))
      return differ(fmt::format("definition {}: @{} and @{}", i, x.name, y.name));
    if (x.prim_func != nullptr && !tir::same_func(*x.prim_func, *y.prim_func))
      return differ(fmt::format("@{}: different prim_funcs", x.name));
    if (x.function == nullptr) continue;
    Comparison comparison;
    if (!comparison.function(*x.function, *y.function))
      return differ(fmt::format("@{}: {}", x.name, comparison.difference));
  }
  return true;
}

}  // namespace ingot::ir
