#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/object/value.h"
#include "runtime/tensor/tensor.h"
#include "vm/executable/program.h"
#include "vm/loader/compiled_check.h"
#include "vm/loader/compiled_expr.h"
#include "vm/verifier/facts.h"

// A verified program in the form that the interpreter runs. Made once by the loader, immutable, shared by all sessions.
namespace ingot::vm {

// A Storage with its dimensions ready for evaluation over the entry dimensions.
struct LinkedStorage {
  DType dtype = DType::None;
  std::vector<CompiledExpr> dims;
};

// In `code`, the Storage operand of instructions that have a site is that site's position in `facts->sites`, and the
// Kernel operand of call_kernel the position in `facts->kernels`. Units are those of the program's code.
// The dimensions of a kernel operand over the entry dimensions. `dims` of a Site origin are those of its storage and
// left empty here.
struct LinkedOperand {
  Origin origin;
  DType dtype = DType::None;
  std::vector<CompiledExpr> dims;
};

// A call_kernel whose operands all have known dimensions: it is prepared when the function is planned.
struct LinkedKernel {
  bool known = false;
  std::vector<LinkedOperand> operands;
};

// A variable that check_params binds, by its position there, and the most that it may be.
struct LinkedBound {
  uint32_t var = 0;
  int64_t most = 0;
};

struct LinkedFunction {
  const Function* source = nullptr;
  const FunctionFacts* facts = nullptr;
  uint32_t index = 0;
  uint32_t params = 0;
  uint32_t captures = 0;
  uint32_t registers = 0;
  uint32_t entry_dims = 0;  // how many values `plan` takes
  std::vector<CodeUnit> code;
  const CodeUnit* entry = nullptr;  // where direct calls begin, in `code`
  std::vector<CompiledCheck> checks;
  std::vector<LinkedBound> bounds;
  std::vector<CompiledExpr> exprs;
  std::vector<LinkedStorage> storages;  // those of sites; the others are empty
  std::vector<LinkedKernel> kernels;    // by FunctionFacts::kernels
  std::vector<Layout> layouts;          // by FunctionFacts::sites
};

// The bounds of all entry dimensions, in their order; none where one has no bound.
std::optional<std::vector<int64_t>> greatest_dims(const LinkedFunction& function);

// Constants as registers hold them; the objects are Uncounted and lie over the program's bytes.
class ConstantTable {
 public:
  ConstantTable() = default;
  explicit ConstantTable(std::span<const Constant> constants);

  const Slot* slots() const { return slots_.data(); }
  size_t size() const { return slots_.size(); }

 private:
  std::vector<Slot> slots_;
  std::vector<std::shared_ptr<void>> objects_;
};

struct LinkedProgram {
  std::vector<LinkedFunction> functions;
  ConstantTable constants;
};

// `program` is verified, `facts` are those of its verification, and both outlive the result.
LinkedProgram link(const Program& program, const ProgramFacts& facts);

}  // namespace ingot::vm
