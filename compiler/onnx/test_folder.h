#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "runtime/object/value.h"

namespace ingot::onnx_import {

// A test as ONNX publishes them: a folder with model.onnx and test_data_set_N/input_K.pb, output_K.pb.
class TestFolder {
 public:
  struct DataSet {
    std::filesystem::path path;
    std::vector<Value> inputs, outputs;
  };

  // Throws Io, CorruptFile.
  explicit TestFolder(const std::filesystem::path& folder);
  ~TestFolder();

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path model() const { return folder_ / "model.onnx"; }
  // Does an operator draw random numbers, so that only dtypes, shapes and ranges of the outputs are comparable?
  bool random() const;
  // In order of their numbers. Tensors, sequences (tuples) and optionals (none where empty), shared; stored 16-bit
  // integers that stand for bfloat16 are read as what the model declares.
  std::vector<DataSet> data_sets() const;

 private:
  struct Signature;
  std::filesystem::path folder_;
  std::unique_ptr<Signature> signature_;
};

// The test folders at or below a folder, sorted; Io where there is none.
std::vector<std::filesystem::path> find_test_folders(const std::filesystem::path& root);

}  // namespace ingot::onnx_import
