#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace ingot::ir {

// A text or model that programs come from; kept alive by the spans that point into it.
struct Source {
  std::string name;  // as the user gave it
  std::string text;  // empty for models
};

// Where a piece of a program comes from: a place in a text, or a node of a model. Lines and columns are 1-based; line
// 0: no place in a text.
struct Span {
  std::shared_ptr<const Source> source;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 0;
  std::shared_ptr<const std::string> node;  // "node 'conv1' (Conv, #3)" of a model
};

}  // namespace ingot::ir
