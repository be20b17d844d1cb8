#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/symbolic/prim_expr.h"

namespace ingot {

// What is known of a value: the type system of the language and, in executables, the signatures and checks.
// See "Structural Information" in the Relax specification.
enum class InfoKind : uint8_t { Object, Tensor, Shape, Prim, Tuple, Func };

struct StructInfoNode;

// Immutable and shared; null only when default-constructed ("no annotation").
using StructInfo = std::shared_ptr<const StructInfoNode>;

struct StructInfoNode {
  InfoKind kind = InfoKind::Object;

  // Tensor: DType::None where unknown. Prim: its dtype.
  DType dtype = DType::None;
  // Tensor, Shape: nullopt where unknown; equals dims->size() where dims are known.
  std::optional<uint32_t> rank = {};
  // Tensor: shape; Shape: values; nullopt where unknown.
  std::optional<std::vector<PrimExpr>> dims = {};
  // Tensor: a variable that holds the whole shape (`Tensor[%s, float32]`); excludes dims. The compiler maps it to the
  // variable of the program.
  SymVar shape_var = {};
  // Prim: its value, where known.
  std::optional<PrimExpr> value = {};
  // Tuple: its fields. Func: its parameters.
  std::vector<StructInfo> fields = {};
  // Func: false for functions of which only the result is derivable (PackedFuncs): `fields` is empty then.
  bool has_params = true;
  bool pure = true;
  StructInfo result = {};
};

StructInfo object_info();
StructInfo tensor_info(DType dtype = DType::None);  // unknown rank
StructInfo tensor_info(DType dtype, uint32_t rank);
StructInfo tensor_info(DType dtype, std::vector<PrimExpr> dims);
StructInfo tensor_info(DType dtype, SymVar shape_var, std::optional<uint32_t> rank);
StructInfo shape_info();
StructInfo shape_info(uint32_t rank);
StructInfo shape_info(std::vector<PrimExpr> dims);
StructInfo prim_info(DType dtype);
StructInfo prim_info(DType dtype, PrimExpr value);
StructInfo tuple_info(std::vector<StructInfo> fields);
StructInfo func_info(std::vector<StructInfo> params, StructInfo result, bool pure);
StructInfo packed_func_info(StructInfo result);

// The syntax of programs: "Tensor[(n, 4), float32]". A null one is "?".
std::string to_text(const StructInfo& info);
bool same_info(const StructInfo& a, const StructInfo& b);  // same structure, dimensions by same_expr
// Dimensions and values; a shape_var is left alone.
StructInfo substitute(const StructInfo& info, const Substitution& substitution);
// Every variable that occurs, a shape_var included, in order of first occurrence, once each.
void for_each_var(const StructInfo& info, const std::function<void(const SymVar&)>& visit);

// A variable standing alone in some dimension or Prim value, nested tuples included, is in binding position. Those of a
// function type belong to it, unless something around it binds them. Once each, in order of first occurrence.
void for_each_binding_var(const StructInfo& info, const std::function<void(const SymVar&)>& visit);

// The relations of the specification. `Possibly` asks for a check at run time.
enum class Compatibility : uint8_t { Incompatible, Possibly, Compatible };
Compatibility is_subtype(const StructInfo& sub, const StructInfo& super);
Compatibility is_compatible(const StructInfo& given, const StructInfo& expected);
StructInfo least_upper_bound(const StructInfo& a, const StructInfo& b);
// Drops every shape or value that mentions a variable for which `in_scope` is false; rank and dtype stay.
StructInfo erase_vars(const StructInfo& info, const std::function<bool(const SymVar&)>& in_scope);

}  // namespace ingot
