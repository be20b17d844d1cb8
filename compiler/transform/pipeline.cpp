#include "compiler/transform/pipeline.h"

#include <algorithm>

#include "compiler/analysis/check_form.h"
#include "compiler/transform/transforms.h"
#include "runtime/base/error.h"

namespace ingot::transform {
namespace {

// Runs passes one by one: skips optional ones that are switched off, stops at errors, checks forms.
class Runner {
 public:
  Runner(ir::Module module, PassContext& context, bool check_forms)
      : module_(std::move(module)), context_(&context), check_forms_(check_forms) {}

  Runner& operator()(Pass pass) {
    const PassInfo& info = info_of(pass);
    if (info.optional && !context_->runs(info.name)) return *this;
    module_ = pass(std::move(module_), *context_);
    // Inference tells what else is wrong, whatever the passes before it found.
    if (info.leaves >= ir::Form::Typed) context_->diagnostics.throw_if_errors();
    module_.form = std::max(module_.form, info.leaves);
    if (check_forms_ && !context_->diagnostics.has_errors()) analysis::check_form(module_, info.name);
    return *this;
  }

  // The mandatory passes that are still missing before a pass that needs `form`.
  void raise_to(ir::Form form) {
    if (form > ir::Form::Parsed && module_.form == ir::Form::Parsed) (*this)(check_well_formed);
    for (const PassInfo& info : passes())
      if (!info.optional && info.leaves > module_.form && info.leaves <= form) (*this)(info.run);
  }

  ir::Module take() {
    context_->diagnostics.throw_if_errors();
    return std::move(module_);
  }

 private:
  static const PassInfo& info_of(Pass pass) {
    for (const PassInfo& info : passes())
      if (info.run == pass) return info;
    fail(ErrorCode::Internal, "a pass is missing in passes.def");
  }

  ir::Module module_;
  PassContext* context_;
  bool check_forms_;
};

#ifdef NDEBUG
constexpr bool kAlwaysCheckForms = false;
#else
constexpr bool kAlwaysCheckForms = true;
#endif

}  // namespace

ir::Module lower(ir::Module module, PassContext& context, bool check_forms) {
  Runner run(std::move(module), context, check_forms || kAlwaysCheckForms);
  run(check_well_formed);
  run(normalize);
  run(infer_struct_info);
  run(inline_functions);
  run(fold_constants);
  run(eliminate_common);
  run(eliminate_dead);
  run(fold_batch_norm);
  run(fuse_library_kernels);
  run(legalize);
  run(fuse_primfuncs);
  run(lift_lambdas);
  return run.take();
}

ir::Module run_passes(ir::Module module, std::span<const std::string> names, PassContext& context) {
  Runner run(std::move(module), context, true);
  for (const auto& name : names) {
    const PassInfo* info = find_pass(name);
    if (info == nullptr) {
      std::string known;
      for (const PassInfo& pass : passes()) known += (known.empty() ? "" : ", ") + std::string(pass.name);
      fail(ErrorCode::InvalidArgument, "there is no pass '{}'; passes are: {}", name, known);
    }
    run.raise_to(info->needs);
    run(info->run);
  }
  return run.take();
}

}  // namespace ingot::transform
