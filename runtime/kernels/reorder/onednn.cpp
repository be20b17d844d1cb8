#include "runtime/kernels/check.h"
#include "runtime/kernels/onednn/fusion.h"
#include "runtime/kernels/reorder/reorder.h"
#include "runtime/parallel/thread_team.h"

namespace ingot {

bool accept_reorder_onednn(const Problem& problem) {
  return onednn::is_plain_float_problem(problem) && problem.inputs[0].layout != problem.outputs[0].layout;
}

std::unique_ptr<Kernel> make_reorder_onednn(const Problem& problem) {
  const ThreadLimit limit(problem.threads ? problem.threads->size() : 1);
  auto program = std::make_unique<onednn::Program>(problem);
  const OperandSpec& data = problem.inputs[0];
  const auto from = program->input(0, onednn::plain_desc(data.dims, data.layout));
  const auto to = program->output(onednn::plain_desc(data.dims, problem.outputs[0].layout));
  const auto primitive = onednn::make_reorder(program->device(), program->desc(from), program->desc(to));
  if (!primitive) return nullptr;
  program->step(*primitive, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  program->set_implementation(primitive->name);
  program->set_work(count_elements(data.dims));
  program->finish();
  return program;
}

}  // namespace ingot
