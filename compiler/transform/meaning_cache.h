#pragma once
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/op.h"

namespace ingot::transform {

// Which PrimFunc of the module a call of an operator means: made once for all calls that agree in the operator, its
// attributes and the StructInfo of arguments and result. For calls whose meaning depends on nothing else.
class MeaningCache {
 public:
  struct Meaning {
    std::string prim_func;
    std::vector<PrimExpr> scalars;
  };
  // Null where it is not known.
  const Meaning* find(const ir::Op& op, const ir::Call& call);
  // What the call that was looked for last means.
  void add(const ir::Op& op, const ir::Call& call, Meaning meaning);

 private:
  struct Entry {
    const ir::Op* op;
    std::vector<StructInfo> args;
    ir::Attrs attrs;
    StructInfo result;
    Meaning meaning;
  };
  std::unordered_map<size_t, std::vector<Entry>> by_hash_;
};

}  // namespace ingot::transform
