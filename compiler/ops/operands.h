#pragma once
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/op.h"

// What inference of most operators needs: tensor arguments with known dtype and rank, and arithmetic on their
// dimensions.
namespace ingot::ops {

using Dims = std::vector<PrimExpr>;

struct Operand {
  std::string name;  // "%x", "argument 0 (data)"
  StructInfo info;   // a tensor of known dtype and dimensions
  DType dtype() const { return info->dtype; }
  const Dims& dims() const { return *info->dims; }
  size_t rank() const { return info->dims->size(); }
};

// Argument `i` as a tensor of known dtype and rank. TypeError in the words of the program otherwise.
Operand operand(const ir::CallSite& call, size_t i);
// Argument `i`, a tuple of tensors, as its fields; a tensor as the only one.
std::vector<Operand> operand_list(const ir::CallSite& call, size_t i);
// All tensor arguments in order, tuples of tensors flattened; arguments and fields of other kinds are left out. These
// are the inputs of PrimFuncs and kernel calls.
std::vector<Operand> operands(const ir::CallSite& call);

StructInfo tensor_like(const Operand& x);
StructInfo tensor_like(const Operand& x, Dims dims);

// Is argument `i` there, and not null?
bool given(const ir::CallSite& call, size_t i);
void require_float(const ir::CallSite& call, const Operand& x);
void require_numeric(const ir::CallSite& call, const Operand& x);
void require_integer(const ir::CallSite& call, const Operand& x);
void require_rank(const ir::CallSite& call, const Operand& x, size_t rank);
void require_same_dtype(const ir::CallSite& call, const Operand& x, const Operand& y);
// ShapeMismatch where the dimensions are certainly different: "conv2d: input channels differ: %x has 3, %w has 4".
// Where only the run tells, the meaning of the call checks it.
void require_equal(const ir::CallSite& call, std::string_view what, const Operand& x, const PrimExpr& of_x,
                   const Operand& y, const PrimExpr& of_y);

// The same, where the meaning does not check it.
void demand_equal(const ir::CallSite& call, std::string_view what, const Operand& x, const PrimExpr& of_x,
                  const Operand& y, const PrimExpr& of_y);
// Are two dimensions certainly different? Where only the run tells, the call demands that they are equal.
bool differ(const ir::CallSite& call, const PrimExpr& a, const PrimExpr& b);
// The same of a > b.
bool exceeds(const ir::CallSite& call, const PrimExpr& a, const PrimExpr& b);

// An axis given by number, brought into [0, rank).
int64_t normalize_axis(const ir::CallSite& call, int64_t axis, size_t rank);
// The axes of attribute `name`; all of them where it is absent. No axis twice.
std::vector<int64_t> axes(const ir::CallSite& call, std::string_view name, size_t rank);

PrimExpr product(std::span<const PrimExpr> dims);
std::string dims_text(std::span<const PrimExpr> dims);

// A number or a list of numbers given as an attribute, else the default of its line in ops.def.
std::vector<double> numbers_of(const ir::CallSite& call, std::string_view name);

// A dtype given as an attribute, as a string or as a dtype, or as argument `i`. DType::None where it is not there,
// or is "" or "void".
DType dtype_of(const ir::CallSite& call, std::string_view attribute, size_t i = SIZE_MAX);
// Dimensions given by argument `i` (a shape, a tuple of prims, a constant tensor) or by an integer list attribute.
Dims dims_of(const ir::CallSite& call, std::string_view attribute, size_t i = SIZE_MAX);
// A constant integer tensor or prim of the program as numbers; nullopt where the argument is neither.
std::optional<Dims> constant_integers(const ir::CallSite& call, size_t i);

// Of effects.
ir::Effect total(const ir::CallSite& call);
ir::Effect may_fail(const ir::CallSite& call);
ir::Effect effectful(const ir::CallSite& call);

}  // namespace ingot::ops
