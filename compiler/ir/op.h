#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/ir/expr.h"
#include "runtime/base/error.h"
#include "runtime/tir/prim_func.h"

namespace ingot::ir {

class CallSite;

// May a call be dropped, duplicated or moved? Total: yes. MayFail: it can raise an error, so it stays where it is
// evaluated. Effect: it does something visible.
enum class Effect : uint8_t { Total, MayFail, Effect };

// What a call of an operator means, said once; legalization, evaluator and constant folding read the same.
struct BuiltinCall {
  std::string_view builtin;  // of builtins.def; takes the arguments of the call
};
struct View {};                                 // the first argument's elements under the dimensions of the result
using Meaning = std::variant<tir::PrimFuncRef,  // over the tensor arguments, in order, then the outputs
                             KernelCall,        // the same order
                             BuiltinCall, View,
                             Expr>;  // other operators on the same arguments

// One line of ops.def.
struct Op {
  std::string_view name;
  std::span<const std::string_view> aliases;
  std::span<const std::string_view>
      params;  // names of the arguments; a trailing "..." takes any number, a trailing "?" marks an optional one
  std::span<const std::string_view>
      attributes;  // "name=default", "name|also=default", "name" where it must be given, "name?" where it may
                   // be absent (has_attr tells); defaults in the syntax of programs
  // StructInfo of the result. Throws TypeError or ShapeMismatch in the words of the program.
  StructInfo (*infer)(const CallSite& call);
  Effect (*effect)(const CallSite& call);
  // Dtypes and ranks are known when it is asked.
  Meaning (*define)(const CallSite& call);
  // A library kernel that computes the call as well, its inputs the tensor arguments in order, where there is one for
  // these operands. Null: the operator has none, or `define` gives it.
  std::optional<KernelCall> (*library)(const CallSite& call);
  // The TYPED or plain family of opcodes.def that computes it on rank-0 operands; empty where there is none.
  // ">less": with operands swapped.
  std::string_view scalar_instruction;
  std::string_view summary;  // one line, for docs/operators.md
};

// Of an attribute's line in ops.def, "name|also=default": its name, and whether it goes by another one too.
std::string_view attribute_name(std::string_view line);
bool names_attribute(std::string_view line, std::string_view name);

// A call as operators see it: arguments with names and StructInfo, attributes with defaults applied.
class CallSite {
 public:
  CallSite(const Op& op, std::span<const Expr> args, std::span<const StructInfo> infos, const Attrs& attrs,
           std::span<const StructInfo> info_args);

  const Op& op() const { return *op_; }
  size_t size() const { return args_.size(); }
  const Expr& arg(size_t i) const { return args_[i]; }
  bool has(size_t i) const { return i < args_.size(); }
  const StructInfo& info(size_t i) const { return infos_[i]; }
  // "%x", or "argument 0 (data)" where it is not a variable.
  std::string name_of(size_t i) const;

  // The argument's StructInfo as a tensor's. TypeError naming the argument where it is something else.
  const StructInfoNode& tensor(size_t i) const;
  // Its dimensions; TypeError with a match_cast hint where the rank is not known.
  std::span<const PrimExpr> dims(size_t i) const;
  DType dtype(size_t i) const;  // TypeError where unknown
  // Dimensions given by a shape argument (ShapeExpr or a variable with known values).
  std::span<const PrimExpr> shape(size_t i) const;

  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;
  DType dtype_attr(std::string_view name) const;
  // Given, or with a default other than None.
  bool has_attr(std::string_view name) const;
  const Attrs& attrs() const { return *attrs_; }
  // A list of integers, as opposed to one.
  bool is_list(std::string_view name) const;
  // An axis attribute brought into [0, rank); IndexOutOfRange with both numbers otherwise.
  int64_t axis(std::string_view name, size_t rank) const;

  std::span<const StructInfo> info_args() const { return info_args_; }

  // Inference cannot tell whether a condition on dimensions holds. The call fails with ShapeMismatch where it does not:
  // legalization puts a check before the call. Said while the operator infers.
  void demand(PrimExpr condition) const;
  std::span<const PrimExpr> demands() const { return demands_; }
  // The same of a condition that the meaning of the call checks itself.
  void note_unproved() const { unproved_ = true; }
  bool is_unproved() const { return unproved_ || !demands_.empty(); }

  // Throws with the operator's name in front: "matmul: inner dimensions differ: ...".
  template <typename... Args>
  [[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(code, fmt::format("{}: {}", op_->name, fmt::format(format, std::forward<Args>(args)...)));
  }

 private:
  const AttrValue* find(std::string_view name) const;
  std::optional<AttrValue> value(std::string_view name) const;
  AttrValue required(std::string_view name) const;

  const Op* op_;
  std::span<const Expr> args_;
  std::span<const StructInfo> infos_;
  const Attrs* attrs_;
  std::span<const StructInfo> info_args_;
  mutable std::vector<PrimExpr> demands_;
  mutable bool unproved_ = false;
};

}  // namespace ingot::ir
