#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/object/value.h"
#include "runtime/symbolic/struct_info.h"
#include "vm/executable/program.h"
#include "vm/loader/compiled_expr.h"

namespace ingot::vm {

// A Check made ready to be run against values many times: no look-ups, no memory. Immutable and thread safe.
//
// `matches` looks at kinds, dtypes, ranks and the dimensions that are numbers or stand alone first, in the order of the
// StructInfo (the first place of a variable that the check binds gives it its value), then at composed dimensions.
// What `explain` tells is what fails first in the language: variables are bound wherever they stand alone, then
// everything is matched from left to right.
class CompiledCheck {
 public:
  // Throws CorruptFile where a variable is to be bound that stands alone nowhere, Unsupported for a shape variable.
  explicit CompiledCheck(const Check& check);

  size_t var_count() const { return vars_.size(); }
  bool binds(size_t var) const { return binds_[var]; }
  // How many fields the checked tuple has; 0 for other StructInfos.
  size_t field_count() const { return nodes_[0].kind == InfoKind::Tuple ? nodes_[0].count : 0; }

  // Do the values match? `vars` holds one number per variable: read where the check compares, written where it binds.
  bool matches(const Slot& value, std::span<int64_t> vars) const {
    return early(nodes_[0], value, vars) && (!late_ || late(nodes_[0], value, vars));
  }
  // The same for the fields of the tuple that the check describes, lying side by side.
  bool matches_fields(const Slot* fields, std::span<int64_t> vars) const;
  // True where kind and dtype of the value alone say that it matches; otherwise `matches` knows.
  bool holds_by_head(const Slot& value) const { return value.kind == head_.kind && value.dtype == head_.dtype; }
  // True where kinds and dtypes of the fields alone say that they match; otherwise matches_fields knows.
  bool holds_by_heads(const Slot* fields) const {
    for (const Head head : heads_) {
      if (fields->kind != head.kind || fields->dtype != head.dtype) return false;
      ++fields;
    }
    return by_heads_;
  }

  // What is wrong, after `matches` said no. The subject is called `name` (one per field for matches_fields).
  Error explain(const Slot& value, std::span<int64_t> vars, std::string_view name, std::string_view says) const;
  // Fields without a name are what a closure has captured.
  Error explain_fields(const Slot* fields, std::span<int64_t> vars, std::span<const std::string> names,
                       std::string_view says) const;

  // How closures are held against a function type: is the function with this number a subtype, as far as is known?
  // Set by the loader, which knows the functions.
  using SignatureOf = std::function<StructInfo(uint32_t function)>;
  void set_signatures(SignatureOf signature_of);

 private:
  struct Dim {
    enum class Form : uint8_t { Const, Bind, Var, Expr };
    Form form;
    int64_t number;  // the value, the variable's slot, or the position in exprs_
  };
  struct Node {
    InfoKind kind = InfoKind::Object;
    DType dtype = DType::None;
    bool has_dims = false;
    int32_t rank = -1;   // not known
    uint32_t first = 0;  // in dims_ or nodes_
    uint32_t count = 0;
    StructInfo info;
  };

  // What matches if it is a Scalar or Prim of this dtype. None with a dtype: nothing.
  struct Head {
    Kind kind = Kind::None;
    DType dtype = DType::String;
  };
  static Head head_of(const StructInfo& info);

  void find_heads(std::span<const StructInfo> fields);
  void compile(const StructInfo& whole, std::vector<bool>& bound, const VarSlots& slots);
  Dim compile_dim(const PrimExpr& dim, std::vector<bool>& bound, const VarSlots& slots);
  bool early(const Node& node, const Slot& value, std::span<int64_t> vars) const;
  bool late(const Node& node, const Slot& value, std::span<int64_t> vars) const;
  bool early_dims(const Node& node, std::span<const int64_t> dims, std::span<int64_t> vars) const;
  bool late_dims(const Node& node, std::span<const int64_t> dims, std::span<int64_t> vars) const;
  bool matches_func(const Node& node, const Slot& value) const;
  struct Explaining {
    std::span<int64_t> vars;
    std::string_view says;
    std::vector<bool> known;  // variables that have a number: read by the check, captured by a closure, or bound
  };
  void bind_known(const Node& node, const Slot& value, Explaining& state) const;
  std::optional<Error> explain_node(const Node& node, const Slot& value, const std::string& name,
                                    const Explaining& state) const;
  std::optional<Error> explain_dims(const Node& node, std::span<const int64_t> dims, const std::string& name,
                                    const Explaining& state) const;

  std::vector<Node> nodes_;
  std::vector<Dim> dims_;
  std::vector<CompiledExpr> exprs_;
  std::vector<SymVar> vars_;
  std::vector<bool> binds_;
  Head head_;                // of the value
  std::vector<Head> heads_;  // of the fields
  bool by_heads_ = false;    // heads_ are the whole check of the fields
  bool late_ = false;
  SignatureOf signature_of_;
  // For each node, the function that was looked at last, times two, plus whether it matched; comparing takes memory.
  std::unique_ptr<std::atomic<uint64_t>[]> last_functions_;
};

// "a tensor (2, 3) of float32", "a tuple of 2", "none": a value for messages.
std::string describe_value(const Slot& value);

}  // namespace ingot::vm
