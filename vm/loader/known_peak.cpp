#include "vm/loader/known_peak.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/base/checked.h"
#include "runtime/memory/memory_pool.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"
#include "runtime/tensor/tensor_size.h"
#include "vm/isa/decode.h"
#include "vm/loader/function_plan.h"

namespace ingot::vm {
namespace {

// What a session is charged for an object of so many bytes.
size_t charge_of(size_t bytes) {
  const bool fits = bytes <= MemoryPool::class_bytes(MemoryPool::kClasses - 1);
  return fits ? MemoryPool::class_bytes(MemoryPool::class_of(bytes)) : bytes;
}

// Walks the code up to the first branch: what is made there is made in any case.
class Walk {
 public:
  Walk(const LinkedFunction& function, const FunctionPlan& plan) : function_(function), plan_(plan) {
    peak_.bytes = now_ = checked_align_up(plan.segment_bytes, kTensorAlignment).value_or(SIZE_MAX);
    peak_.whole = true;
  }

  KnownPeak run() {
    for (const Instruction& i : Instructions<Unchecked>(function_.code)) {
      step(i);
      if (branched_) break;
    }
    return peak_;
  }

 private:
  void step(const Instruction& i) {
    const bool jumps = std::ranges::any_of(i.operands(), [](const Operand& o) { return o.role == Role::Target; });
    if (jumps || i.opcode == Opcode::Loop) {
      peak_.whole = false;
      branched_ = true;
      return;
    }
    if (i.info->form != OpcodeForm::Plain) return;
    switch (i.info->line) {
      case OpcodeLine::NewTensor:
        if (plan_.sites[i[1].index()].refused) {
          branched_ = true;
          return;
        }
        return make(i[0].reg(), charge_of(tensor_bytes(extent_of(i[1].index()))));
      case OpcodeLine::MakeShape:
        return make(i[0].reg(), charge_of(sizeof(ShapeObject) + i[1].list.size() * sizeof(int64_t)));
      case OpcodeLine::MakeTuple:
        for (const Register field : i[1].list) made_.erase(field);
        return make(i[0].reg(), charge_of(sizeof(TupleObject) + i[1].list.size() * sizeof(Slot)));
      case OpcodeLine::Move:
        return move(i[0].reg(), i[1].reg());
      case OpcodeLine::Own:
        // Anything else may lie in an arena and be copied.
        peak_.whole &= made_.contains(i[1].reg());
        return move(i[0].reg(), i[1].reg());
      case OpcodeLine::Kill:
        return drop(i[0].reg());
      case OpcodeLine::CallKernel:
        peak_.whole &= plan_.kernels[i[0].index()].kernel != nullptr;
        return;
      case OpcodeLine::TailCall:
      case OpcodeLine::TailCallValue:
        peak_.whole = false;
        branched_ = true;
        return;
      case OpcodeLine::Return:
      case OpcodeLine::Fail:
        branched_ = true;
        return;
      default:
        peak_.whole &= takes_nothing(i.info->line);
    }
  }

  static bool takes_nothing(OpcodeLine line) {
    using enum OpcodeLine;
    static constexpr OpcodeLine kLines[] = {CheckParams,  CheckValue,   Plan,     AllocTensor, AllocView, Alias,
                                            Copy,         LoadConst,    LoadInt,  LoadDim,     LoadNone,  NewScalar,
                                            EvalDim,      GetDim,       GetField, Not,         And,       Or,
                                            PrimToScalar, ScalarToPrim, Cast,     Select};
    return std::ranges::find(kLines, line) != std::end(kLines);
  }

  const StorageExtent& extent_of(uint32_t site) const { return plan_.storages[plan_.sites[site].storage]; }
  static size_t tensor_bytes(const StorageExtent& extent) {
    return make_tensor_bytes(extent.dtype, {extent.dims, extent.rank});
  }

  void make(Register reg, size_t bytes) {
    made_[reg] = bytes;
    now_ = checked_add(now_, bytes).value_or(SIZE_MAX);
    peak_.bytes = std::max(peak_.bytes, now_);
  }
  void move(Register to, Register from) {
    if (const auto found = made_.find(from); found != made_.end()) {
      const size_t bytes = found->second;
      made_.erase(found);
      made_[to] = bytes;
    }
  }
  void drop(Register reg) {
    if (const auto found = made_.find(reg); found != made_.end()) {
      now_ -= found->second;
      made_.erase(found);
    }
  }

  const LinkedFunction& function_;
  const FunctionPlan& plan_;
  std::unordered_map<Register, size_t> made_;  // what registers hold of the pool, by its bytes
  size_t now_ = 0;
  KnownPeak peak_;
  bool branched_ = false;
};

}  // namespace

KnownPeak known_peak(const LinkedFunction& function, const FunctionPlan& plan) { return Walk(function, plan).run(); }

}  // namespace ingot::vm
