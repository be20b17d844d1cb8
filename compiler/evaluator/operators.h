#pragma once
#include <functional>
#include <span>

#include "compiler/ir/op.h"
#include "runtime/object/value.h"

namespace ingot::evaluator {

// How an operator asks for the value of an expression of its own making over its arguments (composite operators).
using EvaluateExpr = std::function<Value(const ir::Expr&)>;
// Builtins of the virtual machine that operators are defined by.
using CallBuiltin = std::function<Value(std::string_view name, std::span<const Value> args)>;

// The value of an operator on concrete arguments: its inference rule is asked with their dtypes and dimensions, and its
// definition is run by the PrimFunc interpreter or the reference kernel. Throws what the operator's rule or its run
// raises.
Value apply_operator(const ir::Call& call, const ir::Op& op, std::span<const Value> args, const EvaluateExpr& evaluate,
                     const CallBuiltin& builtin);

// Runs a PrimFunc in destination-passing style on outputs of the given StructInfo; several outputs give a tuple.
Value apply_prim_func(const tir::PrimFuncRef& func, std::span<const Value> inputs, std::span<const int64_t> scalars,
                      std::span<const StructInfo> outputs);

}  // namespace ingot::evaluator
