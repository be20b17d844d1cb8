#include "compiler/onnx/test_folder.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>

#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"

namespace ingot::onnx_import {
namespace {

namespace fs = std::filesystem;

template <typename Message>
Message parse(const fs::path& path) {
  const FileBytes file = map_file(path);
  Message message;
  if (!message.ParseFromArray(file.bytes.data(), static_cast<int>(file.bytes.size())))
    fail(ErrorCode::CorruptFile, "{}: its {} bytes are no {}", path.string(), file.bytes.size(), message.GetTypeName());
  return message;
}

bool draws(const onnx::NodeProto& node) {
  static constexpr std::string_view kRandom[] = {
      "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Dropout"};
  // Dropout draws only where it is told to train.
  if (node.op_type() == "Dropout") return node.input_size() > 2 && !node.input(2).empty();
  return std::ranges::find(kRandom, node.op_type()) != std::end(kRandom);
}

Value tensor_value(onnx::TensorProto tensor, const onnx::TypeProto* type) {
  if (type != nullptr && type->has_tensor_type() && tensor.data_type() == onnx::TensorProto::UINT16 &&
      type->tensor_type().elem_type() == onnx::TensorProto::BFLOAT16)
    tensor.set_data_type(onnx::TensorProto::BFLOAT16);
  return to_value(read_tensor(tensor));
}

Value sequence_value(const onnx::SequenceProto& sequence, const onnx::TypeProto* type) {
  const onnx::TypeProto* element =
      type != nullptr && type->has_sequence_type() ? &type->sequence_type().elem_type() : nullptr;
  std::vector<Value> fields;
  for (const auto& tensor : sequence.tensor_values()) fields.push_back(tensor_value(tensor, element));
  for (const auto& inner : sequence.sequence_values()) fields.push_back(sequence_value(inner, element));
  return Value(ingot::make_tuple(nullptr, fields));
}

Value optional_value(const onnx::OptionalProto& optional, const onnx::TypeProto* type) {
  const onnx::TypeProto* element =
      type != nullptr && type->has_optional_type() ? &type->optional_type().elem_type() : nullptr;
  if (optional.has_tensor_value()) return tensor_value(optional.tensor_value(), element);
  if (optional.has_sequence_value()) return sequence_value(optional.sequence_value(), element);
  if (optional.has_optional_value()) return optional_value(optional.optional_value(), element);
  return {};
}

Value read_value(const fs::path& path, const onnx::TypeProto& type) {
  if (type.has_sequence_type()) return sequence_value(parse<onnx::SequenceProto>(path), &type);
  if (type.has_optional_type()) return optional_value(parse<onnx::OptionalProto>(path), &type);
  return tensor_value(parse<onnx::TensorProto>(path), &type);
}

std::vector<Value> read_values(const fs::path& folder, std::string_view stem,
                               const std::vector<onnx::TypeProto>& types) {
  std::vector<Value> values;
  for (size_t i = 0; i < types.size(); ++i) {
    const fs::path path = folder / fmt::format("{}_{}.pb", stem, i);
    if (!fs::exists(path)) break;
    values.push_back(read_value(path, types[i]));
  }
  return values;
}

}  // namespace

struct TestFolder::Signature {
  std::vector<onnx::TypeProto> inputs, outputs;
  bool random = false;
};

TestFolder::TestFolder(const fs::path& folder) : folder_(folder), signature_(std::make_unique<Signature>()) {
  const auto parsed = parse<onnx::ModelProto>(model());
  const auto& graph = parsed.graph();
  std::set<std::string> initializers;
  for (const auto& initializer : graph.initializer()) initializers.insert(initializer.name());
  for (const auto& input : graph.input())
    if (!initializers.contains(input.name())) signature_->inputs.push_back(input.type());
  for (const auto& output : graph.output()) signature_->outputs.push_back(output.type());
  signature_->random = std::ranges::any_of(graph.node(), draws);
}

TestFolder::~TestFolder() = default;

bool TestFolder::random() const { return signature_->random; }

std::vector<TestFolder::DataSet> TestFolder::data_sets() const {
  std::vector<DataSet> sets;
  for (size_t i = 0;; ++i) {
    const fs::path path = folder_ / fmt::format("test_data_set_{}", i);
    if (!fs::is_directory(path)) break;
    sets.push_back(
        {path, read_values(path, "input", signature_->inputs), read_values(path, "output", signature_->outputs)});
  }
  if (sets.empty()) fail(ErrorCode::Io, "{}: there is no test_data_set_0", folder_.string());
  return sets;
}

std::vector<fs::path> find_test_folders(const fs::path& root) {
  std::vector<fs::path> found;
  if (!fs::is_directory(root)) fail(ErrorCode::Io, "{} is not a folder", root.string());
  if (fs::exists(root / "model.onnx")) return {root};
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.is_directory() && fs::exists(entry.path() / "model.onnx")) found.push_back(entry.path());
  std::ranges::sort(found);
  if (found.empty()) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(root))
      if (entry.is_directory()) folders.push_back(entry.path());
    std::ranges::sort(folders);
    for (const auto& folder : folders)
      for (auto& inner : find_test_folders(folder)) found.push_back(std::move(inner));
  }
  return found;
}

}  // namespace ingot::onnx_import
