#pragma once
#include <span>
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
  void add(SymVar var) { vars_.push_back(std::move(var)); }

 private:
  std::vector<SymVar> vars_;
};

// Reading limits the depth of nesting to 256 and checks every number: CorruptFile otherwise.
void encode(ByteWriter& out, const PrimExpr& expr, SymVarTable& vars);
PrimExpr decode_prim_expr(ByteReader& in, const SymVarTable& vars);
void encode(ByteWriter& out, const StructInfo& info, SymVarTable& vars);
StructInfo decode_struct_info(ByteReader& in, const SymVarTable& vars);

}  // namespace ingot
