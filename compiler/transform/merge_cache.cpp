#include "compiler/transform/merge_cache.h"

#include <algorithm>
#include <cstring>

#include "compiler/transform/fuse_loops.h"
#include "compiler/transform/inline_buffers.h"

namespace ingot::transform {
namespace {

// What a word of a signature begins with.
enum Tag : uint64_t { kConst, kExpr, kInternal, kNumber, kKnown, kInput };

size_t count_nests(const tir::PrimFunc& func) {
  return static_cast<size_t>(std::ranges::count_if(
      func.body, [](const tir::Stmt& stmt) { return !std::holds_alternative<tir::Allocate>(stmt->node); }));
}

}  // namespace

bool MergeCache::Signature::operator==(const Signature& other) const {
  return words == other.words && std::ranges::equal(exprs, other.exprs, same_expr);
}

size_t MergeCache::Hash::operator()(const Signature& signature) const {
  size_t hash = signature.words.size();
  for (const uint64_t word : signature.words) hash = (hash ^ word) * 0x9E3779B97F4A7C15u + (hash >> 29);
  return hash;
}

void MergeCache::add(const PrimExpr& expr) {
  if (const auto value = expr.as_const()) {
    signature_.words.insert(signature_.words.end(), {kConst, static_cast<uint64_t>(*value)});
  } else {
    signature_.words.push_back(kExpr);
    signature_.exprs.push_back(expr);
  }
}

void MergeCache::add(const StructInfo& info) {
  signature_.words.insert(signature_.words.end(), {static_cast<uint64_t>(info->dtype), info->dims->size()});
  for (const PrimExpr& dim : *info->dims) add(dim);
}

void MergeCache::sign(std::span<const Member> members, Numbers numbers) {
  auto& [words, exprs, funcs] = signature_;
  words.clear();
  exprs.clear();
  funcs.clear();
  inputs_.clear();
  words.push_back(static_cast<uint64_t>(numbers));
  for (const auto& [result, call] : members) {
    funcs.push_back(call->func);
    words.insert(words.end(), {reinterpret_cast<uintptr_t>(call->func.get()), call->inputs.size()});
    for (const ir::Expr& input : call->inputs) {
      const auto member =
          std::ranges::find(members, input.get(), [](const Member& m) -> const ir::ExprNode* { return m.result; });
      if (member != members.end()) {
        words.insert(words.end(), {kInternal, static_cast<uint64_t>(member - members.begin())});
      } else if (const auto* number = number_of(input); number != nullptr && numbers == Numbers::Inside) {
        uint64_t bits = 0;
        std::memcpy(&bits, number->data, std::min(number->bytes, sizeof(bits)));
        words.insert(words.end(), {kNumber, static_cast<uint64_t>(number->dtype), bits});
      } else {
        const auto known = std::ranges::find(inputs_, input_key(input), input_key);
        words.insert(words.end(),
                     {known == inputs_.end() ? kInput : kKnown, static_cast<uint64_t>(known - inputs_.begin())});
        if (known == inputs_.end()) inputs_.push_back(input);
        add(input->info);
      }
    }
    words.push_back(call->scalars.size());
    for (const PrimExpr& scalar : call->scalars) add(scalar);
    add(call->output);
  }
}

std::optional<MergeCache::Merged> MergeCache::merged(std::span<const Member> members, Numbers numbers,
                                                     size_t most_inputs) {
  sign(members, numbers);
  const auto is_tensor = [](const ir::Expr& input) { return number_of(input) == nullptr; };
  if (static_cast<size_t>(std::ranges::count_if(inputs_, is_tensor)) > most_inputs) return std::nullopt;
  auto found = made_.find(signature_);
  if (found == made_.end()) {
    const TirCall call = merge(members, numbers);
    auto func = std::make_shared<const tir::PrimFunc>(fuse_loops(inline_buffers(*call.func)));
    const size_t nests = count_nests(*func);
    found = made_.emplace(signature_, Made{std::move(func), call.scalars, nests}).first;
  }
  const auto& [func, scalars, nests] = found->second;
  const TirCall& last = *members.back().call;
  return Merged{{func, inputs_, scalars, last.output, last.span}, nests};
}

bool MergeCache::is_total(const TirCall& call) {
  const Member alone[] = {{nullptr, &call}};
  sign(alone, Numbers::AsInputs);
  const auto [entry, is_new] = total_.try_emplace(signature_, false);
  if (is_new) entry->second = transform::is_total(call);
  return entry->second;
}

}  // namespace ingot::transform
