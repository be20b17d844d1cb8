#include "compiler/ops/functions.h"
#include "runtime/base/error.h"

// Operators that legalization produces and code generation knows: call_tir, call_kernel, call_builtin, call_packed,
// view, make_closure. Their results are what their StructInfo arguments say.
namespace ingot::ops {

using namespace ir;

// No StructInfo argument: the empty tuple; one: that; several: their tuple.
StructInfo infer_outputs(const CallSite& call) {
  const auto outputs = call.info_args();
  if (outputs.size() == 1) return outputs[0];
  return tuple_info({outputs.begin(), outputs.end()});
}

StructInfo infer_call_tir(const CallSite& call) {
  if (call.size() < 2)
    call.fail(ErrorCode::ArityMismatch, "{} arguments are given, a prim_func and a tuple are needed", call.size());
  if (as<GlobalVar>(call.arg(0)) == nullptr)
    call.fail(ErrorCode::TypeError, "the first argument must be a prim_func of the module");
  for (const auto& output : call.info_args())
    if (output->kind != InfoKind::Tensor || !output->dims || output->dtype == DType::None)
      call.fail(ErrorCode::TypeError, "a result must be a tensor of known dtype and dimensions, not {}",
                to_text(output));
  return infer_outputs(call);
}

StructInfo infer_call_dps_packed(const CallSite& call) {
  if (as<ExternFunc>(call.arg(0)) == nullptr)
    call.fail(ErrorCode::TypeError, "the first argument must be the name of a PackedFunc");
  if (call.info(1)->kind != InfoKind::Tuple)
    call.fail(ErrorCode::TypeError, "the arguments are {}, expected a tuple; write one as (%x,)",
              to_text(call.info(1)));
  const StructInfo result = infer_outputs(call);
  const auto& outputs = result->kind == InfoKind::Tuple ? result->fields : std::vector<StructInfo>{result};
  for (const auto& output : outputs)
    if (output->kind != InfoKind::Tensor || !output->dims || output->dtype == DType::None || output->dims->empty())
      call.fail(ErrorCode::TypeError, "a result must be a tensor of known dtype, rank above 0 and dimensions, not {}",
                to_text(output));
  return result;
}

// As infer_outputs, but nothing is known of the result where no StructInfo is given.
StructInfo infer_stated(const CallSite& call) { return call.info_args().empty() ? object_info() : infer_outputs(call); }

StructInfo infer_call_builtin(const CallSite& call) {
  call.text("name");
  return infer_stated(call);
}

StructInfo infer_call_pure_packed(const CallSite& call) {
  if (const auto* callee = as<ExternFunc>(call.arg(0)); callee != nullptr && !callee->writes.empty())
    call.fail(ErrorCode::TypeError, "\"{}\" writes its arguments, which is no pure call; use call_packed",
              callee->name);
  if (call.info_args().empty())
    call.fail(ErrorCode::TypeError,
              "the StructInfo of the result is missing; write it behind the arguments, or Object");
  return infer_stated(call);
}

Meaning define_low_level(const CallSite& call) {
  call.fail(ErrorCode::Internal, "the operator is for code generation and has no other meaning");
}

}  // namespace ingot::ops
