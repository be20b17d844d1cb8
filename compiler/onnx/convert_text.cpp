#include <algorithm>
#include <numeric>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {

Typed string_tensor(GraphBuilder& b, const std::vector<std::string>& list) {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::STRING);
  tensor.add_dims(static_cast<int64_t>(list.size()));
  for (const auto& text : list) tensor.add_string_data(text);
  return b.constant(read_tensor(tensor));
}

Results convert_string_normalizer(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const std::string action = node.choice("case_change_action", "NONE", {"NONE", "LOWER", "UPPER"});
  const auto words = node.texts("stopwords");
  return {b.builtin("string_normalize",
                    {x,
                     b.prim(action == "LOWER"   ? -1
                            : action == "UPPER" ? 1
                                                : 0),
                     b.prim(node.flag("is_case_sensitive")), words.empty() ? b.none() : string_tensor(b, words)},
                    tensor_info(DType::String, static_cast<uint32_t>(x.rank())))};
}

Results convert_string_concat(const Node& node) {
  const auto rank = std::max(node.input(0).rank(), node.input(1).rank());
  return {node.builder().builtin("string_concat", {node.input(0), node.input(1)},
                                 tensor_info(DType::String, static_cast<uint32_t>(rank)))};
}

Results convert_string_split(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const Typed both = b.builtin(
      "string_split", {x, b.text(node.text("delimiter", "")), b.prim(node.integer("maxsplit", -1))}, object_info());
  return {b.builtin("sequence_at", {both, b.prim(0)}, tensor_info(DType::String, static_cast<uint32_t>(x.rank() + 1))),
          b.builtin("sequence_at", {both, b.prim(1)}, tensor_info(DType::Int64, x.dims()))};
}

Results convert_regex_full_match(const Node& node) {
  auto& b = node.builder();
  return {b.builtin("regex_full_match", {node.input(0), b.text(node.text("pattern", ""))},
                    tensor_info(DType::Bool, node.input(0).dims()))};
}

Results convert_tf_idf_vectorizer(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const std::string mode = node.choice("mode", "TF", {"TF", "IDF", "TFIDF"});
  const auto words = node.texts("pool_strings");
  const auto numbers = node.integers("pool_int64s");
  const auto weights = node.numbers("weights");
  const auto pool =
      static_cast<int64_t>(words.empty() ? numbers.value_or(std::vector<int64_t>{}).size() : words.size());
  const auto counts = node.integers("ngram_counts").value_or(std::vector<int64_t>{});
  node.integers("ngram_counts", counts.size(), 0, 0, pool);
  if (!std::ranges::is_sorted(counts)) fail(ErrorCode::InvalidArgument, "attribute ngram_counts does not ascend");
  node.integers("ngram_indexes", node.integers("ngram_indexes").value_or(std::vector<int64_t>{}).size(), 0, 0);
  Typed weight = b.none();
  if (weights) {
    const auto count = static_cast<int64_t>(weights->size());
    auto data = make_tensor(nullptr, DType::Float64, {&count, 1});
    std::copy(weights->begin(), weights->end(), data->elements<double>());
    weight = b.constant(std::move(data));
  }
  const auto list = [&](const char* name) { return b.integers(node.integers(name).value_or(std::vector<int64_t>{})); };
  return {b.builtin("count_ngrams",
                    {x, words.empty() ? b.integers(numbers.value_or(std::vector<int64_t>{})) : string_tensor(b, words),
                     list("ngram_counts"), list("ngram_indexes"), weight, b.prim(node.integer("min_gram_length", 1, 1)),
                     b.prim(node.integer("max_gram_length", 1, node.integer("min_gram_length", 1, 1))),
                     b.prim(node.integer("max_skip_count", 0, 0)),
                     b.prim(mode == "TF"    ? 0
                            : mode == "IDF" ? 1
                                            : 2)},
                    tensor_info(DType::Float32, static_cast<uint32_t>(x.rank())))};
}

}  // namespace ingot::onnx_import
