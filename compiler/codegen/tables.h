#pragma once
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/module.h"
#include "vm/executable/program.h"

namespace ingot::codegen {

// The tables of a program while it is generated: each entry stands once.
class Tables {
 public:
  // Functions and PrimFuncs get their numbers before any code is generated.
  explicit Tables(const ir::Module& module);

  uint32_t function(std::string_view name) const;           // Internal where there is none
  tir::PrimFuncRef prim_func(std::string_view name) const;  // null where `name` is not a PrimFunc

  uint32_t constant(const ir::Constant& constant);
  uint32_t scalar(Kind kind, DType dtype, uint64_t bits);
  uint32_t string(std::string_view text);
  uint32_t kernel(KernelCall call);
  uint32_t import(std::string_view name, const std::vector<uint32_t>& writes);

  vm::Program& program() { return program_; }
  // May a callee write to the tensors that it gets (analysis/effects.h)?
  bool callees_write() const { return callees_write_; }

 private:
  uint32_t add_constant(std::string key, vm::Constant constant);

  vm::Program program_;
  bool callees_write_;
  std::map<std::string, uint32_t, std::less<>> functions_;
  std::map<std::string, tir::PrimFuncRef, std::less<>> prim_funcs_;
  std::unordered_map<std::string, uint32_t> constants_;
  std::unordered_map<const TensorObject*, uint32_t> tensors_;
  std::map<std::pair<std::string, std::vector<uint32_t>>, uint32_t> imports_;
  std::unordered_set<const tir::PrimFunc*> listed_;
};

}  // namespace ingot::codegen
