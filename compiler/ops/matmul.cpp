#include "compiler/ops/broadcast.h"
#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/layouts.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

namespace {

// What the operators of the family (matmul, dense, batch_matmul, linear, gemm) have in common.
struct Product {
  Operand x, y;
  std::optional<Operand> bias;
  bool transpose_x = false, transpose_y = false;
  PrimExpr rows, inner_x, inner_y, columns;  // null rows, columns: a vector has none
  Broadcast batch;

  Dims result() const {
    Dims dims = batch.dims;
    if (rows) dims.push_back(rows);
    if (columns) dims.push_back(columns);
    return dims;
  }
};

Operand leading(const Operand& x) {
  if (x.rank() <= 2) return {x.name, tensor_info(x.dtype(), Dims{})};
  return {x.name, tensor_info(x.dtype(), Dims(x.dims().begin(), x.dims().end() - 2))};
}

Product product_of(const CallSite& call) {
  const auto name = call.op().name;
  Product p{operand(call, 0), operand(call, 1), std::nullopt, false, false, {}, {}, {}, {}, {}};
  if (name == "dense" || name == "linear") {
    p.transpose_y = p.y.rank() != 1;
    if (name == "dense" || p.transpose_y) require_rank(call, p.y, 2);
  } else {
    p.transpose_x = call.flag("transpose_a");
    p.transpose_y = call.flag("transpose_b");
  }
  if (name == "gemm") {
    require_rank(call, p.x, 2);
    require_rank(call, p.y, 2);
  }
  if (name == "batch_matmul") {
    require_rank(call, p.x, 3);
    require_rank(call, p.y, 3);
  }
  require_numeric(call, p.x);
  require_same_dtype(call, p.x, p.y);
  const bool is_scaled = name == "gemm" && (call.number("alpha") != 1 || (given(call, 2) && call.number("beta") != 1));
  if (is_scaled && !is_float(p.x.dtype()))
    call.fail(ErrorCode::TypeError, "alpha {} and beta {} need a float, {} is {}; convert it with cast",
              call.number("alpha"), call.number("beta"), p.x.name, dtype_name(p.x.dtype()));
  for (const auto* side : {&p.x, &p.y})
    if (side->rank() == 0)
      call.fail(ErrorCode::ShapeMismatch, "{} must have rank 1 or more, it is a scalar; use multiply", side->name);

  const auto& a = p.x.dims();
  const auto& b = p.y.dims();
  p.inner_x = a.back();
  if (a.size() >= 2) {
    p.rows = a[a.size() - 2];
    if (p.transpose_x) std::swap(p.rows, p.inner_x);
  }
  p.inner_y = b.front();
  if (b.size() >= 2) {
    p.inner_y = b[b.size() - 2];
    p.columns = b.back();
    if (p.transpose_y) std::swap(p.inner_y, p.columns);
  }
  require_equal(call, "inner dimensions", p.x, p.inner_x, p.y, p.inner_y);
  const std::vector<Operand> batches = {leading(p.x), leading(p.y)};
  p.batch = broadcast(call, batches);
  if (given(call, 2)) {
    p.bias = operand(call, 2);
    require_same_dtype(call, p.x, *p.bias);
    const Operand product = {"the product", tensor_like(p.x, p.result())};
    const std::vector<Operand> sum = {product, *p.bias};
    const auto shape = broadcast(call, sum);
    for (size_t i = 0; i < shape.dims.size(); ++i)
      if (shape.dims.size() != product.rank() || prove_equal(shape.dims[i], product.dims()[i]) == Proof::No)
        call.fail(ErrorCode::ShapeMismatch, "{} must broadcast to the product: it is {}, the product is {}",
                  p.bias->name, dims_text(p.bias->dims()), dims_text(product.dims()));
  }
  return p;
}

KernelCall kernel_of(const CallSite& call, const Product& p) {
  KernelCall kernel;
  kernel.contract = Contract::matmul;
  kernel.inputs = p.bias ? 3 : 2;
  kernel.set("transpose_a", int64_t{p.transpose_x});
  kernel.set("transpose_b", int64_t{p.transpose_y});
  kernel.set("has_bias", int64_t{p.bias.has_value()});
  if (call.op().name == "gemm") {
    if (call.number("alpha") != 1) kernel.set("alpha", call.number("alpha"));
    if (call.number("beta") != 1 && p.bias) kernel.set("beta", call.number("beta"));
  }
  return kernel;
}

}  // namespace

StructInfo infer_matmul(const CallSite& call) {
  if (in_out_dtype(call)) return infer_composed(call);
  const auto p = product_of(call);
  return tensor_like(p.x, p.result());
}

Effect matmul_effect(const CallSite& call) {
  if (in_out_dtype(call)) return composed_effect(call);
  const auto p = product_of(call);
  bool proved = p.batch.proved && prove_equal(p.inner_x, p.inner_y) == Proof::Yes;
  if (p.bias) {
    const Dims result = p.result();
    const auto& bias = p.bias->dims();
    for (size_t i = 1; i <= bias.size() && i <= result.size(); ++i) {
      const auto& dim = bias[bias.size() - i];
      proved = proved && (dim.is_const(1) || prove_equal(dim, result[result.size() - i]) == Proof::Yes);
    }
  }
  return proved ? Effect::Total : Effect::MayFail;
}

Meaning define_matmul(const CallSite& call) {
  if (auto plain = in_out_dtype(call)) return *std::move(plain);
  const auto p = product_of(call);
  if (p.x.rank() == 1 || p.y.rank() == 1) {
    // A vector stands for a matrix of one row or column, which is taken away again.
    const auto last = [](int64_t axis) { return Attrs{{"axis", AttrValue(std::vector<int64_t>{axis})}}; };
    const Expr x = p.x.rank() == 1 ? make_call("expand_dims", {call.arg(0)}, last(0)) : call.arg(0);
    const Expr y = p.y.rank() == 1 ? make_call("expand_dims", {call.arg(1)}, last(-1)) : call.arg(1);
    Expr result = make_call(
        "matmul", {x, y},
        Attrs{{"transpose_a", p.transpose_x && p.x.rank() > 1}, {"transpose_b", p.transpose_y && p.y.rank() > 1}});
    if (p.y.rank() == 1) result = make_call("squeeze", {result}, last(-1));
    if (p.x.rank() == 1) result = make_call("squeeze", {result}, last(p.y.rank() == 1 ? -1 : -2));
    if (p.bias) result = make_call("add", {result, call.arg(2)});
    return result;
  }
  return kernel_of(call, p);
}

std::optional<KernelCall> matmul_kernel(const CallSite& call) {
  if (in_out_dtype(call)) return std::nullopt;
  const auto p = product_of(call);
  if (p.x.rank() == 1 || p.y.rank() == 1) return std::nullopt;
  return kernel_of(call, p);
}

}  // namespace ingot::ops
