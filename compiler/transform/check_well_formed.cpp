#include "compiler/analysis/well_formed.h"
#include "compiler/transform/transforms.h"

namespace ingot::transform {

ir::Module check_well_formed(ir::Module module, PassContext& context) {
  analysis::check_well_formed(module, context.diagnostics);
  return module;
}

}  // namespace ingot::transform
