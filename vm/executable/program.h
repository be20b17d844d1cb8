#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/kernels/kernel_call.h"
#include "runtime/object/value.h"
#include "runtime/symbolic/struct_info.h"
#include "runtime/tir/prim_func.h"
#include "vm/isa/isa.h"

// What an executable file says, in memory: what the compiler and the assembler write and the reader gives back. Not
// trusted: only `Executable::load` makes it runnable.
namespace ingot::vm {

// A constant of kind Scalar, Prim, DType, Tensor, Shape, String or None.
struct Constant {
  Kind kind = Kind::None;
  DType dtype = DType::None;
  uint64_t bits = 0;                 // Scalar, Prim: the payload; DType: the dtype's number
  std::vector<int64_t> dims;         // Tensor, Shape
  std::span<const std::byte> bytes;  // Tensor: row-major elements, in memory that Program::owners keeps
  std::string text;                  // String
  std::vector<std::string> strings;  // Tensor of strings
};

// dtype and dimensions of a tensor that the function allocates, over the function's symbolic variables.
struct Storage {
  DType dtype;
  std::vector<PrimExpr> dims;
};

// A StructInfo to be checked at run time. The instruction lists one register for each variable of `info`, in order of
// first occurrence; binds[i] says that the check binds the i-th of them (it then stands alone in some dimension)
// instead of comparing with it. A variable that belongs to a function type, which has no number, is bound to 0.
struct Check {
  StructInfo info;
  std::vector<bool> binds;
};

// How a register holds its value at a loop header. Whatever comes to the header may hold less than is listed: what
// needs no release passes for Owned and for Param, Owned passes for Param.
enum class Holding : uint8_t {
  Uncounted,  // constants and immediates
  Owned,      // to be released; not in an arena
  Param,      // to be released; may be an alias of something that outlives the frame
  Kept,       // any, and the register is not written within the loop: aliases, arena tensors
};

// What a register holds at a loop header; a register that is not listed is empty there.
struct LoopRegister {
  Register index;
  Kind kind;    // Kind::None: any
  DType dtype;  // of Scalar, Prim and Tensor; DType::None: any
  Holding holding = Holding::Owned;
};
struct LoopHeader {
  uint32_t unit;  // where its `loop` instruction stands
  std::vector<LoopRegister> registers;
};

// From code unit `unit` on (up to the next span), the instructions come from this place of the source.
struct SourceSpan {
  uint32_t unit;
  uint32_t line;    // 1-based; 0: not known
  uint32_t column;  // 1-based
};

// The most that an entry dimension may be: check_params refuses more, and one memory plan serves all up to here.
struct Bound {
  uint32_t var;  // position in Function::vars
  int64_t most;
};

// Registers: parameters, captures, then locals.
struct Function {
  std::string name;
  bool exported = false;  // may be run by the host under its name
  bool pure = true;
  uint32_t params = 0;
  uint32_t captures = 0;
  uint32_t registers = 0;  // all of them, at least params + captures
  StructInfo signature;    // kind Func; for the host, for check_params and for closures' run-time checks
  std::vector<std::string> param_names;
  std::vector<SymVar>
      vars;  // every variable of signature, storages, checks and exprs; those that Plan takes come first, in its order
  std::vector<Bound> bounds;  // by ascending var
  std::vector<Storage> storages;
  std::vector<Check> checks;
  std::vector<PrimExpr> exprs;
  std::vector<LoopHeader> loops;
  std::vector<CodeUnit> code;
  // Debug information; empty in stripped files.
  std::vector<SourceSpan> spans;
  std::string source;  // the file that spans speak of
};

// What errors call the function: nothing where it has no name outside of the program.
inline std::string_view exported_name(const Function& function) {
  return function.exported ? std::string_view(function.name) : std::string_view();
}

// A PackedFunc that the program may call, and the arguments that it writes.
struct Import {
  std::string name;
  std::vector<uint32_t> writes;
};

struct Program {
  std::vector<Function> functions;
  std::vector<Constant> constants;
  std::vector<KernelCall> kernels;
  std::vector<tir::PrimFuncRef> prim_funcs;  // shared by the kernel calls that name them
  std::vector<Import> imports;
  std::vector<std::pair<std::string, std::string>> metadata;  // producer, source hash, options; sorted by key
  std::vector<std::shared_ptr<const void>> owners;            // memory that constants point into
};

inline std::vector<std::string> exported_names(const Program& program) {
  std::vector<std::string> names;
  for (const Function& function : program.functions)
    if (function.exported) names.push_back(function.name);
  return names;
}

}  // namespace ingot::vm
