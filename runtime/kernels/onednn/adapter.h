#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <dnnl.hpp>

#include "runtime/kernels/conv2d/conv2d.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/lrn/lrn.h"
#include "runtime/kernels/pool2d/pool2d.h"

// Everything that differs between versions of oneDNN: how primitives are made. Written for 2.6 and, untested, 3.x. All
// primitives are float32, for inference, with user scratchpads. Prepare under a ThreadLimit: oneDNN fixes its blocking
// for the number of threads that it finds.
namespace ingot::onednn {

using Desc = dnnl::memory::desc;

// The CPU and its stream. Cheap; one per kernel.
struct Device {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

Desc strided_desc(std::span<const int64_t> dims, std::span<const int64_t> strides);
Desc plain_desc(std::span<const int64_t> dims, Layout layout = Layout::RowMajor);
// oneDNN chooses.
Desc any_desc(std::span<const int64_t> dims);
// Equal for descriptors of the same bytes: a key for packed weights.
std::string signature(const Desc& desc);

// The elements that a descriptor names from a byte of an operand on: the whole operand, or a part of it.
struct View {
  View(Desc described, size_t from = 0) : desc(std::move(described)), offset(from) {}
  Desc desc;
  size_t offset;  // bytes
};

// Something done to each element of a result before it is stored.
struct FusedOp {
  enum class Kind : uint8_t { Eltwise, Sum, Binary } kind;
  dnnl::algorithm algorithm = dnnl::algorithm::undef;  // Eltwise, Binary
  float alpha = 0, beta = 0;                           // Eltwise
  Desc desc = {};                                      // Sum: as the result; Binary: its operand
  size_t input = 0;                                    // Sum, Binary: the call's input
};
// Any post-op but Add.
FusedOp eltwise_op(const PostOp& op);

struct Primitive {
  dnnl::primitive primitive;
  std::string name;  // "brgconv:avx512_core"
  Desc src, weights, dst, scratchpad;

  // 0: a good implementation, 1: one that goes through a matrix of patches, 2: oneDNN's reference.
  int slowness() const;
};

// Each gives nullopt where oneDNN has no implementation and throws OutOfMemory.
std::optional<Primitive> make_convolution(const Device& device, const Desc& src, const Desc& weights, const Desc* bias,
                                          const Desc& dst, const Conv2dAttributes& attributes,
                                          std::span<const FusedOp> ops);
std::optional<Primitive> make_matmul(const Device& device, const Desc& src, const Desc& weights, const Desc* bias,
                                     const Desc& dst, std::span<const FusedOp> ops);
// `padding` top, left, bottom, right, such that every window lies in the padded input.
std::optional<Primitive> make_pooling(const Device& device, const Desc& src, const Desc& dst,
                                      const Pool2dAttributes& attributes);
std::optional<Primitive> make_lrn(const Device& device, const Desc& desc, const LrnAttributes& attributes);
std::optional<Primitive> make_softmax(const Device& device, const Desc& desc, int axis);
std::optional<Primitive> make_binary(const Device& device, dnnl::algorithm algorithm, const Desc& src0,
                                     const Desc& src1, const Desc& dst, std::span<const FusedOp> ops);
std::optional<Primitive> make_eltwise(const Device& device, const FusedOp& op, const Desc& desc);
std::optional<Primitive> make_reorder(const Device& device, const Desc& from, const Desc& to);

}  // namespace ingot::onednn
