#include <algorithm>
#include <map>

#include "vm/builtins/builtins.h"

// Counts of runs of words.
namespace ingot::vm::builtins {

// (x, pool, counts, indexes, weights?, shortest, longest, skips, mode: 0 TF, 1 IDF, 2 TFIDF): x and pool are strings or
// integers. `counts` tells where the runs of 1, 2, ... words begin in the pool; `indexes` where each is counted.
Value count_ngrams(const Args& args) {
  const auto x = args.tensor(0), pool = args.tensor(1);
  const Dims counts = args.integers(2), indexes = args.integers(3);
  const auto weights = args.has(4) ? args.numbers(4) : std::vector<double>();
  const int64_t shortest = args.integer(5), longest = args.integer(6), skips = args.integer(7), mode = args.integer(8);
  if (x->rank > 2 || (x->dtype == DType::String) != (pool->dtype == DType::String))
    args.fail(ErrorCode::ShapeMismatch, "words of shape {}", shape_text(x->dims()));
  std::map<std::string, int64_t> numbers;
  const auto number_of = [&](const TensorObject& words, size_t at, bool adds) -> int64_t {
    if (words.dtype != DType::String) return get_integer(words, at);
    const auto* string = words.elements<StringObject*>()[at];
    const std::string text(string == nullptr ? std::string_view() : string->text());
    if (adds) return numbers.emplace(text, static_cast<int64_t>(numbers.size())).first->second;
    const auto found = numbers.find(text);
    return found == numbers.end() ? -1 : found->second;
  };
  std::map<Dims, size_t> runs;
  size_t run = 0;
  for (size_t n = 0; n < counts.size(); ++n) {
    const auto end = n + 1 < counts.size() ? counts[n + 1] : static_cast<int64_t>(count_of(*pool));
    if (counts[n] < 0 || end > static_cast<int64_t>(count_of(*pool)) || counts[n] > end)
      args.fail(ErrorCode::InvalidArgument, "runs of {} begin at {} of {}", n + 1, counts[n], count_of(*pool));
    const auto length = static_cast<int64_t>(n) + 1;
    for (int64_t at = counts[n]; at + length <= end; at += length) {
      Dims words;
      for (int64_t i = 0; i < length; ++i) words.push_back(number_of(*pool, static_cast<size_t>(at + i), true));
      runs.emplace(std::move(words), run++);
    }
  }
  if (run > indexes.size() || (!weights.empty() && weights.size() < run))
    args.fail(ErrorCode::InvalidArgument, "{} runs, {} indexes, {} weights", run, indexes.size(), weights.size());
  const int64_t width = indexes.empty() ? 0 : *std::ranges::max_element(indexes) + 1;
  for (const int64_t index : indexes)
    if (index < 0) args.fail(ErrorCode::InvalidArgument, "an index is {}", index);
  const int64_t rows = x->rank == 2 ? x->dims()[0] : 1;
  const int64_t words = x->rank == 2 ? x->dims()[1] : static_cast<int64_t>(count_of(*x));
  const int64_t dims[] = {rows, width};
  auto result = args.make(DType::Float32, x->rank == 2 ? std::span(dims) : std::span(dims).subspan(1));
  clear(*result);
  for (int64_t row = 0; row < rows; ++row) {
    Dims line;
    for (int64_t i = 0; i < words; ++i) line.push_back(number_of(*x, static_cast<size_t>(row * words + i), false));
    for (int64_t length = std::max<int64_t>(1, shortest); length <= longest && length <= words; ++length)
      for (int64_t skip = 0; skip <= (length == 1 ? 0 : skips); ++skip)
        for (int64_t begin = 0; begin + (length - 1) * (skip + 1) < words; ++begin) {
          Dims key;
          for (int64_t i = 0; i < length; ++i) key.push_back(line[static_cast<size_t>(begin + i * (skip + 1))]);
          const auto found = runs.find(key);
          if (found == runs.end()) continue;
          float& count = result->elements<float>()[row * width + indexes[found->second]];
          const auto weight = weights.empty() ? 1.0F : static_cast<float>(weights[found->second]);
          if (mode == 0) count += 1;
          if (mode == 1) count = weight;
          if (mode == 2) count += weight;
        }
  }
  return Value(std::move(result));
}

}  // namespace ingot::vm::builtins
