#include "runtime/jit/compiled_func.h"
#include "runtime/kernels/prim_func/operands.h"
#include "runtime/kernels/prim_func/prim_func.h"
#include "runtime/parallel/thread_team.h"

namespace ingot {
namespace {

class PrimFuncJit final : public Kernel {
 public:
  PrimFuncJit(const Problem& problem, std::unique_ptr<const jit::CompiledFunc> func)
      : func_(std::move(func)), operands_(problem), in_place_(prim_func_in_place(problem)), team_(problem.threads) {}

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    const PrimFuncArgs to = operands_.arrange(args, args.scratch + func_->scratch_bytes());
    return func_->run(to.buffers, to.scalars, args.scratch, team_, args.poll);
  }
  size_t scratch_bytes() const override { return func_->scratch_bytes() + operands_.table_bytes(); }
  bool runs_in_place(size_t input) const override { return input < in_place_.size() && in_place_[input]; }
  std::string_view implementation() const override { return func_->cpu() == Cpu::Avx2 ? "jit:avx2" : "jit:avx512"; }
  uint64_t work() const override { return func_->work(); }

 private:
  std::unique_ptr<const jit::CompiledFunc> func_;
  PrimFuncOperands operands_;
  std::vector<bool> in_place_;
  const ThreadTeam* team_;
};

}  // namespace

std::unique_ptr<Kernel> make_prim_func_jit(const Problem& problem) {
  const int threads = problem.threads != nullptr ? problem.threads->size() : 1;
  auto func = jit::CompiledFunc::compile(*problem.call->prim_func, buffer_dims(problem), scalar_values(problem),
                                         problem.cpu, threads);
  return func ? std::make_unique<PrimFuncJit>(problem, std::move(func)) : nullptr;
}

}  // namespace ingot
