#include "compiler/analysis/copy_function.h"

#include "compiler/ir/visitor.h"

namespace ingot::analysis {
namespace {

using namespace ir;

class Copier {
 public:
  Copier(const std::function<StructInfo(const StructInfo&)>& map_info, std::unordered_map<const Var*, Origin>& origin,
         uint32_t copy)
      : map_info_(map_info), origin_(origin), copy_(copy) {}

  std::shared_ptr<Function> function(const Function& f, const std::vector<StructInfo>& annotations = {}) {
    std::vector<VarRef> params;
    for (size_t i = 0; i < f.params.size(); ++i)
      params.push_back(define(f.params[i], i < annotations.size() ? annotations[i] : nullptr));
    auto made = std::make_shared<Function>(std::move(params), expr(f.body), info(f.result), f.pure, f.attrs, f.span);
    made->type_params = f.type_params;
    made->where = f.where;
    return made;
  }

 private:
  StructInfo info(const StructInfo& i) const { return i != nullptr && map_info_ ? map_info_(i) : i; }

  VarRef define(const VarRef& var, const StructInfo& annotation = nullptr) {
    auto made = std::make_shared<Var>(var->name, annotation != nullptr ? annotation : info(var->annotation),
                                      var->dataflow, var->span);
    made->shape_symbol = var->shape_symbol;
    vars_[var.get()] = made;
    const auto earlier = origin_.find(var.get());
    const Var* const first = earlier == origin_.end() ? var.get() : earlier->second.var;
    origin_.insert_or_assign(made.get(), Origin{first, copy_});
    return made;
  }

  std::vector<StructInfo> infos(const std::vector<StructInfo>& list) const {
    std::vector<StructInfo> result;
    for (const StructInfo& i : list) result.push_back(info(i));
    return result;
  }

  Expr expr(const Expr& e) {
    switch (e->kind) {
      case ExprKind::Var: {
        const auto found = vars_.find(as<Var>(e));
        return found == vars_.end() ? e : found->second;
      }
      case ExprKind::Function:
        return function(*as<Function>(e));
      case ExprKind::Seq: {
        const auto& seq = *as<Seq>(e);
        std::vector<BindingBlock> blocks;
        for (const auto& block : seq.blocks) {
          BindingBlock& made = blocks.emplace_back(BindingBlock{block.dataflow, {}});
          for (const auto& b : block.bindings) {
            const bool recursive = b.value->kind == ExprKind::Function;
            VarRef var = recursive ? define(b.var) : nullptr;
            Expr value = expr(b.value);
            if (!recursive) var = define(b.var);
            made.bindings.push_back({std::move(var), std::move(value), info(b.cast), b.span, b.graph});
          }
        }
        Expr body = expr(seq.body);
        auto made = std::make_shared<Seq>(std::move(blocks), std::move(body), e->span);
        made->result_span = seq.result_span;
        return made;
      }
      case ExprKind::Call: {
        const auto& call = *as<Call>(e);
        Expr callee = expr(call.callee);
        std::vector<Expr> args;
        for (const Expr& arg : call.args) args.push_back(expr(arg));
        auto made =
            std::make_shared<Call>(std::move(callee), std::move(args), call.attrs, infos(call.info_args), e->span);
        made->kernel = call.kernel;
        return made;
      }
      case ExprKind::ExternFunc: {
        const auto& f = *as<ExternFunc>(e);
        return std::make_shared<ExternFunc>(f.name, infos(f.results), f.writes, e->span);
      }
      default:
        return map_children(e, [this](const Expr& child) { return expr(child); });
    }
  }

  const std::function<StructInfo(const StructInfo&)>& map_info_;
  std::unordered_map<const Var*, Origin>& origin_;
  uint32_t copy_;
  std::unordered_map<const Var*, VarRef> vars_;
};

}  // namespace

FunctionRef copy_function(const Function& function, const std::function<StructInfo(const StructInfo&)>& map_info,
                          const std::vector<StructInfo>& params, std::unordered_map<const Var*, Origin>& origin,
                          uint32_t copy) {
  return Copier(map_info, origin, copy).function(function, params);
}

}  // namespace ingot::analysis
