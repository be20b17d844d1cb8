#include <algorithm>
#include <array>

#include "compiler/onnx/graph_builder.h"
#include "compiler/ops/ops.h"
#include "runtime/base/error.h"

// Ifs and loops of graphs: ifs of the language, and local functions that call themselves at their end.
namespace ingot::onnx_import {
namespace {

// Loops nested deeper than this begin with what a loop forgets anyway, so that bodies are not built over and over.
constexpr size_t kPreciseLoops = 3;
// What follows an if may be built twice for each of these; behind more of them, ranks are only known at run time.
constexpr size_t kMaxRests = 16;

StructInfo forget_dims(const StructInfo& info) {
  if (info == nullptr || info->kind != InfoKind::Tensor || !info->rank || *info->rank == 0) return info;
  return tensor_info(info->dtype, *info->rank);
}

std::vector<StructInfo> infos_of(std::span<const Typed> values) {
  std::vector<StructInfo> infos;
  for (const auto& value : values) infos.push_back(value.info);
  return infos;
}

struct Deeper {
  explicit Deeper(size_t& depth) : depth_(depth) { ++depth_; }
  ~Deeper() { --depth_; }

 private:
  size_t& depth_;
};

bool ranks_differ(std::span<const Typed> a, std::span<const Typed> b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i].is_tensor() && b[i].is_tensor() && a[i].info->rank && b[i].info->rank &&
        a[i].info->rank != b[i].info->rank)
      return true;
  return false;
}

}  // namespace

GraphBuilder::Body GraphBuilder::collect(const Branch& inner) {
  auto outer = std::exchange(bindings_, {});
  const ir::Span span = span_;
  const std::string hint = name_hint_;
  Body body;
  try {
    body.results = inner();
  } catch (...) {
    bindings_ = std::move(outer);
    throw;
  }
  body.bindings = std::exchange(bindings_, std::move(outer));
  drop_idle(body.bindings, body.results);
  span_ = span;
  name_hint_ = hint;
  return body;
}

ir::Expr GraphBuilder::sequence(Body body, ir::Expr result) const {
  std::vector<ir::BindingBlock> blocks;
  if (!body.bindings.empty()) blocks.push_back({false, std::move(body.bindings)});
  return std::make_shared<ir::Seq>(std::move(blocks), std::move(result), span_);
}

GraphBuilder::Body GraphBuilder::collect_one(const Branch& inner, std::optional<Error>& error) {
  try {
    return collect(inner);
  } catch (const Error& caught) {
    if (caught.code() != ErrorCode::ShapeMismatch && caught.code() != ErrorCode::IndexOutOfRange) throw;
    error = caught;
    return {};
  }
}

// Both bodies, one of which may be nothing but the error that it would raise.
std::array<GraphBuilder::Body, 2> GraphBuilder::collect_both(const Branch& if_true, const Branch& if_false) {
  std::optional<Error> errors[2];
  std::array<Body, 2> bodies = {collect_one(if_true, errors[0]), collect_one(if_false, errors[1])};
  if (errors[0] && errors[1]) throw *errors[0];
  for (size_t i = 0; i < 2; ++i)
    if (errors[i]) bodies[i] = collect([&] { return raise(errors[i]->what(), bodies[1 - i].results); });
  return bodies;
}

std::vector<Typed> GraphBuilder::branch(const Typed& condition, const Branch& if_true, const Branch& if_false) {
  const Rest rest = std::exchange(rest_, nullptr);
  std::array<Body, 2> bodies = collect_both(if_true, if_false);
  if (!rest || !ranks_differ(bodies[0].results, bodies[1].results) || rests_ == kMaxRests)
    return join(condition, std::move(bodies));
  ++rests_;
  const auto then_rest = [&](size_t i) {
    return [this, &rest, &body = bodies[i]] {
      bindings_ = std::move(body.bindings);
      return rest(std::move(body.results));
    };
  };
  rest_results_ = join(condition, collect_both(then_rest(0), then_rest(1)));
  return {};
}

bool GraphBuilder::takes_rests(size_t count) const { return rest_ && rests_ + (size_t{1} << count) - 1 <= kMaxRests; }

std::optional<std::vector<Typed>> GraphBuilder::take_rest() {
  rest_ = nullptr;
  return std::exchange(rest_results_, std::nullopt);
}

std::vector<Typed> GraphBuilder::raise(const std::string& text, std::span<const Typed> like) {
  std::vector<Typed> results;
  for (const auto& value : like) {
    Typed result = builtin("raise", {this->text(text)}, forget_dims(value.info));
    result.element = value.element;
    result.content = value.content;
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<Typed> GraphBuilder::join(const Typed& condition, std::array<Body, 2> bodies) {
  const size_t count = bodies[0].results.size();
  if (bodies[1].results.size() != count)
    fail(ErrorCode::InvalidArgument, "the branches give {} and {} values", count, bodies[1].results.size());
  std::vector<StructInfo> infos, elements;
  for (size_t i = 0; i < count; ++i) {
    const Typed &a = bodies[0].results[i], &b = bodies[1].results[i];
    // Dimensions that a branch has bound itself mean nothing outside.
    StructInfo info = common_info(a.info, b.info);
    if (info->kind == InfoKind::Tensor && info->dtype == DType::None)
      fail(ErrorCode::TypeError, "the branches give {} and {}", to_text(a.info), to_text(b.info));
    infos.push_back(std::move(info));
    elements.push_back(forget_dims(common_info(a.element, b.element)));
  }
  const auto result_of = [&](const Body& body) { return count == 1 ? body.results[0].expr : tuple(body.results).expr; };
  ir::Expr results[2] = {result_of(bodies[0]), result_of(bodies[1])};
  ir::Expr then_branch = sequence(std::move(bodies[0]), results[0]);
  ir::Expr else_branch = sequence(std::move(bodies[1]), results[1]);
  const Typed both =
      bind(std::make_shared<ir::If>(condition.expr, std::move(then_branch), std::move(else_branch), span_),
           count == 1 ? infos[0] : tuple_info(infos));
  std::vector<Typed> values;
  for (size_t i = 0; i < count; ++i) {
    Typed value = count == 1
                      ? both
                      : bind(std::make_shared<ir::TupleGetItem>(both.expr, static_cast<uint32_t>(i), span_), infos[i]);
    value = match(value, infos[i]);
    value.element = elements[i];
    values.push_back(std::move(value));
  }
  return values;
}

Typed GraphBuilder::prototype(DType dtype) {
  if (dtype != DType::String) return scalar(dtype, 0);
  return constant(make_tensor(nullptr, dtype, std::array<int64_t, 1>{0}));
}

std::vector<Typed> GraphBuilder::loop(const Loop& loop) {
  const Deeper deeper(loop_depth_);
  const size_t carried = loop.carried.size();
  std::vector<StructInfo> infos, elements;
  for (const auto& value : loop.carried) {
    infos.push_back(loop_depth_ > kPreciseLoops ? forget_dims(value.info) : value.info);
    elements.push_back(loop_depth_ > kPreciseLoops ? forget_dims(value.element) : value.element);
  }
  const auto index_info = tensor_info(DType::Int64, Dims{}), flag_info = tensor_info(DType::Bool, Dims{});
  const auto var = [&](const char* name, const StructInfo& info) {
    return std::make_shared<ir::Var>(name, info, false, span_);
  };
  const auto self = std::make_shared<ir::Var>("loop", nullptr, false, span_);
  std::vector<ir::VarRef> params;
  std::vector<StructInfo> collected_infos;
  ir::Expr body;
  std::vector<StructInfo> result_infos;
  for (size_t round = 0;; ++round) {
    if (round > 8) fail(ErrorCode::Unsupported, "the kinds of the carried values do not settle");
    params = {var("i", index_info), var("go_on", flag_info)};
    for (const auto& info : infos) params.push_back(var("carried", info));
    params.push_back(var("collected", object_info()));
    result_infos = infos;
    result_infos.push_back(object_info());
    LoopStep step;
    // One step, then the function again; the results of a step that has one too many go nowhere.
    Body more = collect([&] {
      std::vector<Typed> values;
      for (size_t i = 0; i < carried; ++i) {
        Typed value = match({params[2 + i], infos[i], std::nullopt, elements[i]}, infos[i]);
        value.element = elements[i];
        values.push_back(std::move(value));
      }
      const Typed index{params[0], index_info};
      step = loop.step(index, {params[1], flag_info}, values);
      if (step.carried.size() != carried || step.collected.size() != loop.collected.size())
        fail(ErrorCode::InvalidArgument, "a step gives {} carried and {} collected values, {} and {} are expected",
             step.carried.size(), step.collected.size(), carried, loop.collected.size());
      std::vector<Typed> list = {{params.back(), object_info()}};
      list.insert(list.end(), step.collected.begin(), step.collected.end());
      std::vector<ir::Expr> args = {call("add", {index, scalar(DType::Int64, 1)}).expr,
                                    step.condition ? step.condition->expr : scalar(DType::Bool, 1).expr};
      for (const auto& value : step.carried) args.push_back(value.expr);
      args.push_back(loop.collected.empty() ? params.back() : tuple(list).expr);
      return std::vector{
          bind(std::make_shared<ir::Call>(self, std::move(args), ir::Attrs{}, std::vector<StructInfo>{}, span_),
               tuple_info(result_infos))};
    });
    bool settled = true;
    for (size_t i = 0; i < carried; ++i) {
      StructInfo info = common_info(infos[i], step.carried[i].info);
      if (info->kind == InfoKind::Tensor && info->dtype == DType::None)
        fail(ErrorCode::TypeError, "carried value {} is {} before a step and {} after it", i, to_text(infos[i]),
             to_text(step.carried[i].info));
      StructInfo element = forget_dims(common_info(elements[i], step.carried[i].element));
      settled = settled && same_info(info, infos[i]) &&
                (element == nullptr || (elements[i] != nullptr && same_info(element, elements[i])));
      infos[i] = std::move(info);
      elements[i] = std::move(element);
    }
    if (!settled) continue;
    collected_infos = infos_of(step.collected);
    Body stop = collect([&] {
      std::vector<Typed> values;
      for (size_t i = 2; i < params.size(); ++i) values.push_back({params[i], params[i]->annotation});
      return values;
    });
    Body head = collect([&] {
      Typed go_on{params[1], flag_info};
      if (loop.count) go_on = call("logical_and", {go_on, call("less", {{params[0], index_info}, *loop.count})});
      const Typed again = more.results[0];
      const Typed last = tuple(stop.results);
      return std::vector{bind(std::make_shared<ir::If>(go_on.expr, sequence(std::move(more), again.expr),
                                                       sequence(std::move(stop), last.expr), span_),
                              tuple_info(result_infos))};
    });
    const ir::Expr result = head.results[0].expr;
    body = sequence(std::move(head), result);
    break;
  }
  bindings_.push_back({self,
                       std::make_shared<ir::Function>(std::move(params), std::move(body), tuple_info(result_infos),
                                                      true, ir::Attrs{}, span_),
                       nullptr, span_});
  std::vector<ir::Expr> args = {scalar(DType::Int64, 0).expr,
                                loop.condition ? loop.condition->expr : scalar(DType::Bool, 1).expr};
  for (const auto& value : loop.carried) args.push_back(value.expr);
  args.push_back(tuple({}).expr);
  const Typed all =
      bind(std::make_shared<ir::Call>(self, std::move(args), ir::Attrs{}, std::vector<StructInfo>{}, span_),
           tuple_info(result_infos));
  std::vector<Typed> results;
  for (size_t i = 0; i < carried; ++i) {
    Typed value = match(field(all, static_cast<uint32_t>(i)), infos[i]);
    value.element = elements[i];
    results.push_back(std::move(value));
  }
  if (loop.collected.empty()) return results;
  const Typed list = field(all, static_cast<uint32_t>(carried));
  for (size_t i = 0; i < loop.collected.size(); ++i) {
    const StructInfo& info = collected_infos[i];
    if (info->kind != InfoKind::Tensor) fail(ErrorCode::TypeError, "collected value {} is no tensor", i);
    std::vector<int64_t> dims = i < loop.declared.size() ? loop.declared[i] : std::vector<int64_t>{};
    if (info->rank) dims.resize(*info->rank, 0);
    if (info->dims)
      for (size_t d = 0; d < info->dims->size(); ++d) dims[d] = (*info->dims)[d].as_const().value_or(dims[d]);
    results.push_back(builtin("stack_list",
                              {list, prim(static_cast<int64_t>(i)), prim(loop.collected[i].first),
                               prim(loop.collected[i].second ? 1 : 0), prototype(info->dtype), integers(dims)},
                              info->rank ? tensor_info(info->dtype, *info->rank + 1) : tensor_info(info->dtype)));
  }
  return results;
}

}  // namespace ingot::onnx_import
