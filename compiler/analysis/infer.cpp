#include "compiler/analysis/infer.h"

#include "compiler/analysis/inference.h"

namespace ingot::analysis {

ir::Module infer(ir::Module module, ir::Diagnostics& diagnostics) { return Inference(module, diagnostics).run(); }

}  // namespace ingot::analysis
