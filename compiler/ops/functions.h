#pragma once
#include "compiler/ir/op.h"

// Declarations of every function that a line of ops.def names.
namespace ingot::ops {

#define A(...)
#define P(...)
#define D(...)
#define ELEMENTWISE(...)
#define OP(name, aliases, params, attributes, infer, effect, define, scalar, summary) \
  StructInfo infer(const ir::CallSite& call);                                         \
  ir::Effect effect(const ir::CallSite& call);                                        \
  ir::Meaning define(const ir::CallSite& call);
#define LIBRARY(name, kernel) std::optional<KernelCall> kernel(const ir::CallSite& call);
#include "compiler/ops/ops.def"

}  // namespace ingot::ops
