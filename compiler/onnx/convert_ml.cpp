#include <algorithm>
#include <cmath>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"

// Operators of ai.onnx.ml: tables and trees.
namespace ingot::onnx_import {
namespace {

// More steps from a root to a leaf are no trees that were learned.
constexpr size_t kDeepestTree = 256;
// The members of all nodes, each with as many as the one that has most.
constexpr size_t kMostMembers = size_t{1} << 24;

Typed tensor_attribute(const Node& node, std::string_view name) {
  const auto* attribute = node.find(name);
  if (attribute == nullptr) fail(ErrorCode::InvalidArgument, "attribute {} is missing", name);
  return node.builder().constant(read_tensor(attribute->t()));
}

std::vector<double> numbers_of(const Node& node, std::string_view name) {
  const Typed value = tensor_attribute(node, name);
  const TensorObject& tensor = *value.constant();
  if (tensor.dtype == DType::String) fail(ErrorCode::TypeError, "attribute {} has strings", name);
  std::vector<double> numbers;
  with_element(tensor.dtype, [&]<typename T>() {
    for (size_t i = 0; i < tensor.bytes / sizeof(T); ++i)
      numbers.push_back(convert<double>(load_element<T>(tensor.data + i * sizeof(T))));
  });
  return numbers;
}

Typed vector_of(GraphBuilder& b, std::span<const double> values, DType dtype, std::vector<int64_t> dims) {
  auto data = make_tensor(nullptr, dtype, dims);
  with_element(dtype, [&]<typename T>() {
    for (size_t i = 0; i < values.size(); ++i) store_element<T>(data->data + i * sizeof(T), convert<T>(values[i]));
  });
  return b.constant(std::move(data));
}

// Where to go from the inner nodes of all trees; the leaves stand behind them, and lead to themselves.
struct Trees {
  size_t inner = 0, leaves = 0, depth = 0;
  std::vector<int64_t> roots, yes, no, feature, mode;
  std::vector<double> split, missing;
  std::vector<std::vector<double>> members;
};

enum Mode : int64_t { LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual, Member };

// How many steps it is from each node to the deepest leaf below it; `steps` are those from a root so far. Nodes may
// have several parents, but not be below themselves.
size_t depth_from(const Trees& trees, size_t at, size_t steps, std::vector<size_t>& known) {
  if (at >= trees.inner) return 0;
  if (known[at] != 0) return known[at];
  if (steps >= kDeepestTree)
    fail(ErrorCode::Unsupported, "a tree goes in circles, or is more than {} deep", kDeepestTree);
  const size_t below = std::max(depth_from(trees, static_cast<size_t>(trees.yes[at]), steps + 1, known),
                                depth_from(trees, static_cast<size_t>(trees.no[at]), steps + 1, known));
  return known[at] = below + 1;
}

Trees trees_of(const Node& node) {
  Trees t;
  const auto list = [&](std::string_view name, size_t count) {
    auto values = node.integers(name).value_or(std::vector<int64_t>{});
    if (count != SIZE_MAX && values.size() != count)
      fail(ErrorCode::InvalidArgument, "attribute {} has {} values, {} nodes are there", name, values.size(), count);
    return values;
  };
  t.feature = list("nodes_featureids", SIZE_MAX);
  t.inner = t.feature.size();
  t.leaves = list("leaf_targetids", SIZE_MAX).size();
  t.roots = list("tree_roots", SIZE_MAX);
  const int64_t targets = node.integer("n_targets", 1, 1);
  node.integers("leaf_targetids", t.leaves, 0, 0, targets - 1);
  const auto columns = node.input(0).dim(1).as_const();
  node.integers("nodes_featureids", t.inner, 0, 0, columns ? *columns - 1 : INT64_MAX);
  const auto next = [&](std::string_view ids, std::string_view flags) {
    auto places = list(ids, t.inner);
    const auto is_leaf = node.integers(flags, t.inner, 0, 0, 1);
    for (size_t i = 0; i < t.inner; ++i) {
      const size_t end = is_leaf[i] != 0 ? t.leaves : t.inner;
      if (places[i] < 0 || static_cast<size_t>(places[i]) >= end)
        fail(ErrorCode::IndexOutOfRange, "attribute {} names number {} of {}", ids, places[i], end);
      if (is_leaf[i] != 0) places[i] += static_cast<int64_t>(t.inner);
    }
    for (size_t i = 0; i < t.leaves; ++i) places.push_back(static_cast<int64_t>(t.inner + i));
    return places;
  };
  t.yes = next("nodes_truenodeids", "nodes_trueleafs");
  t.no = next("nodes_falsenodeids", "nodes_falseleafs");
  const auto modes = numbers_of(node, "nodes_modes");
  t.split = numbers_of(node, "nodes_splits");
  if (modes.size() != t.inner || t.split.size() != t.inner)
    fail(ErrorCode::InvalidArgument, "{} modes and {} splits for {} nodes", modes.size(), t.split.size(), t.inner);
  const auto tracks = node.integers("nodes_missing_value_tracks_true", t.inner, 0, 0, 1);
  t.missing.assign(tracks.begin(), tracks.end());
  t.missing.resize(t.inner, 0);
  const auto values =
      node.find("membership_values") == nullptr ? std::vector<double>{} : numbers_of(node, "membership_values");
  auto at = values.begin();
  for (const double mode : modes) {
    t.mode.push_back(static_cast<int64_t>(mode));
    t.members.emplace_back();
    if (t.mode.back() < LessEqual || t.mode.back() > Member)
      fail(ErrorCode::InvalidArgument, "a node has mode {}", t.mode.back());
    if (t.mode.back() != Member) continue;
    const auto end = std::find_if(at, values.end(), [](double v) { return std::isnan(v); });
    t.members.back().assign(at, end);
    at = end == values.end() ? end : end + 1;
  }
  const size_t all = t.inner + t.leaves;
  t.feature.resize(all, 0);
  t.mode.resize(all, 0);
  t.split.resize(all, 0);
  t.missing.resize(all, 0);
  t.members.resize(all);
  std::vector<size_t> known(t.inner, 0);
  for (const int64_t root : t.roots) {
    if (root < 0 || static_cast<size_t>(root) >= t.inner)
      fail(ErrorCode::IndexOutOfRange, "tree_roots names node {} of {}", root, t.inner);
    t.depth = std::max(t.depth, depth_from(t, static_cast<size_t>(root), 0, known));
  }
  if (t.depth > kDeepestTree) fail(ErrorCode::Unsupported, "a tree is {} deep, {} are the most", t.depth, kDeepestTree);
  return t;
}

}  // namespace

Results convert_array_feature_extractor(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &places = node.input(1);
  const Typed flat = places.rank() == 1 ? places : b.call("flatten", {places});
  const Typed y = b.gather(x, flat, static_cast<int64_t>(x.rank()) - 1);
  return {x.rank() == 1 ? b.unsqueeze(y, 0) : y};
}

Results convert_binarizer(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  return {b.cast(b.call("greater", x, node.number("threshold", 0)), x.dtype())};
}

// The value at the same place as the last key that is equal, or else the default.
Results convert_label_encoder(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const auto first = [&](std::string_view kind, const Typed& fallback) -> Typed {
    const auto name = [&](std::string_view suffix) { return fmt::format("{}_{}", kind, suffix); };
    if (node.find(name("tensor")) != nullptr) return tensor_attribute(node, name("tensor"));
    if (const auto list = node.texts(name("strings")); !list.empty()) return string_tensor(b, list);
    if (const auto list = node.integers(name("int64s"))) return b.integers(*list);
    if (const auto list = node.numbers(name("floats")))
      return vector_of(b, *list, DType::Float32, {static_cast<int64_t>(list->size())});
    return fallback;
  };
  const Typed none = b.none();
  const Typed keys = first("keys", none), values = first("values", none);
  if (!keys.is_tensor() || !values.is_tensor()) fail(ErrorCode::InvalidArgument, "it has no keys or no values");
  const auto length = [](const Typed& list) {
    return static_cast<int64_t>(list.constant()->bytes / dtype_bytes(list.dtype()));
  };
  const int64_t count = length(keys);
  if (length(values) != count) fail(ErrorCode::InvalidArgument, "it has {} keys and {} values", count, length(values));
  const auto rank = static_cast<int64_t>(x.rank());
  Typed hit;
  if (keys.dtype() == DType::String) {
    const Typed column =
        b.builtin("unsqueeze", {x, b.integers({rank})}, tensor_info(DType::String, static_cast<uint32_t>(rank + 1)));
    hit = b.builtin("string_equal", {column, keys}, tensor_info(DType::Bool, static_cast<uint32_t>(rank + 1)));
  } else {
    const Typed column = b.unsqueeze(b.cast(x, keys.dtype()), rank);
    hit = b.call("equal", {column, keys});
    if (is_float(keys.dtype()))
      hit = b.call("logical_or", {hit, b.call("logical_and", {b.call("isnan", {column}), b.call("isnan", {keys})})});
  }
  const std::vector<int64_t> last = {rank};
  const Typed place = b.call("argmax", {b.cast(hit, DType::UInt8)}, {{"axis", last}, {"select_last_index", true}});
  const Typed found = b.call("any", {hit}, {{"axis", last}});
  if (values.dtype() == DType::String) {
    const std::string fallback = node.find("default_tensor") != nullptr
                                     ? node.find("default_tensor")->t().string_data(0)
                                     : node.text("default_string", "_Unused");
    const Typed both = b.tuple(std::vector{values, string_tensor(b, {fallback})});
    const Typed table = b.builtin("concat_sequence", {both, b.prim(0), b.prim(0)}, tensor_info(DType::String, 1u));
    const Typed index = b.call("where", {found, place, b.scalar(DType::Int64, static_cast<double>(count))});
    return {b.builtin("take_strings", {table, index, b.prim(0)}, tensor_info(DType::String, x.dims()))};
  }
  const Typed fallback =
      node.find("default_tensor") != nullptr
          ? b.reshape(tensor_attribute(node, "default_tensor"), {})
          : b.scalar(values.dtype(), is_float(values.dtype()) ? node.number("default_float", -0.0)
                                                              : static_cast<double>(node.integer("default_int64", -1)));
  return {b.call("where", {found, b.gather(values, place, 0), fallback})};
}

// All trees of all rows go one step down at a time, as far as the deepest one; those at a leaf stay there.
Results convert_tree_ensemble(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  if (x.rank() != 2) fail(ErrorCode::ShapeMismatch, "input 0 has rank {}, it must have 2", x.rank());
  const Trees trees = trees_of(node);
  if (trees.roots.empty()) fail(ErrorCode::InvalidArgument, "it has no trees");
  const auto all = static_cast<int64_t>(trees.mode.size());
  const Dims dims = {x.dim(0), PrimExpr(static_cast<int64_t>(trees.roots.size()))};
  Typed at = b.call("broadcast_to", {b.integers(trees.roots), b.shape(dims)});
  const auto of = [&](const Typed& table) { return b.gather(table, at, 0); };
  const Typed feature = b.integers(trees.feature), yes = b.integers(trees.yes), no = b.integers(trees.no);
  const Typed split = vector_of(b, trees.split, x.dtype(), {all}), modes = b.integers(trees.mode);
  const Typed missing = vector_of(b, trees.missing, DType::Bool, {all});
  const bool tracks = std::ranges::any_of(trees.missing, [](double v) { return v != 0; });
  size_t most = 0;
  for (const auto& list : trees.members) most = std::max(most, list.size());
  if (most > kMostMembers / trees.members.size())
    fail(ErrorCode::Unsupported, "{} nodes with up to {} members", trees.members.size(), most);
  std::vector<double> table;
  for (const auto& list : trees.members) {
    table.insert(table.end(), list.begin(), list.end());
    table.insert(table.end(), most - list.size(), NAN);
  }
  std::vector<int64_t> used(trees.mode.begin(), trees.mode.begin() + static_cast<ptrdiff_t>(trees.inner));
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  static constexpr std::string_view kCompare[] = {"less_equal", "less",  "greater_equal",
                                                  "greater",    "equal", "not_equal"};
  for (size_t step = 0; step < trees.depth; ++step) {
    const Typed value = b.call("gather_elements", {x, of(feature)}, {{"axis", int64_t{1}}});
    std::optional<Typed> holds;
    for (const int64_t mode : used) {
      Typed one;
      if (mode == Member && most == 0) {
        one = b.call("logical_and", {b.call("isnan", {value}), b.scalar(DType::Bool, 0)});
      } else if (mode == Member) {
        const Typed sets = of(vector_of(b, table, x.dtype(), {all, static_cast<int64_t>(most)}));
        one = b.call("any", {b.call("equal", {b.unsqueeze(value, 2), sets})}, {{"axis", std::vector<int64_t>{2}}});
      } else {
        one = b.call(kCompare[mode], {value, of(split)});
      }
      holds = holds ? b.call("where", {b.call("equal", of(modes), static_cast<double>(mode)), one, *holds}) : one;
    }
    if (tracks) holds = b.call("logical_or", {*holds, b.call("logical_and", {b.call("isnan", {value}), of(missing)})});
    at = b.call("where", {*holds, of(yes), of(no)});
  }
  const int64_t targets = node.integer("n_targets", 1, 1);
  const auto ids = node.integers("leaf_targetids").value_or(std::vector<int64_t>{});
  const auto weights = numbers_of(node, "leaf_weights");
  if (weights.size() != trees.leaves)
    fail(ErrorCode::InvalidArgument, "{} weights for {} leaves", weights.size(), trees.leaves);
  at = b.call("subtract", at, static_cast<double>(trees.inner));
  const Typed weight = b.unsqueeze(of(vector_of(b, weights, x.dtype(), {static_cast<int64_t>(trees.leaves)})), 2);
  const Typed mine = b.call("equal", {b.unsqueeze(of(b.integers(ids)), 2), b.positions(PrimExpr(targets))});
  const std::vector<int64_t> over = {1};
  const auto pick = [&](double other) { return b.call("where", {mine, weight, b.scalar(x.dtype(), other)}); };
  const int64_t aggregate = node.integer("aggregate_function", 1, 0, 3);
  Typed y;
  if (aggregate == 2 || aggregate == 3) {
    y = b.call(aggregate == 2 ? "min" : "max", {pick(aggregate == 2 ? INFINITY : -INFINITY)}, {{"axis", over}});
    y = b.call("where", {b.call("any", {mine}, {{"axis", over}}), y, b.scalar(x.dtype(), 0)});
  } else {
    y = b.call("sum", {pick(0)}, {{"axis", over}});
    if (aggregate == 0) y = b.call("divide", y, static_cast<double>(trees.roots.size()));
  }
  const int64_t transform = node.integer("post_transform", 0, 0, 4);
  switch (transform) {
    case 0:
      return {y};
    case 1:
      return {b.call("softmax", {y}, {{"axis", int64_t{1}}})};
    case 2:
      return {b.call("sigmoid", {y})};
    default:
      fail(ErrorCode::Unsupported, "attribute post_transform is {}, it must be 0, 1 or 2", transform);
  }
}

}  // namespace ingot::onnx_import
