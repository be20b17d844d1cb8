#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace ingot::onnx_import {

// What is in a model, without compiling it.
struct ModelDescription {
  struct Value {
    std::string name, type;  // "Tensor[(n, 3), float32]", "sequence of Tensor[...]", "optional of ..."
  };
  struct Operator {
    std::string name;  // with its domain in front, unless that is the default
    size_t count = 0;
    bool supported = false;  // is there a conversion, or a function of the model?
  };
  struct Opset {
    std::string domain;
    int64_t version = 0;
  };
  std::string producer;
  std::vector<Opset> opsets;
  std::vector<Value> inputs, outputs;  // inputs that are no initializers
  std::vector<Operator> operators;     // of all graphs and functions, sorted by name
  size_t functions = 0;
};

// Throws Io, CorruptFile.
ModelDescription describe_model(const std::filesystem::path& path);

}  // namespace ingot::onnx_import
