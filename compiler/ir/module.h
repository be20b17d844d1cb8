#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/expr.h"
#include "runtime/tir/prim_func.h"

namespace ingot::ir {

// What a module has been brought to. Each form includes the ones before it; passes.def says which form a pass needs and
// leaves.
//   Parsed      as written; any nesting
//   Normal      the normal form of the specification: nested expressions are bound to variables, evaluation order is
//   explicit Typed       every expression and variable has its StructInfo; literals have their dtype; the module is
//   well formed Scalarized  operators on rank-0 values that have an instruction stay calls of operators and will become
//   it; all others have rank >= 1 or are legalized Legalized   no operator calls but those, call_tir, call_kernel,
//   call_builtin, call_packed and views Fused       kernels have swallowed what can be fused Lowered     no nested
//   functions, dimensions are computed by explicit bindings: ready for code generation
enum class Form : uint8_t { Parsed, Normal, Typed, Scalarized, Legalized, Fused, Lowered };

struct Definition {
  std::string name;
  FunctionRef function;  // one of the two
  tir::PrimFuncRef prim_func;
  bool exported = true;  // false: `private def`
  Span span;
};

// The attribute of a lifted function that counts how many of its last parameters are captures.
inline constexpr std::string_view kCaptures = "ingot.captures";

// The attribute of a function that calls a PrimFunc as its program does: the name of that, which messages show.
inline constexpr std::string_view kStandsFor = "ingot.stands_for";

// The functions of a program in the order of the text; names are unique.
class Module {
 public:
  const std::vector<Definition>& definitions() const { return definitions_; }
  const Definition* find(std::string_view name) const;
  // Replaces a definition of that name in place, otherwise adds it at the end.
  void set(Definition definition);
  void erase(std::string_view name);
  // `stem`, or stem_1, stem_2 ... where it is taken; a number that was tried before is not tried again.
  std::string fresh_name(std::string_view stem);

  Form form = Form::Parsed;
  // Names of definitions that the parser did not understand; an empty one where it did not even find the name. What
  // refers to them is not known to be wrong.
  std::set<std::string, std::less<>> unread;
  bool may_define(std::string_view name) const {
    return find(name) != nullptr || unread.contains(name) || unread.contains("");
  }

 private:
  std::vector<Definition> definitions_;
  std::map<std::string, size_t, std::less<>> index_;
  std::map<std::string, size_t, std::less<>> tried_;  // by stem: numbers that fresh_name has tried
};

}  // namespace ingot::ir
