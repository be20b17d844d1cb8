#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/dtype.h"

namespace ingot::generated {

// The type of a generated expression.
//
// Floats come in two kinds. Exact ones are small multiples of a power of two, and whatever is computed from them has no
// rounding, in any order: control flow may depend on them. Inexact ones are results of roots, exponentials, divisions;
// they are only used where a small error stays small.
struct Type {
  enum class Kind : uint8_t { Tensor, Tuple, Function };
  Kind kind = Kind::Tensor;
  DType dtype = DType::Int32;
  std::vector<std::string> dims;  // as written in the program; none: a scalar
  bool exact = true;
  std::vector<Type> fields;            // of a tuple; parameters of a function
  std::shared_ptr<const Type> result;  // of a function
  bool pure = true;                    // a function

  bool is_scalar() const { return kind == Kind::Tensor && dims.empty(); }
  // As the program writes it.
  std::string text() const;
  // Equal for types whose values may stand for each other.
  std::string key() const;
};

Type tensor_type(DType dtype, std::vector<std::string> dims = {}, bool exact = true);
Type tuple_type(std::vector<Type> fields);
Type function_type(std::vector<Type> params, Type result, bool pure);

// "a, b, c"
std::string join(const std::vector<std::string>& parts);
// "(a, b)", "(a,)", "()".
std::string tuple_text(const std::vector<std::string>& parts);

// A value of `have` may be used where `want` is asked for.
bool fits(const Type& have, const Type& want);

// How large an exact float may be, and of which power of two it is a multiple: |x| <= most, x = k / 2^fraction.
struct Bounds {
  double most = 0;
  int fraction = 0;
};
// What operands, variables and results of functions of a float dtype stay within: any single operation on them, sums
// over up to 64 elements included, is exact.
Bounds operand_bounds(DType dtype);
// Are all such numbers represented exactly?
bool representable(const Bounds& bounds, DType dtype);

}  // namespace ingot::generated
