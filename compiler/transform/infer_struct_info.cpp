#include "compiler/analysis/infer.h"
#include "compiler/transform/transforms.h"

namespace ingot::transform {

ir::Module infer_struct_info(ir::Module module, PassContext& context) {
  return analysis::infer(std::move(module), context.diagnostics);
}

}  // namespace ingot::transform
