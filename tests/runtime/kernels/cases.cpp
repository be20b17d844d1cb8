#include "tests/runtime/kernels/cases.h"

#include <algorithm>

#include "runtime/tir/builder.h"

namespace ingot::test {
namespace {

KernelCase conv2d_case(Numbers& numbers) {
  const int64_t groups = numbers.pick({1, 1, 1, 2, 3, 4, 8, 32});
  const int64_t in = groups * numbers.pick({1, 1, 2, 3, 5, 8, 16});
  const int64_t out = groups * numbers.pick({1, 1, 2, 3, 8, 16});
  const std::vector<int64_t> kernel = {numbers.pick({1, 1, 2, 3, 3, 5}), numbers.pick({1, 1, 2, 3, 3, 5})};
  const std::vector<int64_t> strides = {numbers.pick({1, 1, 1, 2, 3}), numbers.pick({1, 1, 1, 2, 3})};
  const std::vector<int64_t> dilation = {numbers.pick({1, 1, 1, 2}), numbers.pick({1, 1, 1, 3})};
  std::vector<int64_t> padding(4);
  for (int64_t& pad : padding) pad = numbers.chance(50) ? 0 : numbers.between(0, 3);
  std::vector<int64_t> data = {numbers.pick({1, 1, 2}), in, 0, 0};
  std::vector<int64_t> result = {data[0], out, 0, 0};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t reach = dilation[d] * (kernel[d] - 1) + 1;
    data[2 + d] = std::max<int64_t>(1, reach - padding[d] - padding[2 + d]) + numbers.between(0, 9);
    result[2 + d] = (data[2 + d] + padding[d] + padding[2 + d] - reach) / strides[d] + 1;
  }
  const bool bias = numbers.chance(50);
  const bool constant = numbers.chance(70);
  KernelCase c{
      .call = {.contract = Contract::conv2d}, .inputs = {}, .output = {.dims = result, .layout = numbers.layout()}};
  c.inputs.push_back(numbers.operand(data, numbers.layout()));
  c.inputs.push_back(
      numbers.operand({out, in / groups, kernel[0], kernel[1]}, Layout::RowMajor, DType::Float32, constant));
  if (bias) c.inputs.push_back(numbers.operand({out}, Layout::RowMajor, DType::Float32, constant));
  c.call.post_ops = numbers.post_ops(c.inputs, result, true);
  c.call.set("strides", strides);
  c.call.set("dilation", dilation);
  c.call.set("padding", padding);
  c.call.set("groups", groups);
  c.call.set("has_bias", int64_t{bias});
  return c;
}

KernelCase matmul_case(Numbers& numbers) {
  const int64_t m = numbers.pick({1, 2, 3, 5, 16, 33});
  const int64_t n = numbers.pick({1, 2, 3, 7, 16, 65});
  const int64_t k = numbers.pick({1, 2, 3, 9, 16, 64, 1, 2, 3, 9, 16, 64, 800});
  const bool transpose_a = numbers.chance(30);
  const bool transpose_b = numbers.chance(30);
  const int64_t batch_rank = numbers.pick({0, 0, 0, 1, 1, 2});
  std::vector<int64_t> a, b, result;
  for (int64_t d = 0; d < batch_rank; ++d) {
    const int64_t dim = numbers.pick({1, 2, 3});
    a.push_back(numbers.chance(20) ? 1 : dim);
    b.push_back(numbers.chance(20) ? 1 : dim);
    result.push_back(std::max(a.back(), b.back()));
  }
  while (!a.empty() && numbers.chance(30)) {
    if (a.size() < result.size()) break;
    result[result.size() - a.size()] = b[b.size() - a.size()];
    a.erase(a.begin());
  }
  if (a.size() == result.size())
    while (!b.empty() && numbers.chance(30)) {
      result[result.size() - b.size()] = a[a.size() - b.size()];
      b.erase(b.begin());
    }
  const bool row = a.empty() && numbers.chance(10);
  const bool column = b.empty() && numbers.chance(10);
  if (row) {
    a = {k};
  } else {
    a.insert(a.end(), {transpose_a ? k : m, transpose_a ? m : k});
    result.push_back(m);
  }
  if (column) {
    b = {k};
  } else {
    b.insert(b.end(), {transpose_b ? n : k, transpose_b ? k : n});
    result.push_back(n);
  }
  const bool bias = numbers.chance(50);
  const bool constant = numbers.chance(60);
  KernelCase c{.call = {.contract = Contract::matmul}, .inputs = {}, .output = {.dims = result}};
  c.inputs.push_back(numbers.operand(a));
  c.inputs.push_back(numbers.operand(b, Layout::RowMajor, DType::Float32, constant));
  if (bias) {
    std::vector<int64_t> dims = result;
    while (!dims.empty() && numbers.chance(50)) dims.erase(dims.begin());
    for (int64_t& dim : dims)
      if (numbers.chance(20)) dim = 1;
    c.inputs.push_back(numbers.operand(dims, Layout::RowMajor, DType::Float32, constant));
  }
  c.call.post_ops = numbers.post_ops(c.inputs, result, false);
  c.call.set("transpose_a", int64_t{transpose_a});
  c.call.set("transpose_b", int64_t{transpose_b});
  c.call.set("has_bias", int64_t{bias});
  if (numbers.chance(30)) c.call.set("alpha", 0.5);
  if (numbers.chance(30)) c.call.set("beta", numbers.chance(80) ? 0.25 : 0.0);
  return c;
}

KernelCase pool2d_case(Numbers& numbers) {
  const std::vector<int64_t> window = {numbers.pick({1, 2, 3, 5}), numbers.pick({1, 2, 3, 5})};
  const std::vector<int64_t> strides = {numbers.pick({1, 2, 3}), numbers.pick({1, 2, 3})};
  const std::vector<int64_t> dilation = {numbers.pick({1, 1, 1, 2}), numbers.pick({1, 1, 1, 2})};
  std::vector<int64_t> padding(4);
  for (int64_t& pad : padding) pad = numbers.chance(50) ? 0 : numbers.between(0, 2);
  std::vector<int64_t> data = {numbers.pick({1, 2}), numbers.pick({1, 3, 8, 16, 17, 32}), 0, 0};
  std::vector<int64_t> result = data;
  for (size_t d = 0; d < 2; ++d) {
    const int64_t reach = dilation[d] * (window[d] - 1) + 1;
    data[2 + d] = std::max<int64_t>(1, reach - padding[d] - padding[2 + d]) + numbers.between(0, 9);
    const int64_t rest = data[2 + d] + padding[d] + padding[2 + d] - reach;
    result[2 + d] = (rest + (numbers.chance(40) ? strides[d] - 1 : 0)) / strides[d] + 1;
  }
  KernelCase c{
      .call = {.contract = Contract::pool2d}, .inputs = {}, .output = {.dims = result, .layout = numbers.layout()}};
  c.inputs.push_back(numbers.operand(data, numbers.layout()));
  c.call.set("mode", numbers.between(0, 1));
  c.call.set("count_include_pad", numbers.between(0, 1));
  c.call.set("window", window);
  c.call.set("strides", strides);
  c.call.set("dilation", dilation);
  c.call.set("padding", padding);
  return c;
}

KernelCase lrn_case(Numbers& numbers) {
  const std::vector<int64_t> dims = {numbers.pick({1, 2}), numbers.pick({1, 3, 8, 16, 17, 96}), numbers.between(1, 5),
                                     numbers.between(1, 5)};
  KernelCase c{.call = {.contract = Contract::lrn}, .inputs = {}, .output = {.dims = dims, .layout = numbers.layout()}};
  c.inputs.push_back(numbers.operand(dims, numbers.layout()));
  c.call.set("size", numbers.pick({1, 2, 3, 5, 5, 5, 9}));
  c.call.set("alpha", numbers.chance(50) ? 1e-4 : 0.5);
  c.call.set("beta", numbers.chance(50) ? 0.75 : 0.5);
  c.call.set("bias", numbers.chance(50) ? 1.0 : 2.0);
  return c;
}

std::vector<int64_t> some_dims(Numbers& numbers, int64_t least_rank) {
  std::vector<int64_t> dims;
  for (int64_t rank = numbers.chance(60) ? 4 : numbers.between(least_rank, 5); rank > 0; --rank)
    dims.push_back(numbers.pick({1, 1, 2, 3, 5, 17}));
  return dims;
}

Layout layout_for(Numbers& numbers, const std::vector<int64_t>& dims) {
  return dims.size() == 4 ? numbers.layout() : Layout::RowMajor;
}

KernelCase elementwise_case(Numbers& numbers, Contract contract, int64_t least_rank) {
  const std::vector<int64_t> dims = some_dims(numbers, least_rank);
  KernelCase c{
      .call = {.contract = contract}, .inputs = {}, .output = {.dims = dims, .layout = layout_for(numbers, dims)}};
  c.inputs.push_back(numbers.operand(dims, layout_for(numbers, dims)));
  return c;
}

KernelCase concat_case(Numbers& numbers) {
  KernelCase c = elementwise_case(numbers, Contract::concat, 1);
  const auto axis = static_cast<size_t>(numbers.between(0, static_cast<int64_t>(c.output.dims.size()) - 1));
  const DType dtype = numbers.chance(50) ? DType::Float32 : numbers.chance(50) ? DType::UInt8 : DType::Float64;
  c.inputs.clear();
  c.output.dtype = dtype;
  c.output.dims[axis] = 0;
  for (int64_t count = numbers.between(1, 4); count > 0; --count) {
    std::vector<int64_t> dims = c.output.dims;
    dims[axis] = numbers.pick({0, 1, 2, 3, 16});
    c.inputs.push_back(numbers.operand(dims, layout_for(numbers, dims), dtype));
  }
  for (const Operand& input : c.inputs) c.output.dims[axis] += input.dims[axis];
  c.call.set("axis", static_cast<int64_t>(axis));
  return c;
}

KernelCase reorder_case(Numbers& numbers) { return elementwise_case(numbers, Contract::reorder, 0); }

KernelCase softmax_case(Numbers& numbers) {
  KernelCase c = elementwise_case(numbers, Contract::softmax, 1);
  c.inputs[0].layout = c.output.layout = Layout::RowMajor;
  c.call.set("axis", numbers.between(0, static_cast<int64_t>(c.output.dims.size()) - 1));
  return c;
}

KernelCase scale_shift_case(Numbers& numbers) {
  KernelCase c = elementwise_case(numbers, Contract::scale_shift, 2);
  for (int i = 0; i < 2; ++i) c.inputs.push_back(numbers.operand({c.output.dims[1]}));
  c.call.post_ops = numbers.post_ops(c.inputs, c.output.dims, true);
  return c;
}

KernelCase binary_add_case(Numbers& numbers) {
  KernelCase c = elementwise_case(numbers, Contract::binary_add, 0);
  c.inputs.push_back(numbers.operand(c.output.dims, layout_for(numbers, c.output.dims)));
  c.call.post_ops = numbers.post_ops(c.inputs, c.output.dims, true);
  return c;
}

// A chain over rows with a bias, or the sums of rows; tests/runtime/jit and tests/runtime/tir compare far more.
KernelCase prim_func_case(Numbers& numbers) {
  const int64_t rows = numbers.pick({1, 2, 7, 40}), columns = numbers.pick({1, 7, 8, 9, 16, 17, 100});
  const bool sums = numbers.chance(30);
  const PrimExpr n = make_sym_var("n"), m = make_sym_var("m");
  tir::FuncBuilder f("f");
  const auto x = f.input("x", DType::Float32, {n, m}), bias = f.input("bias", DType::Float32, {m});
  const auto element = [&](const PrimExpr& i, const PrimExpr& k) {
    const auto scaled = tir::binary(tir::ExprOp::Mul, f.load(x, {i, k}), tir::constant(DType::Float32, 1.5));
    return tir::unary(tir::ExprOp::Tanh, tir::binary(tir::ExprOp::Add, scaled, f.load(bias, {k})));
  };
  std::vector<PrimExpr> dims = {n};
  if (!sums) dims.push_back(m);
  const auto y = f.output("y", DType::Float32, dims);
  if (sums) {
    f.reduce(y, tir::ExprOp::Add, tir::constant(DType::Float32, 0), {m},
             [&](const tir::Indices& i, const tir::Indices& k) { return element(i[0], k[0]); });
  } else {
    f.compute(y, [&](const tir::Indices& i) { return element(i[0], i[1]); });
  }
  KernelCase c;
  c.call.contract = Contract::prim_func;
  c.call.prim_func = std::make_shared<const tir::PrimFunc>(f.finish());
  c.inputs = {numbers.operand({rows, columns}), numbers.operand({columns})};
  c.output.dims = {rows};
  if (!sums) c.output.dims.push_back(columns);
  return c;
}

}  // namespace

const std::map<Contract, CaseGenerator>& case_generators() {
  static const std::map<Contract, CaseGenerator> kGenerators = {
      {Contract::conv2d, {conv2d_case, 500}},         {Contract::matmul, {matmul_case, 500}},
      {Contract::pool2d, {pool2d_case, 600}},         {Contract::lrn, {lrn_case, 300}},
      {Contract::concat, {concat_case, 300}},         {Contract::reorder, {reorder_case, 200}},
      {Contract::softmax, {softmax_case, 200}},       {Contract::scale_shift, {scale_shift_case, 120}},
      {Contract::binary_add, {binary_add_case, 120}}, {Contract::prim_func, {prim_func_case, 100}},
  };
  return kGenerators;
}

}  // namespace ingot::test
