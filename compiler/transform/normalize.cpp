#include "compiler/analysis/normalize.h"

#include "compiler/transform/transforms.h"

namespace ingot::transform {

ir::Module normalize(ir::Module module, PassContext&) { return analysis::normalize(module); }

}  // namespace ingot::transform
