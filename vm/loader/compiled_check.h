#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/checks/match.h"
#include "vm/executable/program.h"
#include "vm/loader/closure_infos.h"
#include "vm/loader/compiled_expr.h"
#include "vm/loader/func_memo.h"

namespace ingot::vm {

// A Check made ready to be run against values many times: no look-ups, no memory. Immutable and thread safe.
//
// `matches` looks at kinds, dtypes, ranks and the dimensions that are numbers or stand alone first, in the order of the
// StructInfo (the first place of a variable that the check binds gives it its value), then at composed dimensions and
// at function types that mention variables with values. What is wrong, in the order of the language, runtime/checks
// tells.
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

  // Throws what is wrong, after `matches` said no; `vars` holds what it read.
  [[noreturn]] void refuse(const Slot& value, std::span<const int64_t> vars) const;
  // The same for matches_fields, of a function with these parameters; fields behind them are what a closure has
  // captured.
  [[noreturn]] void refuse_fields(const Slot* fields, std::span<const int64_t> vars, std::span<const std::string> names,
                                  size_t params, std::string_view exported_as) const;

  // What closures are held against function types by; without it any closure will do. Set by the loader.
  void set_closure_infos(std::shared_ptr<const ClosureInfos> closures);

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
    uint32_t first = 0;  // in dims_, nodes_ or memos_
    uint32_t count = 0;
    StructInfo info;
    bool mentions_values = false;  // a function type, variables that have values
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
  bool matches_func(const Node& node, const Slot& value, std::span<const int64_t> vars) const;
  bool matches_closure(const Node& node, const Slot& closure, std::span<const int64_t> vars) const;
  SymValues read_values(std::span<const int64_t> vars) const;
  InfoOfClosure info_of_closure() const;

  std::vector<Node> nodes_;
  std::vector<Dim> dims_;
  std::vector<CompiledExpr> exprs_;
  std::vector<SymVar> vars_;
  std::vector<bool> binds_;
  std::vector<bool> of_functions_;  // variables that belong to function types
  Head head_;                       // of the value
  std::vector<Head> heads_;         // of the fields
  bool by_heads_ = false;           // heads_ are the whole check of the fields
  bool late_ = false;
  std::shared_ptr<const ClosureInfos> closures_;
  uint32_t func_count_ = 0;
  std::unique_ptr<FuncMemo[]> memos_;  // for each node of a function type
};

}  // namespace ingot::vm
