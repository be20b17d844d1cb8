#pragma once
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/symbolic/struct_info.h"

namespace ingot {

// Symbolic variables in files are numbers: positions in a table that the enclosing thing (a function, a PrimFunc) owns.
class SymVarTable {
 public:
  // Adds the variable where it is new.
  uint32_t id_of(const SymVar& var);
  // CorruptFile where there is none.
  const SymVar& var(uint32_t id) const;
  std::span<const SymVar> vars() const { return vars_; }
  void add(SymVar var);

 private:
  std::vector<SymVar> vars_;
  std::unordered_map<const SymVarNode*, uint32_t> ids_;
};

// Reading checks every number, limits the nesting of expressions (kMaxExprDepth) and of StructInfo (2048), and accepts
// of a StructInfo only the parts that belong to its kind: CorruptFile otherwise.
// Writing a StructInfo that is nested deeper is Unsupported.
void encode(ByteWriter& out, const PrimExpr& expr, SymVarTable& vars);
PrimExpr decode_prim_expr(ByteReader& in, const SymVarTable& vars);
void encode(ByteWriter& out, const StructInfo& info, SymVarTable& vars);
StructInfo decode_struct_info(ByteReader& in, const SymVarTable& vars);

}  // namespace ingot
