#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/symbolic/struct_info.h"
#include "vm/executable/text_scanner.h"

// Symbolic expressions and StructInfo in program text, in the spelling of runtime/symbolic's to_text.
namespace ingot::vm {

// How the variables of one function are spelled: by name where that is a plain word that no other variable has, else in
// quotes, `"batch size"`, with a number behind where names repeat, `"n"~1`.
class VarSpelling {
 public:
  explicit VarSpelling(const std::vector<SymVar>& vars);

  std::string of(const SymVar& var) const;
  std::string text(const PrimExpr& expr) const;
  std::string text(const std::vector<PrimExpr>& dims) const;  // "(n, 4)", "(n,)", "()"
  std::string text(const StructInfo& info) const;

 private:
  std::string shaped(std::string_view head, const StructInfoNode& info) const;
  std::string fields(const std::vector<StructInfo>& infos) const;

  std::unordered_map<const SymVarNode*, std::string> spelled_;
};

// The reverse. Variables must have been declared.
class InfoParser {
 public:
  explicit InfoParser(TextScanner& in) : in_(in) {}

  // Reads the spelling of one variable, which gets its name.
  SymVar declare();
  PrimExpr expr() { return binary(1); }
  std::vector<PrimExpr> dims();
  DType dtype();
  StructInfo info();

 private:
  std::string spelling();
  SymVar var();
  PrimExpr binary(int least);
  PrimExpr unary();
  StructInfo shaped(InfoKind kind);
  StructInfo function(bool pure);

  TextScanner& in_;
  std::unordered_map<std::string, SymVar> vars_;
  int depth_ = 0;
};

}  // namespace ingot::vm
