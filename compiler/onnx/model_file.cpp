#include "compiler/onnx/model_file.h"

#include <limits>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "runtime/base/error.h"
#include "runtime/base/file.h"

namespace ingot::onnx_import {
namespace {

// Messages inside of messages: a graph inside of a graph is three of them.
constexpr int kMaxMessageDepth = 10000;

}  // namespace

onnx::ModelProto parse_model(std::span<const std::byte> bytes) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    fail(ErrorCode::Unsupported, "the model has {} bytes; models above 2 GiB must keep their weights in other files",
         bytes.size());
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  coded.SetRecursionLimit(kMaxMessageDepth);
  onnx::ModelProto model;
  if (bytes.empty() || !model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    fail(ErrorCode::CorruptFile, "not an ONNX model: its {} bytes are no protobuf message of one, or end early",
         bytes.size());
  return model;
}

onnx::ModelProto read_model(const std::filesystem::path& path) {
  const FileBytes file = map_file(path);
  try {
    return parse_model(file.bytes);
  } catch (Error& error) {
    error.add_context(path.string());
    throw;
  }
}

}  // namespace ingot::onnx_import
