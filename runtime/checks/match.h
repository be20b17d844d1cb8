#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/object/value.h"
#include "runtime/symbolic/struct_info.h"

// Values held against StructInfo, slowly and with an explanation. The evaluator decides by it; the VM decides by its
// compiled checks, and comes here for the words of what it refused, so that both refuse alike.
namespace ingot {

// Values of symbolic variables in one activation.
using SymValues = std::unordered_map<const SymVarNode*, int64_t>;

// Errors as those of `evaluate` (prim_expr.h).
int64_t dim_value(const PrimExpr& expr, const SymValues& values);

// What is known of a value once it is there: dtype and concrete dimensions. Closures and PackedFuncs give Object.
StructInfo info_of(const Slot& value);

// Binds each variable that stands alone in some dimension and has no value yet from the value there, tuples included.
// Ignores whatever does not fit: what requires a match reports it.
void bind_dims(const Slot& value, const StructInfo& info, SymValues& values);

// Every variable that occurs outside of function types: those have numbers at run time. Others do where they are bound
// around the function type, else they belong to it.
void for_each_value_var(const StructInfo& info, const std::function<void(const SymVar&)>& visit);

// The StructInfo of a closure at run time (closure_info); null for PackedFuncs.
using InfoOfClosure = std::function<StructInfo(const Slot&)>;

// The StructInfo of a closure whose function has `signature`, which mentions variables of the scope around: those get
// the values that the closure has captured.
StructInfo closure_info(const StructInfo& signature, const SymValues& captured);

// May a function with the StructInfo `given` be where `expected` is asked for? Parameters may turn out not to fit when
// it is called; what it gives must be certain. The variables of `expected` that have values stand for them.
bool is_acceptable(const StructInfo& given, const StructInfo& expected, const SymValues& values);

// The parameters of a function, from left to right, hold what its signature says: ShapeMismatch or TypeError, naming
// the parameter, and the function where it is exported. A dimension that mentions a variable without a value is left
// alone: the place that should have given it one does not fit.
void require_arguments(std::span<const Slot> args, std::span<const StructInfo> params,
                       std::span<const std::string> names, std::string_view exported_as, const SymValues& values,
                       const InfoOfClosure& info_of_closure);

// The value matches, looked at in the same way: CastFailed.
void require_match(const Slot& value, const StructInfo& info, const SymValues& values,
                   const InfoOfClosure& info_of_closure);

}  // namespace ingot
