#include "runtime/tir/interpreter.h"

#include "runtime/kernels/prim_func/operands.h"
#include "runtime/kernels/prim_func/prim_func.h"
#include "runtime/tir/in_place.h"

namespace ingot {
namespace {

class PrimFuncInterpreter final : public Kernel {
 public:
  explicit PrimFuncInterpreter(const Problem& problem)
      : interpreter_(problem.call->prim_func, buffer_dims(problem), scalar_values(problem)),
        operands_(problem),
        in_place_(prim_func_in_place(problem, tir::in_place_inputs(*problem.call->prim_func))) {}

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    const PrimFuncArgs to = operands_.arrange(args, args.scratch + interpreter_.scratch_bytes());
    return interpreter_.run(to.buffers, to.scalars, args.scratch, args.poll);
  }
  size_t scratch_bytes() const override { return interpreter_.scratch_bytes() + operands_.table_bytes(); }
  bool runs_in_place(size_t input) const override { return input < in_place_.size() && in_place_[input]; }
  std::string_view implementation() const override { return "interpreter"; }
  uint64_t work() const override { return interpreter_.work(); }

 private:
  tir::Interpreter interpreter_;
  PrimFuncOperands operands_;
  std::vector<bool> in_place_;
};

}  // namespace

std::unique_ptr<Kernel> make_prim_func_interpreter(const Problem& problem) {
  return std::make_unique<PrimFuncInterpreter>(problem);
}

}  // namespace ingot
