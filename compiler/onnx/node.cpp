#include "compiler/onnx/node.h"

#include <algorithm>
#include <map>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

struct Entry {
  std::string_view domain, name;
  Convert convert;
};

constexpr Entry kConversions[] = {
#define SAME(name, op) {"", #name, [](const Node& node) { return convert_same(node, op); }},
#define BINARY(name, op) {"", #name, [](const Node& node) { return convert_binary(node, op); }},
#define CONVERT(name, function) {"", #name, function},
#define CONVERT_IN(domain, name, function) {domain, #name, function},
#include "compiler/onnx/onnx_ops.def"
};

}  // namespace

std::string_view normal_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

Convert find_conversion(std::string_view domain, std::string_view op) {
  static const auto index = [] {
    std::map<std::pair<std::string_view, std::string_view>, Convert> result;
    for (const auto& entry : kConversions) result.emplace(std::pair(entry.domain, entry.name), entry.convert);
    return result;
  }();
  const auto found = index.find({normal_domain(domain), op});
  return found == index.end() ? nullptr : found->second;
}

const Typed& Node::input(size_t i) const {
  if (!has(i)) fail(ErrorCode::ArityMismatch, "input {} is missing", i);
  return *inputs_[i];
}

std::vector<Typed> Node::all_inputs() const {
  std::vector<Typed> all;
  for (size_t i = 0; i < inputs_.size(); ++i) all.push_back(input(i));
  return all;
}

std::optional<std::vector<int64_t>> Node::known(size_t i) const {
  const Typed& x = input(i);
  if (x.is_tensor() && is_float(x.dtype()))
    fail(ErrorCode::TypeError, "input {} ({}) has dtype {}, expected int64", i, proto_->input(static_cast<int>(i)),
         dtype_name(x.dtype()));
  return known_integers(x);
}

std::vector<int64_t> Node::constant_integers(size_t i) const {
  auto values = known(i);
  if (!values) fail(ErrorCode::Unsupported, "input {} ({}) must be a constant", i, proto_->input(static_cast<int>(i)));
  return *std::move(values);
}

int32_t Node::storage_type(size_t i) const {
  if (has(i)) return input(i).stored;
  const auto type = element_type("output_dtype");
  return stores_only(type) ? type : 0;
}

size_t Node::length(size_t i) const {
  const Typed& x = input(i);
  if (x.rank() == 0) return 1;
  const auto known = x.dim(0).as_const();
  if (!known)
    fail(ErrorCode::Unsupported, "the number of elements of input {} ({}) must be known", i,
         proto_->input(static_cast<int>(i)));
  if (*known < 0 || *known > static_cast<int64_t>(kMaxRank))
    fail(ErrorCode::ShapeMismatch, "input {} ({}) has {} elements, a tensor has at most {} dimensions", i,
         proto_->input(static_cast<int>(i)), *known, kMaxRank);
  return static_cast<size_t>(*known);
}

const onnx::AttributeProto* Node::find(std::string_view name) const {
  for (const auto& attribute : proto_->attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

const onnx::AttributeProto* Node::find(std::string_view name, onnx::AttributeProto::AttributeType type) const {
  const auto* attribute = find(name);
  // Files of the first version do not say types.
  if (attribute == nullptr || !attribute->has_type() || attribute->type() == onnx::AttributeProto::UNDEFINED)
    return attribute;
  if (attribute->type() != type)
    fail(ErrorCode::TypeError, "attribute {} has type {}, it must have type {}", name,
         onnx::AttributeProto::AttributeType_Name(attribute->type()), onnx::AttributeProto::AttributeType_Name(type));
  return attribute;
}

int64_t Node::integer(std::string_view name, int64_t fallback) const {
  const auto* attribute = find(name, onnx::AttributeProto::INT);
  return attribute == nullptr ? fallback : attribute->i();
}

namespace {

void require_between(std::string_view name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return;
  if (most == INT64_MAX)
    fail(ErrorCode::InvalidArgument, "attribute {} is {}, it must be {} or more", name, value, least);
  fail(ErrorCode::InvalidArgument, "attribute {} is {}, it must be between {} and {}", name, value, least, most);
}

}  // namespace

int64_t Node::integer(std::string_view name, int64_t fallback, int64_t least, int64_t most) const {
  const auto* attribute = find(name, onnx::AttributeProto::INT);
  if (attribute == nullptr) return fallback;
  require_between(name, attribute->i(), least, most);
  return attribute->i();
}

int32_t Node::element_type(std::string_view name, int32_t fallback) const {
  return static_cast<int32_t>(integer(name, fallback, 0, INT32_MAX));
}

double Node::number(std::string_view name, double fallback) const {
  const auto* attribute = find(name, onnx::AttributeProto::FLOAT);
  return attribute == nullptr ? fallback : static_cast<double>(attribute->f());
}

std::string Node::text(std::string_view name, std::string_view fallback) const {
  const auto* attribute = find(name, onnx::AttributeProto::STRING);
  return attribute == nullptr ? std::string(fallback) : attribute->s();
}

std::string Node::choice(std::string_view name, std::string_view fallback,
                         std::initializer_list<std::string_view> allowed) const {
  std::string value = text(name, fallback);
  if (std::ranges::find(allowed, value) == allowed.end())
    fail(ErrorCode::InvalidArgument, "attribute {} is '{}', it must be one of {}", name, value,
         fmt::join(allowed, ", "));
  return value;
}

std::optional<std::vector<int64_t>> Node::integers(std::string_view name) const {
  const auto* attribute = find(name, onnx::AttributeProto::INTS);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<int64_t>(attribute->ints().begin(), attribute->ints().end());
}

std::vector<int64_t> Node::integers(std::string_view name, size_t count, int64_t fallback, int64_t least,
                                    int64_t most) const {
  auto values = integers(name).value_or(std::vector<int64_t>(count, fallback));
  if (values.size() != count)
    fail(ErrorCode::ShapeMismatch, "attribute {} has {} values, {} are expected", name, values.size(), count);
  for (const int64_t value : values) require_between(name, value, least, most);
  return values;
}

std::optional<std::vector<double>> Node::numbers(std::string_view name) const {
  const auto* attribute = find(name, onnx::AttributeProto::FLOATS);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<double>(attribute->floats().begin(), attribute->floats().end());
}

std::vector<std::string> Node::texts(std::string_view name) const {
  const auto* attribute = find(name, onnx::AttributeProto::STRINGS);
  if (attribute == nullptr) return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

std::optional<std::vector<int64_t>> Node::integers(std::string_view name, size_t input) const {
  if (auto attribute = integers(name)) return attribute;
  return has(input) ? known(input) : std::nullopt;
}

const onnx::GraphProto& Node::graph(std::string_view name) const {
  const auto* attribute = find(name);
  if (attribute == nullptr || !attribute->has_g()) fail(ErrorCode::InvalidArgument, "attribute {} is missing", name);
  return attribute->g();
}

int64_t Node::axis(int64_t axis, size_t rank) const {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) fail(ErrorCode::IndexOutOfRange, "axis {} is outside of rank {}", axis, rank);
  return axis < 0 ? axis + size : axis;
}

void Node::require_distinct(std::vector<int64_t> axes) const {
  std::ranges::sort(axes);
  const auto twice = std::ranges::adjacent_find(axes);
  if (twice != axes.end()) fail(ErrorCode::InvalidArgument, "axis {} is given twice", *twice);
}

StructInfo info_of(const onnx::TypeProto& type, std::string_view name,
                   const std::function<PrimExpr(const std::string&)>& dimension) {
  if (!type.has_tensor_type()) return object_info();
  const auto& tensor = type.tensor_type();
  const DType dtype = dtype_of(tensor.elem_type());
  if (!tensor.has_shape()) return tensor_info(dtype);
  if (static_cast<size_t>(tensor.shape().dim_size()) > kMaxRank)
    fail(ErrorCode::ShapeMismatch, "'{}' has rank {}, {} is the most", name, tensor.shape().dim_size(), kMaxRank);
  Dims dims;
  for (int i = 0; i < tensor.shape().dim_size(); ++i) {
    const auto& dim = tensor.shape().dim(i);
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      dims.emplace_back(dim.dim_value());
    } else if (dim.has_dim_param() && !dim.dim_param().empty()) {
      dims.push_back(dimension(dim.dim_param()));
    } else {
      dims.emplace_back(make_sym_var(fmt::format("{}_{}", name, i)));
    }
  }
  return tensor_info(dtype, std::move(dims));
}

StructInfo rank_of(const onnx::TypeProto& type) {
  if (!type.has_tensor_type()) return object_info();
  const auto& tensor = type.tensor_type();
  const DType dtype = dtype_of(tensor.elem_type());
  if (!tensor.has_shape()) return tensor_info(dtype);
  if (tensor.shape().dim_size() == 0) return tensor_info(dtype, Dims{});
  return tensor_info(dtype, static_cast<uint32_t>(tensor.shape().dim_size()));
}

StructInfo element_of(const onnx::TypeProto& type) {
  if (type.has_optional_type()) return element_of(type.optional_type().elem_type());
  return type.has_sequence_type() ? rank_of(type.sequence_type().elem_type()) : nullptr;
}

StructInfo content_of(const onnx::TypeProto& type) {
  if (!type.has_optional_type() || !type.optional_type().elem_type().has_tensor_type()) return nullptr;
  return rank_of(type.optional_type().elem_type());
}

}  // namespace ingot::onnx_import
