#include "runtime/jit/compiled_func.h"
#include "runtime/kernels/family_cache.h"
#include "runtime/kernels/prim_func/operands.h"
#include "runtime/kernels/prim_func/prim_func.h"
#include "runtime/parallel/thread_team.h"
#include "runtime/tensor/tensor.h"
#include "runtime/tir/in_place.h"

namespace ingot {
namespace {

class PrimFuncJit final : public Kernel {
 public:
  PrimFuncJit(const Problem& problem, std::unique_ptr<const jit::CompiledFunc> func, std::vector<bool> in_place)
      : func_(std::move(func)), operands_(problem), team_(problem.threads) {
    if (func_->checks_indices())
      checked_ =
          std::make_unique<Checked>(Checked{problem.call->prim_func, buffer_dims(problem), scalar_values(problem)});
    else
      in_place_ = std::move(in_place);
  }

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    const PrimFuncArgs to = operands_.arrange(args, args.scratch + func_->scratch_bytes());
    return func_->run(to.buffers, to.scalars, args.scratch, team_, args.poll);
  }
  tir::RunStatus explain(const KernelArgs& args, const tir::RunStatus& status) const override {
    if (checked_ == nullptr || status.code == ErrorCode::Cancelled) return status;
    const tir::Interpreter interpreter(checked_->func, checked_->dims, checked_->scalars);
    const int64_t bytes[] = {static_cast<int64_t>(interpreter.scratch_bytes() + operands_.table_bytes())};
    const auto scratch = make_tensor(nullptr, DType::UInt8, bytes);
    const PrimFuncArgs to = operands_.arrange(args, scratch->data + interpreter.scratch_bytes());
    const tir::RunStatus found = interpreter.run(to.buffers, to.scalars, scratch->data, args.poll);
    return found.failed ? found : status;
  }
  size_t scratch_bytes() const override { return func_->scratch_bytes() + operands_.table_bytes(); }
  bool runs_in_place(size_t input) const override { return input < in_place_.size() && in_place_[input]; }
  std::string_view implementation() const override { return func_->cpu() == Cpu::Avx2 ? "jit:avx2" : "jit:avx512"; }
  uint64_t work() const override { return func_->work(); }

 private:
  // Of code that checks indices: what the interpreter needs to find the one that fails. Inputs are as they were, since
  // it never runs in place.
  struct Checked {
    tir::PrimFuncRef func;
    std::vector<std::vector<int64_t>> dims;
    std::vector<int64_t> scalars;
  };

  std::unique_ptr<const jit::CompiledFunc> func_;
  PrimFuncOperands operands_;
  std::vector<bool> in_place_;
  std::unique_ptr<const Checked> checked_;
  const ThreadTeam* team_;
};

struct PrimFuncFamily final : Family {
  std::unique_ptr<const jit::ShapedFunc> func;  // null: dimensions must be known
  std::vector<bool> in_place;                   // inputs whose dimensions are those of the output
};

std::shared_ptr<const Family> make_family(const Problem& problem, int threads) {
  auto family = std::make_shared<PrimFuncFamily>();
  const tir::PrimFunc& func = *problem.call->prim_func;
  std::vector<uint32_t> varying;
  for (size_t i = 0; i < func.params - func.outputs; ++i) varying.push_back(problem.inputs[i].varying);
  for (const OperandSpec& output : problem.outputs) varying.push_back(output.varying);
  family->func = jit::ShapedFunc::compile(func, buffer_dims(problem), varying, problem.cpu, threads, problem.perf_map);
  family->in_place = tir::in_place_inputs(func);
  return family;
}

}  // namespace

std::unique_ptr<Kernel> make_prim_func_jit(const Problem& problem) {
  const int threads = problem.threads != nullptr ? problem.threads->size() : 1;
  std::shared_ptr<const Family> found;
  if (problem.families != nullptr && varies(problem))
    found = problem.families->get(problem, [&] { return make_family(problem, threads); });
  const auto* family = static_cast<const PrimFuncFamily*>(found.get());
  const tir::PrimFunc& prim_func = *problem.call->prim_func;
  auto func = family != nullptr && family->func ? family->func->at(buffer_dims(problem), threads) : nullptr;
  if (!func)
    func = jit::CompiledFunc::compile(prim_func, buffer_dims(problem), scalar_values(problem), problem.cpu, threads,
                                      problem.perf_map);
  if (!func) return nullptr;
  auto in_place = prim_func_in_place(problem, family != nullptr ? family->in_place : tir::in_place_inputs(prim_func));
  return std::make_unique<PrimFuncJit>(problem, std::move(func), std::move(in_place));
}

}  // namespace ingot
