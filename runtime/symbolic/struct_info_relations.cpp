#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "runtime/symbolic/simplify.h"
#include "runtime/symbolic/struct_info.h"
#include "runtime/symbolic/usable.h"

namespace ingot {
namespace {

using VarSet = std::unordered_set<const SymVarNode*>;
using VarMap = std::unordered_map<const SymVarNode*, PrimExpr>;

Compatibility worse(Compatibility a, Compatibility b) { return std::min(a, b); }

Compatibility compare(const PrimExpr& a, const PrimExpr& b) {
  switch (prove_equal(a, b)) {
    case Proof::Yes:
      return Compatibility::Compatible;
    case Proof::Unknown:
      return Compatibility::Possibly;
    case Proof::No:
      break;
  }
  return Compatibility::Incompatible;
}

Compatibility compare(const std::vector<PrimExpr>& a, const std::vector<PrimExpr>& b) {
  if (a.size() != b.size()) return Compatibility::Incompatible;
  Compatibility result = Compatibility::Compatible;
  for (size_t i = 0; i < a.size() && result != Compatibility::Incompatible; ++i)
    result = worse(result, compare(a[i], b[i]));
  return result;
}

// Pairs the variables that stand alone in `pattern` with what stands at the same place of `other`.
void match(const StructInfo& pattern, const StructInfo& other, VarMap& matches) {
  if (!pattern || !other || pattern->kind != other->kind) return;
  const auto pair = [&](const PrimExpr& from, const PrimExpr& to) {
    if (from.op() == PrimOp::Var) matches.try_emplace(from.var().get(), to);
  };
  if (pattern->dims && other->dims)
    for (size_t i = 0; i < std::min(pattern->dims->size(), other->dims->size()); ++i)
      pair((*pattern->dims)[i], (*other->dims)[i]);
  if (pattern->value && other->value) pair(*pattern->value, *other->value);
  for (size_t i = 0; i < std::min(pattern->fields.size(), other->fields.size()); ++i)
    match(pattern->fields[i], other->fields[i], matches);
}

// The function with the variables of its parameters renamed to what `other` has at their places.
StructInfo renamed_like(const StructInfo& func, const StructInfo& other) {
  VarMap matches;
  for (size_t i = 0; i < std::min(func->fields.size(), other->fields.size()); ++i)
    match(func->fields[i], other->fields[i], matches);
  if (matches.empty()) return func;
  return substitute(func, [&](const SymVar& var) -> std::optional<PrimExpr> {
    const auto found = matches.find(var.get());
    return found == matches.end() ? std::nullopt : std::optional(found->second);
  });
}

// Both results where the arguments have passed the checks of the given function: the variables of the expected one are
// what it has at their places.
std::pair<StructInfo, StructInfo> results_of_fitting_calls(const StructInfo& given, const StructInfo& expected) {
  VarMap matches;
  for (size_t i = 0; i < given->fields.size(); ++i) match(expected->fields[i], given->fields[i], matches);
  const Substitution by_given = [&](const SymVar& var) -> std::optional<PrimExpr> {
    const auto found = matches.find(var.get());
    return found == matches.end() ? std::nullopt : std::optional(found->second);
  };
  return {substitute(given->result, by_given), substitute(expected->result, by_given)};
}

// Pure functions whose parameters are not known are closures that a join has brought together.
bool is_packed(const StructInfoNode& func) { return !func.has_params && !func.pure; }

// Which of a function's parts must be certain. Calls: its result, and what functions give that are passed to it.
enum class Certain : uint8_t { All, Result, Calls };

// The relations walk alike; they differ in what it means that the given side does not know what is expected.
class Relation {
 public:
  explicit Relation(Compatibility unknown, Certain certain = Certain::All) : unknown_(unknown), certain_(certain) {}

  // Pairs of shared parts are compared once.
  Compatibility operator()(const StructInfo& given, const StructInfo& expected) const {
    if (given == expected || expected->kind == InfoKind::Object) return Compatibility::Compatible;
    if (given->kind != InfoKind::Tuple || expected->kind != InfoKind::Tuple) return compare_parts(given, expected);
    const std::pair key(given.get(), expected.get());
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    return known_[key] = compare_parts(given, expected);
  }

 private:
  Compatibility compare_parts(const StructInfo& given, const StructInfo& expected) const {
    if (given->kind == InfoKind::Object) return unknown_;
    if (given->kind != expected->kind) return Compatibility::Incompatible;
    switch (expected->kind) {
      case InfoKind::Object:
        break;
      case InfoKind::Tensor:
        return worse(dtype(*given, *expected), shape(*given, *expected));
      case InfoKind::Shape:
        return shape(*given, *expected);
      case InfoKind::Prim:
        return worse(dtype(*given, *expected), value(*given, *expected));
      case InfoKind::Tuple:
        return fields(given->fields, expected->fields);
      case InfoKind::Func:
        return func(given, expected);
    }
    return Compatibility::Compatible;
  }

  Compatibility dtype(const StructInfoNode& given, const StructInfoNode& expected) const {
    if (expected.dtype == DType::None || given.dtype == expected.dtype) return Compatibility::Compatible;
    return given.dtype == DType::None ? unknown_ : Compatibility::Incompatible;
  }

  Compatibility shape(const StructInfoNode& given, const StructInfoNode& expected) const {
    if (given.rank && expected.rank && *given.rank != *expected.rank) return Compatibility::Incompatible;
    if (given.dims && expected.dims) return compare(*given.dims, *expected.dims);
    if (expected.dims || expected.shape_var) {
      if (expected.shape_var && given.shape_var == expected.shape_var) return Compatibility::Compatible;
      return given.dims || given.shape_var ? Compatibility::Possibly : unknown_;
    }
    return expected.rank && !given.rank ? unknown_ : Compatibility::Compatible;
  }

  Compatibility value(const StructInfoNode& given, const StructInfoNode& expected) const {
    if (!expected.value) return Compatibility::Compatible;
    return given.value ? compare(*given.value, *expected.value) : unknown_;
  }

  Compatibility fields(const std::vector<StructInfo>& given, const std::vector<StructInfo>& expected) const {
    if (given.size() != expected.size()) return Compatibility::Incompatible;
    Compatibility result = Compatibility::Compatible;
    for (size_t i = 0; i < given.size(); ++i) result = worse(result, (*this)(given[i], expected[i]));
    return result;
  }

  Compatibility func(const StructInfo& given, const StructInfo& expected) const {
    if (expected->pure && !given->pure) return Compatibility::Incompatible;
    // A closure is no PackedFunc, and the other way round.
    if (is_packed(*expected) ? !is_packed(*given) : is_packed(*given)) return Compatibility::Incompatible;
    if (!expected->has_params) return (*this)(given->result, expected->result);
    if (!given->has_params) return worse(unknown_, (*this)(given->result, expected->result));
    if (given->fields.size() != expected->fields.size()) return Compatibility::Incompatible;
    const StructInfo named = kept_.emplace_back(renamed_like(given, expected));
    if (certain_ != Certain::All) {
      const Relation may(Compatibility::Possibly);
      if (may.fields(expected->fields, named->fields) == Compatibility::Incompatible)
        return Compatibility::Incompatible;
      const auto [given_result, expected_result] = results_of_fitting_calls(named, expected);
      kept_.insert(kept_.end(), {given_result, expected_result});
      const Compatibility result = (*this)(given_result, expected_result);
      if (certain_ == Certain::Result) return result;
      Compatibility passed = Compatibility::Compatible;
      for (size_t i = 0; i < named->fields.size(); ++i)
        passed = worse(passed, functions(expected->fields[i], named->fields[i]));
      return worse(passed, result);
    }
    return worse(fields(expected->fields, named->fields), (*this)(named->result, expected->result));
  }

  // Functions and those in tuples; others are compared when they are passed.
  Compatibility functions(const StructInfo& given, const StructInfo& expected) const {
    if (given->kind == InfoKind::Func && expected->kind == InfoKind::Func) return (*this)(given, expected);
    if (given->kind != InfoKind::Tuple || expected->kind != InfoKind::Tuple) return Compatibility::Compatible;
    Compatibility result = Compatibility::Compatible;
    for (size_t i = 0; i < std::min(given->fields.size(), expected->fields.size()); ++i)
      result = worse(result, functions(given->fields[i], expected->fields[i]));
    return result;
  }

  Compatibility unknown_;
  Certain certain_;
  mutable std::map<std::pair<const StructInfoNode*, const StructInfoNode*>, Compatibility> known_;
  mutable std::vector<StructInfo> kept_;  // what known_ points to beside the two that are compared
};

StructInfo join_shapes(const StructInfo& a, const StructInfo& b) {
  StructInfoNode node{.kind = a->kind};
  if (a->dtype == b->dtype) node.dtype = a->dtype;
  if (a->rank == b->rank) node.rank = a->rank;
  if (a->dims && b->dims && compare(*a->dims, *b->dims) == Compatibility::Compatible) node.dims = a->dims;
  if (a->shape_var == b->shape_var) node.shape_var = a->shape_var;
  return std::make_shared<const StructInfoNode>(std::move(node));
}

VarSet bound_by_params(const StructInfo& func) {
  VarSet bound;
  for (const StructInfo& param : func->fields)
    for_each_binding_var(param, [&](const SymVar& var) { bound.insert(var.get()); });
  return bound;
}

// The result without what depends on the parameters.
StructInfo result_alone(const StructInfo& func) {
  const VarSet bound = bound_by_params(func);
  return erase_vars(func->result, [&](const SymVar& var) { return !bound.contains(var.get()); });
}

StructInfo join_funcs(const StructInfo& a, const StructInfo& b) {
  const bool pure = a->pure && b->pure;
  if (a->has_params && b->has_params && a->fields.size() == b->fields.size()) {
    const StructInfo named = renamed_like(b, a);
    const auto agree = [](const StructInfo& x, const StructInfo& y) {
      return is_subtype(x, y) == Compatibility::Compatible && is_subtype(y, x) == Compatibility::Compatible;
    };
    if (std::ranges::equal(a->fields, named->fields, agree))
      return func_info(a->fields, least_upper_bound(a->result, named->result), pure);
  }
  if (!pure && !(is_packed(*a) && is_packed(*b))) return object_info();
  StructInfoNode node{.kind = InfoKind::Func, .has_params = false, .pure = pure};
  node.result = least_upper_bound(result_alone(a), result_alone(b));
  return std::make_shared<const StructInfoNode>(std::move(node));
}

}  // namespace

Compatibility is_subtype(const StructInfo& sub, const StructInfo& super) {
  return Relation(Compatibility::Incompatible)(sub, super);
}

Compatibility is_compatible(const StructInfo& given, const StructInfo& expected) {
  return Relation(Compatibility::Possibly)(given, expected);
}

Compatibility is_usable_as(const StructInfo& given, const StructInfo& expected) {
  return Relation(Compatibility::Possibly, Certain::Result)(given, expected);
}

Compatibility is_passable_as(const StructInfo& given, const StructInfo& expected) {
  return Relation(Compatibility::Possibly, Certain::Calls)(given, expected);
}

namespace {

// What pairs of tuples are joined to: pairs of shared parts are joined once.
using Joins = std::map<std::pair<const StructInfoNode*, const StructInfoNode*>, StructInfo>;

StructInfo joined(const StructInfo& a, const StructInfo& b, Joins& known) {
  if (a == b) return a;
  if (a->kind != b->kind) return object_info();
  switch (a->kind) {
    case InfoKind::Object:
      return a;
    case InfoKind::Tensor:
    case InfoKind::Shape:
      return join_shapes(a, b);
    case InfoKind::Prim: {
      if (a->dtype != b->dtype) return object_info();
      const bool same_value = a->value && b->value && compare(*a->value, *b->value) == Compatibility::Compatible;
      return same_value ? a : prim_info(a->dtype);
    }
    case InfoKind::Tuple: {
      if (a->fields.size() != b->fields.size()) return object_info();
      const std::pair key(a.get(), b.get());
      if (const auto found = known.find(key); found != known.end()) return found->second;
      std::vector<StructInfo> fields;
      for (size_t i = 0; i < a->fields.size(); ++i) fields.push_back(joined(a->fields[i], b->fields[i], known));
      return known[key] = tuple_info(std::move(fields));
    }
    case InfoKind::Func:
      return join_funcs(a, b);
  }
  return object_info();
}

}  // namespace

StructInfo least_upper_bound(const StructInfo& a, const StructInfo& b) {
  Joins known;
  return joined(a, b, known);
}

namespace {

using InScope = std::function<bool(const SymVar&)>;

// Shared parts stay shared.
class Eraser {
 public:
  explicit Eraser(const InScope& in_scope) : in_scope_(in_scope) {}

  StructInfo operator()(const StructInfo& info) {
    if (!info) return info;
    if (info->kind != InfoKind::Tuple && info->kind != InfoKind::Func) return erased(info);
    if (const auto known = known_.find(info.get()); known != known_.end()) return known->second;
    return known_[info.get()] = erased(info);
  }

 private:
  bool leaves_scope(const PrimExpr& expr) const {
    bool leaves = false;
    for_each_var(expr, [&](const SymVar& var) { leaves |= !in_scope_(var); });
    return leaves;
  }

  StructInfo erased(const StructInfo& info) {
    if (info->kind == InfoKind::Func && info->has_params) {
      const VarSet bound = bound_by_params(info);
      const InScope inside = [&](const SymVar& var) { return bound.contains(var.get()) || in_scope_(var); };
      Eraser own(inside);
      Eraser& inner = bound.empty() ? *this : own;
      std::vector<StructInfo> params;
      for (const StructInfo& param : info->fields) params.push_back(inner(param));
      StructInfo result = inner(info->result);
      const bool unchanged = params == info->fields && result == info->result;
      return unchanged ? info : func_info(std::move(params), std::move(result), info->pure);
    }
    // Not on the stack, which deeply nested ones would fill.
    const auto node = std::make_shared<StructInfoNode>(*info);
    if (node->dims && std::ranges::any_of(*node->dims, [&](const PrimExpr& dim) { return leaves_scope(dim); }))
      node->dims.reset();
    if (node->shape_var && !in_scope_(node->shape_var)) node->shape_var.reset();
    if (node->value && leaves_scope(*node->value)) node->value.reset();
    for (StructInfo& field : node->fields) field = (*this)(field);
    node->result = (*this)(node->result);
    const bool unchanged = node->dims.has_value() == info->dims.has_value() && node->shape_var == info->shape_var &&
                           node->value.has_value() == info->value.has_value() && node->fields == info->fields &&
                           node->result == info->result;
    return unchanged ? info : node;
  }

  const InScope& in_scope_;
  std::unordered_map<const StructInfoNode*, StructInfo> known_;
};

}  // namespace

StructInfo erase_vars(const StructInfo& info, const InScope& in_scope) { return Eraser(in_scope)(info); }

}  // namespace ingot
