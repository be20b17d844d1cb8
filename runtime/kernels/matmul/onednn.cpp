#include <algorithm>
#include <array>

#include "runtime/kernels/check.h"
#include "runtime/kernels/matmul/frame.h"
#include "runtime/kernels/matmul/matmul.h"
#include "runtime/kernels/onednn/fusion.h"
#include "runtime/parallel/thread_team.h"

namespace ingot {
namespace {

using onednn::Desc;
using onednn::FusedOp;
using onednn::Program;

std::vector<int64_t> with_inner(std::vector<int64_t> batch, int64_t row, int64_t column) {
  batch.resize(batch.size() - 2);
  batch.insert(batch.end(), {row, column});
  return batch;
}

// The dimensions that an operand has itself: 1 where it is broadcast.
Desc desc_of(std::span<const int64_t> dims, std::vector<int64_t> strides) {
  std::vector<int64_t> own(dims.begin(), dims.end());
  int64_t next = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (strides[d] == 0) own[d] = 1;
    // oneDNN tells layouts by strides, so those of single elements must fit in.
    if (own[d] == 1) strides[d] = next;
    next = std::max(next, strides[d] * own[d]);
  }
  return onednn::strided_desc(own, strides);
}

struct Matrices {
  std::vector<int64_t> a_dims, b_dims;
  Desc a, b, output;
};

Matrices matrices_of(const MatmulFrame& frame, const MatmulShape& shape) {
  const size_t rank = frame.dims.size();
  const auto own = [&](const std::vector<int64_t>& strides, int64_t rows, int64_t columns) {
    std::vector<int64_t> dims = frame.dims;
    for (size_t d = 0; d + 2 < rank; ++d)
      if (strides[d] == 0) dims[d] = 1;
    return with_inner(std::move(dims), rows, columns);
  };
  const int64_t m = frame.dims[rank - 2];
  const int64_t n = frame.dims[rank - 1];
  Matrices result;
  result.a_dims = own(frame.strides[0], m, shape.k);
  result.b_dims = own(frame.strides[1], shape.k, n);
  result.a = desc_of(result.a_dims, with_inner(frame.strides[0], frame.strides[0][rank - 2], shape.a_column));
  result.b = desc_of(result.b_dims, with_inner(frame.strides[1], shape.b_row, frame.strides[1][rank - 1]));
  result.output = desc_of(frame.dims, frame.output);
  return result;
}

FusedOp scaled_by(double factor) {
  return {.kind = FusedOp::Kind::Eltwise,
          .algorithm = dnnl::algorithm::eltwise_linear,
          .alpha = static_cast<float>(factor)};
}

// alpha * a b + beta * bias as operations on a b, but for a bias that the primitive adds itself.
struct Affine {
  bool native_bias = false;
  std::vector<FusedOp> ops;
};

Affine affine_of(const MatmulAttributes& attributes, const MatmulFrame& frame) {
  Affine result;
  const double alpha = attributes.alpha;
  const double beta = attributes.beta;
  if (attributes.has_bias && beta != 0) {
    const std::vector<int64_t>& strides = frame.strides[2];
    const bool is_row = std::all_of(strides.begin(), strides.end() - 1, [](int64_t stride) { return stride == 0; }) &&
                        (strides.back() == 1 || frame.dims.back() == 1);
    result.native_bias = is_row && alpha == 1 && beta == 1;
    if (result.native_bias) return result;
    if (alpha != beta) result.ops.push_back(scaled_by(alpha / beta));
    result.ops.push_back({.kind = FusedOp::Kind::Binary,
                          .algorithm = dnnl::algorithm::binary_add,
                          .desc = desc_of(frame.dims, strides),
                          .input = 2});
    if (beta != 1) result.ops.push_back(scaled_by(beta));
  } else if (alpha != 1) {
    result.ops.push_back(scaled_by(alpha));
  }
  return result;
}

}  // namespace

bool accept_matmul_onednn(const Problem& problem) {
  return onednn::is_plain_float_problem(problem) && problem.outputs[0].dims.size() <= 10;
}

std::unique_ptr<Kernel> make_matmul_onednn(const Problem& problem) {
  const ThreadLimit limit(problem.threads ? problem.threads->size() : 1);
  const MatmulAttributes attributes = matmul_attributes(*problem.call);
  const MatmulShape shape = matmul_shape(problem);
  const MatmulFrame frame = matmul_frame(problem, shape);
  const Matrices matrices = matrices_of(frame, shape);
  const auto describe = [&](size_t input) { return desc_of(frame.dims, frame.strides[input]); };

  Affine affine = affine_of(attributes, frame);
  std::vector<FusedOp> ops = std::move(affine.ops);
  const auto post_ops = onednn::fuse_post_ops(
      problem, attributes.has_bias ? 3 : 2, matrices.output,
      [&](const OperandSpec& operand) { return describe(static_cast<size_t>(&operand - problem.inputs.data())); });
  ops.insert(ops.end(), post_ops.begin(), post_ops.end());
  std::optional<Desc> bias;
  if (affine.native_bias) bias = describe(2);

  auto program = std::make_unique<Program>(problem);
  const OperandSpec& b = problem.inputs[1];
  const auto make_with = [&](const Desc& weights) {
    return onednn::make_fused(ops, [&](std::span<const FusedOp> with) {
      return onednn::make_matmul(program->device(), matrices.a, weights, bias ? &*bias : nullptr, matrices.output,
                                 with);
    });
  };
  std::optional<onednn::Fused> fused;
  if (b.constant) fused = make_with(onednn::any_desc(matrices.b_dims));
  if (!fused || fused->primitive.slowness() == 2) {
    auto plain = make_with(matrices.b);
    if (plain && (!fused || plain->primitive.slowness() < fused->primitive.slowness())) fused = std::move(plain);
  }
  if (!fused) return nullptr;

  const auto weights = program->input(1, matrices.b);
  std::vector<Program::Argument> arguments = {
      {DNNL_ARG_SRC, program->input(0, matrices.a)},
      {DNNL_ARG_WEIGHTS, program->in_form(weights, fused->primitive.weights, b.constant)}};
  if (bias) arguments.push_back({DNNL_ARG_BIAS, program->input(2, *bias)});
  onednn::append_fused(*program, *fused, ops, std::move(arguments), matrices.output, describe);
  program->set_work(saturating_product({static_cast<int64_t>(count_elements(problem.outputs[0].dims)), shape.k}));
  program->finish();
  return program;
}

}  // namespace ingot
