#include "runtime/kernels/check.h"

#include <algorithm>
#include <limits>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"

namespace ingot {
namespace {

std::string_view name_of(const Problem& problem) { return contract_name(problem.call->contract); }

bool needs_float(PostOpKind kind) {
  return kind != PostOpKind::Relu && kind != PostOpKind::Clip && kind != PostOpKind::Add;
}

void check_operand(const Problem& problem, const OperandSpec& operand, std::string_view role, size_t position) {
  if (operand.dims.size() > kMaxRank)
    fail(ErrorCode::ShapeMismatch, "{}: {} {} has rank {}, at most {} is possible", name_of(problem), role, position,
         operand.dims.size(), kMaxRank);
  if (operand.dtype == DType::None || operand.dtype == DType::String)
    fail(ErrorCode::TypeError, "{}: {} {} has dtype {}, kernels take numbers", name_of(problem), role, position,
         dtype_name(operand.dtype));
  byte_size(operand.dtype, operand.dims);
  if (operand.layout == Layout::ChannelsLast && operand.dims.size() != 4)
    fail(ErrorCode::InvalidArgument, "{}: {} {} of rank {} cannot lie channels-last", name_of(problem), role, position,
         operand.dims.size());
}

}  // namespace

void check_common(const Problem& problem) {
  const KernelCall& call = *problem.call;
  if (static_cast<size_t>(call.contract) >= kContractCount)
    fail(ErrorCode::CorruptFile, "kernel contract number {} does not exist", static_cast<size_t>(call.contract));
  if (problem.inputs.size() != call.inputs || problem.outputs.size() != call.outputs)
    fail(ErrorCode::ArityMismatch, "{}: the call has {} inputs and {} outputs, it is given {} and {}", name_of(problem),
         call.inputs, call.outputs, problem.inputs.size(), problem.outputs.size());
  for (const PostOp& op : call.post_ops) {
    if (static_cast<size_t>(op.kind) >= kPostOpKindCount)
      fail(ErrorCode::CorruptFile, "{}: post-op number {} does not exist", name_of(problem),
           static_cast<size_t>(op.kind));
    if (!takes_post_ops(call.contract))
      fail(ErrorCode::Unsupported, "{}: takes no post-ops, the call has {}", name_of(problem), post_op_name(op.kind));
  }
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    check_operand(problem, problem.inputs[i], "input", i);
    if (problem.inputs[i].layout != Layout::RowMajor && !takes_channels_last(call.contract, i, call))
      fail(ErrorCode::InvalidArgument, "{}: input {} cannot lie channels-last", name_of(problem), i);
  }
  for (size_t i = 0; i < problem.outputs.size(); ++i) {
    check_operand(problem, problem.outputs[i], "output", i);
    if (problem.outputs[i].layout != Layout::RowMajor &&
        !takes_channels_last(call.contract, problem.inputs.size() + i, call))
      fail(ErrorCode::InvalidArgument, "{}: output {} cannot lie channels-last", name_of(problem), i);
  }
}

void check_operands(const Problem& problem, std::initializer_list<std::string_view> names) {
  const auto& post_ops = problem.call->post_ops;
  const auto adds = static_cast<size_t>(
      std::count_if(post_ops.begin(), post_ops.end(), [](const PostOp& op) { return op.kind == PostOpKind::Add; }));
  if (problem.inputs.size() != names.size() + adds)
    fail(ErrorCode::ArityMismatch, "{}: takes {} inputs and {} of post-ops, the call has {}", name_of(problem),
         names.size(), adds, problem.inputs.size());
  if (problem.outputs.size() != 1)
    fail(ErrorCode::ArityMismatch, "{}: has one output, the call {}", name_of(problem), problem.outputs.size());
}

void check_attributes(const KernelCall& call, std::initializer_list<std::string_view> names) {
  for (const NamedAttribute& attribute : call.attributes)
    if (std::find(names.begin(), names.end(), attribute.name) == names.end())
      fail(ErrorCode::CorruptFile, "{}: there is no attribute '{}'", contract_name(call.contract), attribute.name);
}

void check_dtypes(const Problem& problem, bool floats_only) {
  const DType dtype = problem.outputs[0].dtype;
  if (!(is_float(dtype) || (!floats_only && is_integer(dtype))))
    fail(ErrorCode::TypeError, "{}: the result has dtype {}, {} is needed", name_of(problem), dtype_name(dtype),
         floats_only ? "a float" : "a number");
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    if (problem.inputs[i].dtype != dtype)
      fail(ErrorCode::TypeError, "{}: input {} has dtype {}, the result has {}; use cast", name_of(problem), i,
           dtype_name(problem.inputs[i].dtype), dtype_name(dtype));
  for (const PostOp& op : problem.call->post_ops)
    if (needs_float(op.kind) && !is_float(dtype))
      fail(ErrorCode::TypeError, "{}: post-op {} needs a float, the result has dtype {}", name_of(problem),
           post_op_name(op.kind), dtype_name(dtype));
}

void check_spatial(const Problem& problem, const OperandSpec& operand, std::string_view name) {
  if (operand.dims.size() != 4)
    fail(ErrorCode::ShapeMismatch, "{}: {} has shape {} of rank {}, rank 4 is needed", name_of(problem), name,
         shape_text(operand.dims), operand.dims.size());
  for (const int64_t dim : operand.dims)
    if (dim > kMaxExtent)
      fail(ErrorCode::ShapeMismatch, "{}: {} has shape {}, dimensions are at most {}", name_of(problem), name,
           shape_text(operand.dims), kMaxExtent);
}

void check_same_dims(const Problem& problem, const OperandSpec& a, std::string_view a_name, const OperandSpec& b,
                     std::string_view b_name) {
  if (a.dims != b.dims)
    fail(ErrorCode::ShapeMismatch, "{}: {} has shape {}, {} has {}", name_of(problem), a_name, shape_text(a.dims),
         b_name, shape_text(b.dims));
}

void check_post_op_inputs(const Problem& problem, size_t first) {
  const auto& result = problem.outputs[0].dims;
  for (size_t i = first; i < problem.inputs.size(); ++i) {
    const auto& dims = problem.inputs[i].dims;
    bool fits = dims.size() == result.size();
    for (size_t d = 0; fits && d < dims.size(); ++d) fits = dims[d] == result[d] || dims[d] == 1;
    if (!fits)
      fail(ErrorCode::ShapeMismatch, "{}: input {}, which is added to the result, has shape {}, the result has {}",
           name_of(problem), i, shape_text(dims), shape_text(result));
  }
}

int64_t integer_in_range(const KernelCall& call, std::string_view name, int64_t fallback, int64_t low, int64_t high) {
  const int64_t value = call.integer(name, fallback);
  if (value < low || value > high)
    fail(ErrorCode::InvalidArgument, "{}: {} is {}, it must be {} to {}", contract_name(call.contract), name, value,
         low, high);
  return value;
}

template <size_t N>
std::array<int64_t, N> integers_in_range(const KernelCall& call, std::string_view name, int64_t fallback, int64_t low,
                                         int64_t high) {
  const std::vector<int64_t> values = call.integers(name, std::vector<int64_t>(N, fallback));
  if (values.size() != N)
    fail(ErrorCode::InvalidArgument, "{}: {} has {} numbers, {} are needed", contract_name(call.contract), name,
         values.size(), N);
  std::array<int64_t, N> result;
  std::copy(values.begin(), values.end(), result.begin());
  for (const int64_t value : result)
    if (value < low || value > high)
      fail(ErrorCode::InvalidArgument, "{}: {} has {}, each must be {} to {}", contract_name(call.contract), name,
           value, low, high);
  return result;
}
template std::array<int64_t, 2> integers_in_range(const KernelCall&, std::string_view, int64_t, int64_t, int64_t);
template std::array<int64_t, 4> integers_in_range(const KernelCall&, std::string_view, int64_t, int64_t, int64_t);

uint64_t saturating_product(std::initializer_list<int64_t> factors) {
  uint64_t result = 1;
  for (const int64_t factor : factors) {
    const auto next = checked_mul(result, static_cast<uint64_t>(factor));
    if (!next) return std::numeric_limits<uint64_t>::max();
    result = *next;
  }
  return result;
}

uint64_t count_elements(std::span<const int64_t> dims) {
  uint64_t result = 1;
  for (const int64_t dim : dims) result = saturating_product({static_cast<int64_t>(result), dim});
  return result;
}

}  // namespace ingot
