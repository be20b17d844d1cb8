#include "compiler/transform/meaning_cache.h"

#include <algorithm>

#include "compiler/ops/ops.h"

namespace ingot::transform {
namespace {

using namespace ir;

// Operators read the elements of some constants, elementwise ones never do.
bool depends_on_infos(const Op& op, const Call& call) {
  const bool elementwise = ops::is_elementwise(op);
  return std::ranges::all_of(call.args, [&](const Expr& arg) {
    return arg->info->kind == InfoKind::Tensor &&
           (as<Var>(arg) != nullptr || (elementwise && as<Constant>(arg) != nullptr));
  });
}

size_t hash_of(const Op& op, const Call& call) {
  size_t hash = std::hash<const Op*>()(&op);
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29); };
  for (const Expr& arg : call.args) {
    mix(static_cast<uint64_t>(arg->info->dtype));
    if (!arg->info->dims) continue;
    for (const PrimExpr& dim : *arg->info->dims) mix(static_cast<uint64_t>(dim.as_const().value_or(-1)));
  }
  return hash;
}

bool has_info(const Expr& arg, const StructInfo& info) { return same_info(arg->info, info); }

}  // namespace

const MeaningCache::Meaning* MeaningCache::find(const Op& op, const Call& call) {
  if (!depends_on_infos(op, call)) return nullptr;
  const auto alike = by_hash_.find(hash_of(op, call));
  if (alike == by_hash_.end()) return nullptr;
  for (const Entry& entry : alike->second)
    if (entry.op == &op && entry.attrs == call.attrs && std::ranges::equal(call.args, entry.args, has_info) &&
        same_info(entry.result, call.info))
      return &entry.meaning;
  return nullptr;
}

void MeaningCache::add(const Op& op, const Call& call, Meaning meaning) {
  if (!depends_on_infos(op, call)) return;
  std::vector<StructInfo> args;
  for (const Expr& arg : call.args) args.push_back(arg->info);
  by_hash_[hash_of(op, call)].push_back({&op, std::move(args), call.attrs, call.info, std::move(meaning)});
}

}  // namespace ingot::transform
