#include "runtime/kernels/onednn/adapter.h"

#include "runtime/base/error.h"
#include "runtime/kernels/strides.h"

namespace ingot::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::primitive_attr;

constexpr auto kInference = dnnl::prop_kind::forward_inference;

memory::dims dims_of(std::span<const int64_t> values) { return {values.begin(), values.end()}; }

primitive_attr attributes_of(std::span<const FusedOp> ops) {
  dnnl::post_ops post_ops;
  for (const FusedOp& op : ops) {
    switch (op.kind) {
      case FusedOp::Kind::Eltwise:
#if DNNL_VERSION_MAJOR >= 3
        post_ops.append_eltwise(op.algorithm, op.alpha, op.beta);
#else
        post_ops.append_eltwise(1.0F, op.algorithm, op.alpha, op.beta);
#endif
        break;
      case FusedOp::Kind::Sum:
        post_ops.append_sum(1.0F);
        break;
      case FusedOp::Kind::Binary:
        post_ops.append_binary(op.algorithm, op.desc);
        break;
    }
  }
  primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(post_ops);
  return attributes;
}

template <typename P, typename PrimitiveDesc>
Primitive primitive_of(const PrimitiveDesc& desc) {
  const dnnl::primitive_desc_base& base = desc;
  return {.primitive = P(desc),
          .name = base.impl_info_str(),
          .src = base.src_desc(0),
          .weights = base.weights_desc(0),
          .dst = base.dst_desc(0),
          .scratchpad = base.scratchpad_desc()};
}

template <typename P, typename... Args>
Primitive make(const Device& device, const primitive_attr& attributes, const Args&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return primitive_of<P>(typename P::primitive_desc(device.engine, args..., attributes));
#else
  return primitive_of<P>(typename P::primitive_desc(typename P::desc(args...), attributes, device.engine));
#endif
}

template <typename Body>
std::optional<Primitive> attempt(Body&& body) {
  try {
    return body();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) fail(ErrorCode::OutOfMemory, "no memory to prepare a oneDNN primitive");
    return std::nullopt;
  }
}

}  // namespace

Desc strided_desc(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  return {dims_of(dims), memory::data_type::f32, dims_of(strides)};
}

Desc plain_desc(std::span<const int64_t> dims, Layout layout) { return strided_desc(dims, strides_of(dims, layout)); }

Desc any_desc(std::span<const int64_t> dims) {
  return {dims_of(dims), memory::data_type::f32, memory::format_tag::any};
}

std::string signature(const Desc& desc) {
  std::string text = "onednn";
#if DNNL_VERSION_MAJOR >= 3
  for (const uint8_t byte : desc.get_blob()) text += fmt::format(" {}", byte);
#else
  const dnnl_memory_desc_t& data = desc.data;
  const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  text += fmt::format(" {} {} {} {} {} |", static_cast<int>(data.data_type), static_cast<int>(data.format_kind),
                      data.offset0, data.extra.flags, data.extra.compensation_mask);
  for (int d = 0; d < data.ndims; ++d)
    text += fmt::format(" {} {} {}", data.dims[d], data.padded_dims[d], blocking.strides[d]);
  for (int b = 0; b < blocking.inner_nblks; ++b)
    text += fmt::format(" b{} {}", blocking.inner_blks[b], blocking.inner_idxs[b]);
#endif
  return text;
}

FusedOp eltwise_op(const PostOp& op) {
  const auto with = [](algorithm kind, double alpha = 0, double beta = 0) {
    return FusedOp{.kind = FusedOp::Kind::Eltwise,
                   .algorithm = kind,
                   .alpha = static_cast<float>(alpha),
                   .beta = static_cast<float>(beta)};
  };
  switch (op.kind) {
    case PostOpKind::Relu:
      return with(algorithm::eltwise_relu);
    case PostOpKind::LeakyRelu:
      return with(algorithm::eltwise_relu, op.alpha);
    case PostOpKind::Clip:
      return with(algorithm::eltwise_clip, op.alpha, op.beta);
    case PostOpKind::Sigmoid:
      return with(algorithm::eltwise_logistic);
    case PostOpKind::Tanh:
      return with(algorithm::eltwise_tanh);
    case PostOpKind::Gelu:
      return with(algorithm::eltwise_gelu_erf);
    case PostOpKind::Add:
      break;
  }
  fail(ErrorCode::Internal, "post-op {} is not elementwise", post_op_name(op.kind));
}

int Primitive::slowness() const {
  if (name.find("ref") != std::string::npos) return 2;
  return name.find("gemm:") != std::string::npos && name.find("brgemm") == std::string::npos ? 1 : 0;
}

std::optional<Primitive> make_convolution(const Device& device, const Desc& src, const Desc& weights, const Desc* bias,
                                          const Desc& dst, const Conv2dAttributes& attributes,
                                          std::span<const FusedOp> ops) {
  const auto& [top, left, bottom, right] = attributes.padding;
  const memory::dims strides = dims_of(attributes.strides);
  const memory::dims dilation = {attributes.dilation[0] - 1, attributes.dilation[1] - 1};
  const memory::dims before = {top, left};
  const memory::dims after = {bottom, right};
  return attempt([&] {
    const primitive_attr attr = attributes_of(ops);
    const auto direct = algorithm::convolution_direct;
    if (bias)
      return make<dnnl::convolution_forward>(device, attr, kInference, direct, src, weights, *bias, dst, strides,
                                             dilation, before, after);
    return make<dnnl::convolution_forward>(device, attr, kInference, direct, src, weights, dst, strides, dilation,
                                           before, after);
  });
}

std::optional<Primitive> make_matmul(const Device& device, const Desc& src, const Desc& weights, const Desc* bias,
                                     const Desc& dst, std::span<const FusedOp> ops) {
  return attempt([&] {
    const primitive_attr attr = attributes_of(ops);
    if (bias) return make<dnnl::matmul>(device, attr, src, weights, *bias, dst);
    return make<dnnl::matmul>(device, attr, src, weights, dst);
  });
}

std::optional<Primitive> make_pooling(const Device& device, const Desc& src, const Desc& dst,
                                      const Pool2dAttributes& attributes) {
  const auto& [top, left, bottom, right] = attributes.padding;
  const auto kind = !attributes.average            ? algorithm::pooling_max
                    : attributes.count_include_pad ? algorithm::pooling_avg_include_padding
                                                   : algorithm::pooling_avg_exclude_padding;
  const memory::dims strides = dims_of(attributes.strides);
  const memory::dims window = dims_of(attributes.window);
  const memory::dims before = {top, left};
  const memory::dims after = {bottom, right};
  return attempt([&] {
    const primitive_attr attr = attributes_of({});
#if DNNL_VERSION_MAJOR >= 3
    const memory::dims dilation = {attributes.dilation[0] - 1, attributes.dilation[1] - 1};
    return make<dnnl::pooling_forward>(device, attr, kInference, kind, src, dst, strides, window, dilation, before,
                                       after);
#else
    return make<dnnl::pooling_forward>(device, attr, kInference, kind, src, dst, strides, window, before, after);
#endif
  });
}

std::optional<Primitive> make_lrn(const Device& device, const Desc& desc, const LrnAttributes& attributes) {
  const auto alpha = static_cast<float>(attributes.alpha);
  const auto beta = static_cast<float>(attributes.beta);
  const auto bias = static_cast<float>(attributes.bias);
  return attempt([&] {
    const primitive_attr attr = attributes_of({});
#if DNNL_VERSION_MAJOR >= 3
    return make<dnnl::lrn_forward>(device, attr, kInference, algorithm::lrn_across_channels, desc, desc,
                                   attributes.size, alpha, beta, bias);
#else
    return make<dnnl::lrn_forward>(device, attr, kInference, algorithm::lrn_across_channels, desc, attributes.size,
                                   alpha, beta, bias);
#endif
  });
}

std::optional<Primitive> make_softmax(const Device& device, const Desc& desc, int axis) {
  return attempt([&] {
    const primitive_attr attr = attributes_of({});
#if DNNL_VERSION_MAJOR >= 3
    return make<dnnl::softmax_forward>(device, attr, kInference, algorithm::softmax_accurate, desc, desc, axis);
#else
    return make<dnnl::softmax_forward>(device, attr, kInference, desc, axis);
#endif
  });
}

std::optional<Primitive> make_binary(const Device& device, algorithm kind, const Desc& src0, const Desc& src1,
                                     const Desc& dst, std::span<const FusedOp> ops) {
  return attempt([&] { return make<dnnl::binary>(device, attributes_of(ops), kind, src0, src1, dst); });
}

std::optional<Primitive> make_eltwise(const Device& device, const FusedOp& op, const Desc& desc) {
  return attempt([&] {
    const primitive_attr attr = attributes_of({});
#if DNNL_VERSION_MAJOR >= 3
    return make<dnnl::eltwise_forward>(device, attr, kInference, op.algorithm, desc, desc, op.alpha, op.beta);
#else
    return make<dnnl::eltwise_forward>(device, attr, kInference, op.algorithm, desc, op.alpha, op.beta);
#endif
  });
}

std::optional<Primitive> make_reorder(const Device& device, const Desc& from, const Desc& to) {
  return attempt([&] {
    const primitive_attr attr = attributes_of({});
    const dnnl::reorder::primitive_desc desc(device.engine, from, device.engine, to, attr);
    return primitive_of<dnnl::reorder>(desc);
  });
}

}  // namespace ingot::onednn
