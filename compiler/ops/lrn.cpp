#include "compiler/ops/call.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/operands.h"

namespace ingot::ops {

using namespace ir;

StructInfo infer_lrn(const CallSite& call) {
  const auto x = operand(call, 0);
  require_rank(call, x, 4);
  require_float(call, x);
  call.axis("axis", 4);
  if (call.integer("size") < 1)
    call.fail(ErrorCode::InvalidArgument, "size is {}, it must be 1 or more", call.integer("size"));
  return x.info;
}

Meaning define_lrn(const CallSite& call) {
  const DType dtype = operand(call, 0).dtype();
  const Attrs attrs = {{"size", call.integer("size")},
                       {"alpha", call.number("alpha")},
                       {"beta", call.number("beta")},
                       {"bias", call.number("bias")}};
  if (const auto axis = static_cast<size_t>(call.axis("axis", 4)); axis != 1) {
    std::vector<int64_t> order = {0, 1, 2, 3};
    std::swap(order[1], order[axis]);
    const Expr x = make_call("transpose", {call.arg(0)}, {{"axes", order}});
    return make_call("transpose", {make_call("lrn", {x}, attrs)}, {{"axes", order}});
  }
  if (dtype != DType::Float32) {
    const Expr x = make_call("cast", {call.arg(0)}, {{"dtype", DType::Float32}});
    return make_call("cast", {make_call("lrn", {x}, attrs)}, {{"dtype", dtype}});
  }
  KernelCall kernel;
  kernel.contract = Contract::lrn;
  kernel.inputs = 1;
  kernel.set("size", call.integer("size"));
  kernel.set("alpha", call.number("alpha"));
  kernel.set("beta", call.number("beta"));
  kernel.set("bias", call.number("bias"));
  return kernel;
}

}  // namespace ingot::ops
