#include <algorithm>

#include "compiler/analysis/inference.h"
#include "compiler/analysis/literals.h"
#include "compiler/ir/prim_value.h"
#include "compiler/ops/ops.h"

namespace ingot::analysis {

using namespace ir;

namespace {

bool is_above_rank_0(const StructInfo& info) { return info->kind == InfoKind::Tensor && info->rank && *info->rank > 0; }

}  // namespace

Expr Inference::value(const Expr& e, const StructInfo& expected, const Binding& b) {
  switch (e->kind) {
    case ExprKind::Function:
      return function(*as<Function>(e), b.var.get());
    case ExprKind::If:
      return branch(*as<If>(e), expected);
    case ExprKind::Call:
      return call(*as<Call>(e), expected);
    case ExprKind::TupleGetItem:
      return projection(*as<TupleGetItem>(e));
    default:
      return leaf(e, expected);
  }
}

// The open literal that the expression is or stands for; null where it is something else.
const Constant* Inference::literal_of(const Expr& e) const {
  if (const auto* var = as<Var>(e)) {
    const auto found = literals_.find(var);
    return found == literals_.end() ? nullptr : as<Constant>(found->second);
  }
  return is_open_literal(e) ? as<Constant>(e) : nullptr;
}

bool Inference::is_text(const Expr& e) { return as<DataType>(e) != nullptr || as<String>(e) != nullptr; }

// The dtype or string that a variable stands for; operators take their results' dtypes from there.
const Expr& Inference::written(const Expr& e) const {
  const auto found = texts_.find(as<Var>(e));
  return found == texts_.end() ? e : found->second;
}

Expr Inference::literal(const Constant& constant, DType dtype) {
  if (!can_adapt(constant, dtype)) dtype = default_dtype(constant);
  if (auto adapted = adapt(constant, dtype)) return adapted;
  diagnostics_->error(ErrorCode::TypeError, place(constant.span),
                      fmt::format("the literal is out of the range of {}", dtype_name(dtype)),
                      "give it a suffix of a wider dtype, such as i64 or f64");
  return typed(std::make_shared<Constant>(constant.data, false, constant.span), wrong());
}

Expr Inference::leaf(const Expr& given_e, const StructInfo& expected) {
  const Expr& e = meant(given_e);
  if (const Constant* open = literal_of(e)) {
    const bool known = expected != nullptr && expected->kind == InfoKind::Tensor && expected->dtype != DType::None;
    return literal(*open, known ? expected->dtype : default_dtype(*open));
  }
  if (OpenTemp* temp = open_temp(e)) settle(*temp, expected);
  switch (e->kind) {
    case ExprKind::Constant: {
      const auto& constant = *as<Constant>(e);
      std::vector<PrimExpr> dims(constant.data->dims().begin(), constant.data->dims().end());
      return typed(std::make_shared<Constant>(constant.data, false, e->span),
                   tensor_info(constant.data->dtype, std::move(dims)));
    }
    case ExprKind::Var:
      return variable(e, expected);
    case ExprKind::GlobalVar:
      return global_variable(e, expected);
    case ExprKind::Tuple: {
      std::vector<Expr> fields;
      std::vector<StructInfo> infos;
      const auto& given = as<Tuple>(e)->fields;
      for (size_t i = 0; i < given.size(); ++i) {
        const bool known = expected != nullptr && expected->kind == InfoKind::Tuple && i < expected->fields.size();
        fields.push_back(leaf(given[i], known ? expected->fields[i] : nullptr));
        infos.push_back(fields.back()->info);
      }
      return typed(std::make_shared<Tuple>(std::move(fields), e->span), tuple_info(std::move(infos)));
    }
    case ExprKind::Shape:
      return typed(std::make_shared<Shape>(*as<Shape>(e)), shape_info(as<Shape>(e)->dims));
    case ExprKind::Op:
      return typed(std::make_shared<OpExpr>(*as<OpExpr>(e)), wrong());
    case ExprKind::PrimValue: {
      const auto& prim = *as<PrimValue>(e);
      const auto* expr = std::get_if<PrimExpr>(&prim.value);
      if (expr != nullptr && !*expr) return typed(std::make_shared<PrimValue>(prim), wrong());
      return typed(std::make_shared<PrimValue>(prim),
                   expr != nullptr ? prim_info(dtype_of(prim), *expr) : prim_info(dtype_of(prim)));
    }
    case ExprKind::String:
      return typed(std::make_shared<String>(*as<String>(e)), object_info());
    case ExprKind::DataType:
      return typed(std::make_shared<DataType>(*as<DataType>(e)), object_info());
    case ExprKind::NullValue:
      return typed(std::make_shared<NullValue>(e->span), object_info());
    case ExprKind::ExternFunc: {
      const std::vector<StructInfo> results = resolved(as<ExternFunc>(e)->results);
      StructInfo result = results.empty() ? object_info() : results.size() == 1 ? results[0] : tuple_info(results);
      auto made = std::make_shared<ExternFunc>(as<ExternFunc>(e)->name, results, as<ExternFunc>(e)->writes, e->span);
      return typed(std::move(made), packed_func_info(std::move(result)));
    }
    default:
      fail(ErrorCode::Internal, "inference met a nested expression in a module of form Normal");
  }
}

Expr Inference::global_variable(const Expr& e, const StructInfo& expected) {
  const auto& name = as<GlobalVar>(e)->name;
  const auto made = std::make_shared<GlobalVar>(name, e->span);
  const auto found = globals_.find(name);
  if (found == globals_.end() || !found->second.polymorphic) return typed(made, signature(name, place(e->span)));
  return passed_global(e, found->second, expected);
}

Expr Inference::variable(const Expr& e, const StructInfo& expected) {
  const auto* var = as<Var>(e);
  if (const auto open = locals_.find(var); open != locals_.end()) {
    return passed_local(e, *open->second, expected);
  }
  if (var->info != nullptr && var->info->kind == InfoKind::Func && is_unknown(var->info->result)) asked_.insert(var);
  if (var->info == nullptr) {
    refuse_undefined(place(e->span), "%" + var->name);
    var->info = wrong();
  }
  var->info = holes_.resolve(var->info);
  return e;
}

// What an if, `&&` and `||` ask for: one boolean. Checked at run time where it is not known to be one.
Expr Inference::condition(const Expr& e, std::string_view what) {
  Expr value = leaf(e);
  if (mentions_unknown(value->info)) return value;
  if (value->info->kind == InfoKind::Prim && value->info->dtype == DType::Bool) return value;
  const StructInfo wanted = tensor_info(DType::Bool, std::vector<PrimExpr>{});
  if (holes_.is_hole(value->info)) {
    relate(value->info, wanted, context_.here, std::string(what));
    return value;
  }
  switch (is_compatible(value->info, wanted)) {
    case Compatibility::Incompatible:
      diagnostics_->error(ErrorCode::TypeError, context_.here,
                          fmt::format("{} is {}, expected Tensor[(), bool]", what, to_text(value->info)),
                          value->info->kind == InfoKind::Tensor && value->info->dtype == DType::Bool
                              ? "reduce it to one boolean, for example with all() or any()"
                              : "compare it with something, for example with != 0");
      return value;
    case Compatibility::Possibly:
      return bind_cast(value, wanted, "");
    case Compatibility::Compatible:
      break;
  }
  return value;
}

// `a && b` and `a || b`: ifs on rank 0, elementwise operators above and in dataflow blocks.
Expr Inference::short_circuit(const If& e, const Expr& left) {
  const bool both = e.sugar == ShortCircuit::And;
  const bool strict_block = context_.dataflow;
  Expr other = sequence(*as<Seq>(both ? e.then_branch : e.else_branch), nullptr);
  const Seq& right = *as<Seq>(other);
  if (!is_known(left->info) || !is_known(right.body->info)) {
    const bool holes = !mentions_unknown(left->info) && !mentions_unknown(right.body->info);
    return typed(std::make_shared<Tuple>(std::vector<Expr>{}, e.span), holes ? fresh() : doubt({left, right.body}));
  }
  const bool strict = strict_block || is_above_rank_0(left->info) || is_above_rank_0(right.body->info);
  if (!strict) {
    const auto is_prim = [](const Expr& side) {
      return side->info->kind == InfoKind::Prim && side->info->dtype == DType::Bool;
    };
    const bool prims = is_prim(left) && is_prim(right.body);
    const StructInfo wanted = prims ? prim_info(DType::Bool) : tensor_info(DType::Bool, std::vector<PrimExpr>{});
    const std::string_view op = both ? "&&" : "||";
    const Expr checked = condition(left, fmt::format("the left side of {}", op));
    expect(right.body->info, wanted, context_.here, fmt::format("the right side of {}", op));
    const Expr& constant = static_cast<const Seq&>(both ? *e.else_branch : *e.then_branch).body;
    Expr known = prims ? typed(std::make_shared<PrimValue>(!both, e.span), wanted) : leaf(constant);
    Expr stop = typed(std::make_shared<Seq>(std::vector<BindingBlock>{}, std::move(known), e.span), wanted);
    return typed(std::make_shared<If>(checked, both ? other : stop, both ? stop : other, e.span),
                 least_upper_bound(other->info, wanted));
  }
  for (const auto& block : right.blocks)
    for (const auto& b : block.bindings) {
      const auto* inner = as<Call>(b.value);
      const auto* op = inner != nullptr ? as<OpExpr>(inner->callee) : nullptr;
      bool total = b.cast == nullptr && inner == nullptr;
      if (op != nullptr) {
        std::vector<StructInfo> infos;
        for (const Expr& arg : inner->args) infos.push_back(arg->info);
        total = ops::effect_of(CallSite(*op->op, inner->args, infos, inner->attrs, inner->info_args)) == Effect::Total;
      }
      if (strict_block && !total)
        diagnostics_->error(ErrorCode::WellFormedness, place(b.span),
                            "the right side of && and || inside a dataflow block may not fail or branch",
                            "move it behind the block", 7);
      context_.into->push_back(b);
    }
  const auto op = std::make_shared<OpExpr>(ops::find(both ? "logical_and" : "logical_or"), e.span);
  return call_operator(Call(op, {left, right.body}, {}, {}, e.span), *op->op, nullptr);
}

namespace {

// Operators whose operands and result have one dtype.
bool keeps_dtype(std::string_view op) {
  constexpr std::string_view kOps[] = {"add",     "subtract", "multiply", "divide",       "mod",
                                       "maximum", "minimum",  "power",    "floor_divide", "negative"};
  return std::ranges::find(kOps, op) != std::end(kOps);
}

}  // namespace

// What a branch tells a literal in the other one: its StructInfo or, where that depends on a recursive call whose
// result is not known yet, that of what is computed with the call. Null where neither is known.
StructInfo Inference::told_by(const Expr& branch) const {
  if (branch->info != pending()) return branch->info;
  const Seq& seq = *as<Seq>(branch);
  std::vector<const Var*> open{as<Var>(seq.body)};
  for (auto block = seq.blocks.rbegin(); block != seq.blocks.rend(); ++block)
    for (auto b = block->bindings.rbegin(); b != block->bindings.rend(); ++b) {
      const auto* call = as<Call>(b->value);
      const auto* op = call != nullptr ? as<OpExpr>(call->callee) : nullptr;
      if (op == nullptr || !keeps_dtype(op->op->name) || std::ranges::find(open, b->var.get()) == open.end()) continue;
      for (const Expr& arg : call->args) {
        if (arg == nullptr || arg->info == nullptr) continue;
        // A number may have become an int32 for want of anything else.
        const bool number = as<Constant>(arg) != nullptr && arg->info->dtype == DType::Int32;
        if (is_known(arg->info) && arg->info->kind == InfoKind::Tensor && !number && !is_number(arg)) return arg->info;
        open.push_back(as<Var>(arg));
      }
    }
  return nullptr;
}

Expr Inference::branch(const If& e, const StructInfo& expected) {
  if (e.sugar != ShortCircuit::None) return short_circuit(e, leaf(e.condition));
  Expr test = condition(e.condition, "the condition of an if");
  const auto& then_seq = *as<Seq>(e.then_branch);
  const auto& else_seq = *as<Seq>(e.else_branch);
  Expr then_branch, else_branch;
  const bool open_then = open_class(then_seq).has_value();
  const bool open_else = open_class(else_seq).has_value();
  if (expected == nullptr && open_then) {
    else_branch = sequence(else_seq, nullptr);
    then_branch = sequence(then_seq, told_by(else_branch));
  } else {
    then_branch = sequence(then_seq, expected);
    else_branch = sequence(else_seq, expected != nullptr ? expected : told_by(then_branch));
  }
  const StructInfo info = join(then_branch->info, else_branch->info, open_then, open_else);
  return typed(std::make_shared<If>(std::move(test), std::move(then_branch), std::move(else_branch), e.span), info);
}

// The StructInfo of an if. Type variables are those of both branches; a literal leaves them open.
StructInfo Inference::join(const StructInfo& then_info, const StructInfo& else_info, bool open_then, bool open_else) {
  if (mentions_wrong(then_info) || mentions_wrong(else_info)) return wrong();
  if (mentions_unknown(then_info)) return else_info;
  if (mentions_unknown(else_info)) return then_info;
  if (is_known(then_info) && is_known(else_info)) return least_upper_bound(then_info, else_info);
  if (open_then != open_else) {
    literal_uses_.emplace_back(open_then ? then_info : else_info, open_then ? else_info : then_info);
    return open_then ? else_info : then_info;
  }
  const bool clash = holes_.unify(then_info, else_info) == Holes::Result::Clash ||
                     holes_.unify(else_info, then_info) == Holes::Result::Clash;
  return clash ? object_info() : holes_.resolve(then_info);
}

Expr Inference::projection(const TupleGetItem& e) {
  Expr tuple = leaf(e.tuple);
  StructInfo info = wrong();
  const StructInfo given = holes_.resolve(tuple->info);
  if (holes_.is_hole(given)) return typed(std::make_shared<TupleGetItem>(std::move(tuple), e.index, e.span), fresh());
  if (is_unknown(given)) return typed(std::make_shared<TupleGetItem>(std::move(tuple), e.index, e.span), given);
  if (given->kind != InfoKind::Tuple) {
    diagnostics_->error(
        ErrorCode::TypeError, place(e.span),
        fmt::format("projection .{} of {}, which is no tuple", e.index, to_text(holes_.filled(given, nullptr))),
        given->kind == InfoKind::Object ? "match_cast it to a tuple first" : "");
  } else if (e.index >= given->fields.size()) {
    diagnostics_->error(ErrorCode::IndexOutOfRange, place(e.span),
                        fmt::format("projection .{} of a tuple with {} fields", e.index, given->fields.size()));
  } else {
    info = given->fields[e.index];
  }
  return typed(std::make_shared<TupleGetItem>(std::move(tuple), e.index, e.span), std::move(info));
}

}  // namespace ingot::analysis
