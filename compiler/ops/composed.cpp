#include "compiler/ops/composed.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ops/ops.h"

namespace ingot::ops {

using namespace ir;

namespace {

class Composition {
 public:
  explicit Composition(const CallSite& call) {
    for (size_t i = 0; i < call.size(); ++i) infos_.emplace(call.arg(i).get(), call.info(i));
  }

  StructInfo info(const Expr& e) {
    if (const auto known = infos_.find(e.get()); known != infos_.end()) return known->second;
    StructInfo result = e->info != nullptr ? e->info : derive(*e);
    infos_.emplace(e.get(), result);
    return result;
  }

  Effect effect() const { return effect_; }

 private:
  StructInfo derive(const ExprNode& e) {
    switch (e.kind) {
      case ExprKind::Tuple: {
        std::vector<StructInfo> fields;
        for (const auto& field : static_cast<const Tuple&>(e).fields) fields.push_back(info(field));
        return tuple_info(std::move(fields));
      }
      case ExprKind::TupleGetItem: {
        const auto& item = static_cast<const TupleGetItem&>(e);
        return info(item.tuple)->fields.at(item.index);
      }
      case ExprKind::Shape:
        return shape_info(static_cast<const Shape&>(e).dims);
      case ExprKind::Constant: {
        const auto& data = *static_cast<const Constant&>(e).data;
        return tensor_info(data.dtype, Dims(data.dims().begin(), data.dims().end()));
      }
      case ExprKind::Call:
        break;
      default:
        return object_info();
    }
    const auto& call = static_cast<const Call&>(e);
    const Op& op = *as<OpExpr>(call.callee)->op;
    std::vector<StructInfo> infos;
    for (const auto& arg : call.args) infos.push_back(info(arg));
    const CallSite site(op, call.args, infos, call.attrs, call.info_args);
    StructInfo result = op.infer(site);
    effect_ = std::max(effect_, effect_of(site));
    return result;
  }

  std::unordered_map<const ExprNode*, StructInfo> infos_;
  Effect effect_ = Effect::Total;
};

Expr meaning_of(const CallSite& call) { return std::get<Expr>(call.op().define(call)); }

}  // namespace

StructInfo infer_composed(const CallSite& call) {
  const Expr meaning = meaning_of(call);
  try {
    return Composition(call).info(meaning);
  } catch (const Error& error) {
    const std::string_view told = error.what();
    const std::string prefix = fmt::format("{}: ", call.op().name);
    throw Error(error.code(), told.starts_with(prefix) ? std::string(told) : prefix + std::string(told));
  }
}

Effect composed_effect(const CallSite& call) {
  const Expr meaning = meaning_of(call);
  Composition composition(call);
  composition.info(meaning);
  return composition.effect();
}

}  // namespace ingot::ops
