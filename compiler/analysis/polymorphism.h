#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/analysis/holes.h"
#include "compiler/ir/expr.h"

// The StructInfo side of functions whose parameters' types are open: without annotation, or with type parameters.
namespace ingot::analysis {

// Has it parameters without annotation, or type parameters?
bool is_polymorphic(const ir::Function& function);

// Does the annotation name a type parameter of the function?
bool mentions_type_param(const ir::Function& function, const StructInfo& info);

// What a function specialised to these arguments takes: every dimension that is no constant becomes a variable of the
// function (equal ones the same), values of Prims are dropped. `key` is equal for arguments that need no further
// instance.
struct Generalized {
  std::vector<StructInfo> infos;
  std::string key;
};
Generalized generalize(const std::vector<StructInfo>& arguments);

// What type parameters stand for.
class TypeArguments {
 public:
  // `holes` are unified where arguments of one type parameter have some.
  TypeArguments(const std::vector<ir::Function::TypeParam>& params, Holes& holes) : params_(&params), holes_(&holes) {}

  // Takes what a parameter's annotation and its argument tell; false where they contradict what is known. Functions
  // among the arguments may be more general than what is asked of them: match the others first.
  bool match(const StructInfo& annotation, const StructInfo& argument, bool in_function = false);
  bool set(size_t position, const StructInfo& argument);
  // The first parameter of which nothing is known; null where there is none.
  const ir::Function::TypeParam* missing() const;
  StructInfo apply(const StructInfo& info) const;

 private:
  const std::string* kind_of(const SymVar& var) const;
  bool learn(const SymVar& var, const StructInfo& info, bool in_function);

  const std::vector<ir::Function::TypeParam>* params_;
  Holes* holes_;
  // Kind Type: the StructInfo. Shape: a Tensor with the dimensions or rank. BaseType: a Tensor with the dtype.
  std::unordered_map<const SymVarNode*, StructInfo> known_;
  std::unordered_set<const SymVarNode*> given_;  // by the call: arguments do not change them
};

// An open place: the parameter of a function literal whose uses will tell what it takes.
StructInfo make_hole(const SymVar& var);

}  // namespace ingot::analysis
