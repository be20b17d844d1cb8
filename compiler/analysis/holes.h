#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "compiler/analysis/copy_function.h"
#include "runtime/symbolic/struct_info.h"

namespace ingot::analysis {

// The StructInfo of a value about which nothing is known because something was wrong, and that of one which a function
// gives that is still being inferred. What depends on them is not looked at. Compared by identity.
const StructInfo& wrong();
const StructInfo& pending();
inline bool is_unknown(const StructInfo& info) { return info == wrong() || info == pending(); }
bool mentions_wrong(const StructInfo& info);
bool mentions_pending(const StructInfo& info);
bool mentions_unknown(const StructInfo& info);

// The type variables of inference: StructInfo of kind Object that carry a symbolic variable, each of which unification
// may find to stand for a StructInfo.
//
// A hole has a name that is the same in each round of inference (Origin). What holes stand for is forgotten at the
// start of a round.
class Holes {
 public:
  enum class Result : uint8_t {
    Fits,
    Cycle,  // a hole would stand for something that it is a part of
    Clash,  // no hole can make a function of another one with other parameters, or of a tuple
  };

  // The hole of that name.
  StructInfo make(const Origin& at, const std::string& name);
  void forget();

  bool is_hole(const StructInfo& info) const { return symbol(info) != nullptr; }
  bool mentions_hole(const StructInfo& info) const;
  bool owns(const SymVar& var) const { return names_.contains(var.get()); }

  // The StructInfo with what its holes stand for: outermost only, or all of it. The same object where nothing changes.
  StructInfo head(const StructInfo& info) const;
  StructInfo resolve(const StructInfo& info) const;
  // With Object in the place of its holes, or null, which prints as `?`.
  StructInfo filled(const StructInfo& info, const StructInfo& with) const;

  // Makes `given` fit where `expected` is asked for, as far as holes are concerned: what is known on both sides is
  // not compared but for the numbers of parameters and fields. What meets Object leaves the sight of inference; of
  // what meets something wrong nothing is known either.
  Result unify(const StructInfo& given, const StructInfo& expected);

  // Its holes are wrong from now on.
  void spoil(const StructInfo& info);

  // Its holes may get values that inference does not see.
  void expose(const StructInfo& info);
  bool is_exposed(const StructInfo& info) const;

  // Tells StructInfo with different holes apart; equal in each round.
  std::string key(const StructInfo& info) const;
  void collect(const StructInfo& info, std::unordered_set<const SymVarNode*>& holes) const;

 private:
  const SymVarNode* symbol(const StructInfo& info) const;
  Result bind(const SymVarNode* hole, const StructInfo& info);
  bool occurs(const SymVarNode* hole, const StructInfo& info) const;

  std::map<Origin, StructInfo> made_;
  std::unordered_map<const SymVarNode*, Origin> names_;
  std::unordered_map<const SymVarNode*, StructInfo> bound_;
  std::unordered_set<const SymVarNode*> exposed_;
};

}  // namespace ingot::analysis
