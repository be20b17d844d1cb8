#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/tir/prim_func.h"

namespace ingot {

// What a kernel computes, apart from how: the contracts of kernels.def. The numbers are part of the file format: append
// only.
enum class Contract : uint16_t {
#define CONTRACT(name, ...) name,
#define KERNEL(...)
#include "runtime/kernels/kernels.def"
};
inline constexpr size_t kContractCount = 0
#define CONTRACT(...) +1
#define KERNEL(...)
#include "runtime/kernels/kernels.def"
    ;

// "conv2d"; "unknown contract" for a number that kernels.def does not have.
std::string_view contract_name(Contract contract);

// Attributes by name, sorted; each contract's header says which it takes.
using Attribute = std::variant<int64_t, double, std::string, std::vector<int64_t>>;
struct NamedAttribute {
  std::string name;
  Attribute value;
  friend bool operator==(const NamedAttribute&, const NamedAttribute&) = default;
};

// What happens to each element of the result before it is stored, in order. Add takes one further input of the call (in
// order of the post-ops) that has the result's rank and its dimensions, or 1 where it is broadcast. Gelu is the exact
// one (erf). Relu, LeakyRelu and Clip give one of their bounds for NaN; which one is not said. The numbers are part of
// the file format: append only.
enum class PostOpKind : uint8_t { Relu, LeakyRelu, Clip, Sigmoid, Tanh, Gelu, Add };
inline constexpr size_t kPostOpKindCount = 7;
std::string_view post_op_name(PostOpKind kind);
struct PostOp {
  PostOpKind kind;
  double alpha = 0;  // LeakyRelu: slope; Clip: lower bound
  double beta = 0;   // Clip: upper bound
  friend bool operator==(const PostOp&, const PostOp&) = default;
};

// One kernel call of a program as it stands in the file: no addresses, no layouts, no CPU.
// Operands at a call are `inputs` inputs (then post-op inputs, counted in it), followed by `outputs` outputs, which the
// caller has allocated.
struct KernelCall {
  Contract contract;
  uint16_t inputs = 0;
  uint16_t outputs = 1;
  std::vector<NamedAttribute> attributes = {};
  std::vector<PostOp> post_ops = {};
  tir::PrimFuncRef prim_func = {};  // of contract prim_func; null otherwise

  // The attribute, or `fallback` where it is absent. CorruptFile where it has another type.
  int64_t integer(std::string_view name, int64_t fallback) const;
  double number(std::string_view name, double fallback) const;
  std::vector<int64_t> integers(std::string_view name, std::vector<int64_t> fallback) const;
  void set(std::string name, Attribute value);
};

}  // namespace ingot
