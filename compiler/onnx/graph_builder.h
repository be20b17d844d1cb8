#pragma once
#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/op.h"
#include "compiler/onnx/typed.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {

// A loop of a graph: carried values go round, and each step gives values that are collected.
struct LoopStep {
  std::optional<Typed> condition;  // go on? none: yes
  std::vector<Typed> carried;
  std::vector<Typed> collected;
};
struct Loop {
  std::optional<Typed> count;      // int64 scalar; none: no limit
  std::optional<Typed> condition;  // bool scalar: begin at all? none: yes
  std::vector<Typed> carried;
  // Called several times, until the StructInfo of what is carried stays the same.
  std::function<LoopStep(const Typed& index, const Typed& condition, std::span<const Typed> carried)> step;
  // For each collected value: the axis along which it is put together, and whether the last step comes first.
  std::vector<std::pair<int64_t, bool>> collected;
  // Dimensions that a graph declares for a collected value, 0 where it does not: of no steps nothing else tells them.
  std::vector<std::vector<int64_t>> declared = {};
};

// Appends calls of operators to a function body; each is bound to a variable, and its StructInfo is inferred at once,
// so that conversions may ask for ranks and dimensions.
class GraphBuilder {
 public:
  // The node that the following calls come from, for names and messages.
  void begin_node(ir::Span span, std::string name_hint);
  const ir::Span& span() const { return span_; }

  Typed call(std::string_view op, std::span<const Typed> args, ir::Attrs attrs = {});
  Typed call(std::string_view op, std::initializer_list<Typed> args, ir::Attrs attrs = {}) {
    return call(op, std::span(args.begin(), args.size()), std::move(attrs));
  }
  // One argument that is a tuple.
  Typed call_tuple(std::string_view op, std::span<const Typed> fields, ir::Attrs attrs = {});
  // A builtin of the VM. Dimensions of the result that `info` does not know get names, so that later operators can
  // speak of them.
  Typed builtin(std::string_view name, std::span<const Typed> args, StructInfo info);
  Typed builtin(std::string_view name, std::initializer_list<Typed> args, StructInfo info) {
    return builtin(name, std::span(args.begin(), args.size()), std::move(info));
  }
  // The value after a run-time check that it is what `info` says; dimensions of known rank get names.
  Typed match(const Typed& x, const StructInfo& info);

  Typed field(const Typed& tuple, uint32_t index);
  Typed tuple(std::span<const Typed> fields);
  Typed constant(Ref<TensorObject> data);
  Typed scalar(DType dtype, double value);
  Typed integers(std::span<const int64_t> values);
  Typed integers(std::initializer_list<int64_t> values) { return integers(std::span(values.begin(), values.size())); }
  Typed text(std::string value);
  Typed prim(int64_t value);
  Typed prim(const PrimExpr& value);
  Typed shape(Dims dims);
  Typed none();
  // A tensor with known elements; `rank` 0 or 1.
  Typed tensor_of(Dims values, size_t rank, DType dtype = DType::Int64);
  // Integers that a builtin reads as a list: known dimensions need no tensor.
  Typed list(const Typed& x);

  // Often needed calls.
  // 0, 1, ... before `count`, int64.
  Typed positions(const PrimExpr& count) { return call("arange", {prim(count)}); }
  Typed cast(const Typed& x, DType dtype);
  Typed reshape(const Typed& x, Dims dims);
  Typed transpose(const Typed& x, std::vector<int64_t> axes);
  Typed unsqueeze(const Typed& x, int64_t axis);
  Typed squeeze(const Typed& x, int64_t axis);
  // Part [begin, end) along an axis; INT64_MAX: to the end.
  Typed part(const Typed& x, int64_t axis, int64_t begin, int64_t end);
  // Parts of x along an axis; an index outside is an error, a negative one counts from the end.
  Typed gather(const Typed& x, const Typed& indices, int64_t axis) {
    return call("take", {x, indices}, {{"axis", axis}, {"mode", std::string("raise")}});
  }
  Typed add(const Typed& x, const Typed& y) { return call("add", {x, y}); }
  Typed subtract(const Typed& x, const Typed& y) { return call("subtract", {x, y}); }
  Typed multiply(const Typed& x, const Typed& y) { return call("multiply", {x, y}); }
  Typed divide(const Typed& x, const Typed& y) { return call("divide", {x, y}); }
  // With a number of the operand's dtype on the right.
  Typed call(std::string_view op, const Typed& x, double y) { return call(op, {x, scalar(x.dtype(), y)}); }

  using Branch = std::function<std::vector<Typed>()>;
  // As many results as each branch gives. A branch whose operands never fit one another raises its error where it is
  // taken, unless neither fits: exporters select whole networks by inputs.
  std::vector<Typed> branch(const Typed& condition, const Branch& if_true, const Branch& if_false);
  // What follows an if, given its results.
  using Rest = std::function<std::vector<Typed>(std::vector<Typed> results)>;
  // Puts the rest into each branch of the next `branch` if its results have different ranks there: what the rest gives
  // is then in `take_rest`, and that `branch` gives nothing.
  void offer_rest(Rest rest) { rest_ = std::move(rest); }
  std::optional<std::vector<Typed>> take_rest();
  // What is offered, for those who build it themselves, and what they got of it; is there an offer for `count` branches
  // that double what follows?
  Rest take_offer() { return std::exchange(rest_, nullptr); }
  void give_rest(std::vector<Typed> results) { rest_results_ = std::move(results); }
  bool takes_rests(size_t count) const;
  // The carried values after the last step, then what was collected.
  std::vector<Typed> loop(const Loop& loop);

  // All bindings, for a function that gives these results.
  std::vector<ir::Binding> take(std::span<const Typed> results);

 private:
  struct Body {
    std::vector<Typed> results;
    std::vector<ir::Binding> bindings;
  };

  Typed bind(ir::Expr value, StructInfo info);
  // Long expressions of dimensions get names, which are bound as the model runs.
  Typed with_short_dims(const Typed& x);
  // Drops the idle bindings that neither others nor the results use.
  void drop_idle(std::vector<ir::Binding>& bindings, std::span<const Typed> results) const;
  // What `inner` appends, apart from what is there.
  Body collect(const Branch& inner);
  ir::Expr sequence(Body body, ir::Expr result) const;
  Body collect_one(const Branch& inner, std::optional<Error>& error);
  std::array<Body, 2> collect_both(const Branch& if_true, const Branch& if_false);
  std::vector<Typed> join(const Typed& condition, std::array<Body, 2> bodies);
  // Results of the given kinds that are never there.
  std::vector<Typed> raise(const std::string& text, std::span<const Typed> like);
  // A value of the dtype, for a builtin that asks for nothing else.
  Typed prototype(DType dtype);
  Body loop_body(const Loop& loop, const std::vector<Typed>& params, const ir::VarRef& self);

  ir::Span span_;
  std::string name_hint_;
  std::vector<ir::Binding> bindings_;
  // Variables of tensors that hold known dimensions, and of what is computed from them: they are computed only where
  // they are used, although a dimension may overflow. Held, so that no later variable is taken for one of them.
  std::unordered_set<ir::Expr> idle_;
  size_t loop_depth_ = 0;
  Rest rest_;
  std::optional<std::vector<Typed>> rest_results_;
  size_t rests_ = 0;
};

}  // namespace ingot::onnx_import
