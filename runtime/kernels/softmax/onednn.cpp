#include <array>

#include "runtime/kernels/check.h"
#include "runtime/kernels/onednn/fusion.h"
#include "runtime/kernels/softmax/softmax.h"
#include "runtime/parallel/thread_team.h"

namespace ingot {

bool accept_softmax_onednn(const Problem& problem) { return onednn::is_plain_float_problem(problem); }

std::unique_ptr<Kernel> make_softmax_onednn(const Problem& problem) {
  const ThreadLimit limit(problem.threads ? problem.threads->size() : 1);
  const std::vector<int64_t>& dims = problem.outputs[0].dims;
  const int64_t axis = softmax_axis(problem);
  std::array<int64_t, 3> merged = {1, 1, 1};
  for (size_t d = 0; d < dims.size(); ++d)
    merged[d < static_cast<size_t>(axis) ? 0 : d > static_cast<size_t>(axis) ? 2 : 1] *= dims[d];

  auto program = std::make_unique<onednn::Program>(problem);
  const auto desc = onednn::plain_desc(std::span(merged).first(merged[2] == 1 ? 2 : 3));
  const auto primitive = onednn::make_softmax(program->device(), desc, 1);
  if (!primitive) return nullptr;
  onednn::append_fused(*program, {*primitive}, {}, {{DNNL_ARG_SRC, program->input(0, desc)}}, desc, {});
  program->set_in_place_input(0);
  program->set_work(count_elements(dims));
  program->finish();
  return program;
}

}  // namespace ingot
