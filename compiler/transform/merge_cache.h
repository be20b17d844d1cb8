#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/transform/merge_calls.h"

namespace ingot::transform {

// Answers about calls of PrimFuncs, found once for all calls that differ in nothing that the answer depends on: the
// functions, how inputs coincide, their dtypes and dimensions. Long programs repeat few patterns very often.
class MergeCache {
 public:
  struct Merged {
    TirCall call;
    size_t nests;  // loops of the function that run one after the other
  };
  // `merge`, then inlining of buffers and fusion of loops. nullopt where the inputs that are no numbers were more than
  // `most_inputs`.
  std::optional<Merged> merged(std::span<const Member> members, Numbers numbers, size_t most_inputs);

  bool is_total(const TirCall& call);

 private:
  // Equal ones: the functions are the same objects, and all else is structurally equal.
  struct Signature {
    std::vector<uint64_t> words;
    std::vector<PrimExpr> exprs;
    std::vector<tir::PrimFuncRef> funcs;  // keep the addresses among the words from being used again

    bool operator==(const Signature& other) const;
  };
  struct Hash {
    size_t operator()(const Signature& signature) const;
  };
  void sign(std::span<const Member> members, Numbers numbers);
  void add(const PrimExpr& expr);
  void add(const StructInfo& info);

  struct Made {
    tir::PrimFuncRef func;
    std::vector<PrimExpr> scalars;
    size_t nests;
  };
  std::unordered_map<Signature, Made, Hash> made_;
  std::unordered_map<Signature, bool, Hash> total_;
  // Of the calls that `sign` has looked at last.
  Signature signature_;
  std::vector<ir::Expr> inputs_;
};

}  // namespace ingot::transform
