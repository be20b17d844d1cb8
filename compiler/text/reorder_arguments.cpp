#include "compiler/text/reorder_arguments.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/op.h"
#include "compiler/ir/visitor.h"

namespace ingot::text {
namespace {

using namespace ir;

class Reordering {
 public:
  Reordering(const Orders& orders, Diagnostics& diagnostics) : orders_(&orders), diagnostics_(&diagnostics) {}

  Expr expr(const Expr& e) {
    if (const auto* global = as<GlobalVar>(e); global != nullptr && order_of(e) != nullptr)
      diagnostics_->error(ErrorCode::Unsupported, e->span,
                          fmt::format("@{} is a value here and has outputs in front of inputs", global->name),
                          "put the parameters that it writes last");
    if (e->depth == 1) return e;
    const auto* call = as<Call>(e);
    if (call == nullptr) return children(e, nullptr);
    if (const auto* order = order_of(call->callee)) {
      const Expr made = children(e, call->callee);
      return in_order(*as<Call>(made), *order);
    }
    const auto* op = as<OpExpr>(call->callee);
    const auto* order = op == nullptr || call->args.empty() ? nullptr : order_of(call->args[0]);
    if (order == nullptr) return children(e, nullptr);
    const Expr made = children(e, call->args[0]);
    if (op->op->name == "call_tir_inplace") return in_place(*as<Call>(made), *order);
    diagnostics_->error(
        ErrorCode::TypeError, call->span,
        fmt::format("{}: @{} has outputs in front of inputs", op->op->name, as<GlobalVar>(call->args[0])->name),
        "call it by call_tir_inplace, or put the parameters that it writes last");
    return made;
  }

 private:
  using Order = std::vector<uint32_t>;

  const Order* order_of(const Expr& e) const {
    const auto* global = as<GlobalVar>(e);
    const auto found = global == nullptr ? orders_->end() : orders_->find(global->name);
    return found == orders_->end() ? nullptr : &found->second;
  }

  Expr children(const Expr& e, const Expr& besides) {
    return map_children(e, [&](const Expr& child) { return child == besides ? child : expr(child); });
  }

  // What is bound in front of a call, so that its arguments are evaluated in the order in which they stand.
  struct Bound {
    std::vector<Expr> args;
    std::vector<Binding> bindings;
  };
  static Bound bound(const std::vector<Expr>& args) {
    Bound result{args, {}};
    if (std::ranges::all_of(args, [](const Expr& arg) { return as<Var>(arg) != nullptr; })) return result;
    for (Expr& arg : result.args) {
      const auto var = std::make_shared<const Var>("", nullptr, false, arg->span);
      result.bindings.push_back({var, std::move(arg), nullptr, var->span});
      arg = var;
    }
    return result;
  }
  static Expr after(std::vector<Binding> bindings, Expr call) {
    if (bindings.empty()) return call;
    const Span span = call->span;
    return std::make_shared<Seq>(std::vector<BindingBlock>{{false, std::move(bindings)}}, std::move(call), span);
  }

  static Expr in_order(const Call& call, const Order& order) {
    if (call.args.size() < order.size()) return std::make_shared<Call>(call);
    Bound given = bound(call.args);
    std::vector<Expr> args = given.args;
    for (size_t i = 0; i < order.size(); ++i) args[i] = given.args[order[i]];
    return after(std::move(given.bindings),
                 std::make_shared<Call>(call.callee, std::move(args), call.attrs, call.info_args, call.span));
  }

  // The arguments are the first parameters of the text, fresh outputs the others.
  static Expr in_place(const Call& call, const Order& order) {
    const auto* tuple = call.args.size() < 2 ? nullptr : as<Tuple>(call.args[1]);
    const std::vector<Expr> fields = tuple != nullptr       ? tuple->fields
                                     : call.args.size() < 2 ? std::vector<Expr>{}
                                                            : std::vector<Expr>{call.args[1]};
    Bound given = bound(fields);
    std::vector<Expr> args;
    std::vector<int64_t> place(given.args.size(), 0);
    for (const uint32_t from : order) {
      if (from >= given.args.size()) continue;
      place[from] = static_cast<int64_t>(args.size());
      args.push_back(given.args[from]);
    }
    Attrs attrs = call.attrs;
    const auto moved = [&](int64_t index) {
      return index >= 0 && index < static_cast<int64_t>(place.size()) ? place[static_cast<size_t>(index)] : index;
    };
    if (const auto found = attrs.find("inplace_indices"); found != attrs.end()) {
      if (auto* one = std::get_if<int64_t>(&found->second)) *one = moved(*one);
      if (auto* list = std::get_if<std::vector<int64_t>>(&found->second))
        std::ranges::transform(*list, list->begin(), moved);
    }
    std::vector<Expr> all = call.args;
    if (all.size() > 1) all[1] = std::make_shared<Tuple>(std::move(args), all[1]->span);
    return after(std::move(given.bindings),
                 std::make_shared<Call>(call.callee, std::move(all), std::move(attrs), call.info_args, call.span));
  }

  const Orders* orders_;
  Diagnostics* diagnostics_;
};

}  // namespace

Module reorder_arguments(Module module, const Orders& orders, Diagnostics& diagnostics) {
  Reordering reordering(orders, diagnostics);
  const std::vector<Definition> definitions = module.definitions();
  for (Definition definition : definitions) {
    if (definition.function == nullptr) continue;
    const Expr made = reordering.expr(definition.function);
    if (made == definition.function) continue;
    definition.function = std::static_pointer_cast<const Function>(made);
    module.set(std::move(definition));
  }
  return module;
}

}  // namespace ingot::text
