#include "compiler/analysis/normalize.h"

#include "compiler/transform/transforms.h"
#include "compiler/transform/wrap_prim_funcs.h"

namespace ingot::transform {

ir::Module normalize(ir::Module module, PassContext& context) {
  return analysis::normalize(wrap_prim_funcs(std::move(module), context.diagnostics));
}

}  // namespace ingot::transform
