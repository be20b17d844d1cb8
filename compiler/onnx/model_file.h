#pragma once
#include <filesystem>
#include <span>

#include <onnx/onnx_pb.h>

namespace ingot::onnx_import {

// The model in the bytes, or in a file. CorruptFile where they are none; Unsupported above 2 GiB, where weights must
// lie in other files; Io.
onnx::ModelProto parse_model(std::span<const std::byte> bytes);
onnx::ModelProto read_model(const std::filesystem::path& path);

}  // namespace ingot::onnx_import
