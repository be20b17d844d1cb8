#include "compiler/analysis/holes.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "compiler/analysis/polymorphism.h"

namespace ingot::analysis {

const StructInfo& wrong() {
  static const StructInfo marker = std::make_shared<StructInfoNode>();
  return marker;
}

const StructInfo& pending() {
  static const StructInfo marker = std::make_shared<StructInfoNode>();
  return marker;
}

namespace {

using Seen = std::unordered_set<const StructInfoNode*>;

// Does one of its parts, each looked at once, hold?
template <typename Holds>
bool any_part(const StructInfo& info, const Holds& holds, Seen& seen) {
  if (info == nullptr) return false;
  if (holds(info)) return true;
  const bool has_parts = !info->fields.empty() || info->result != nullptr;
  if (!has_parts || !seen.insert(info.get()).second) return false;
  return std::ranges::any_of(info->fields, [&](const StructInfo& field) { return any_part(field, holds, seen); }) ||
         any_part(info->result, holds, seen);
}

template <typename Holds>
bool any_part(const StructInfo& info, const Holds& holds) {
  Seen seen;
  return any_part(info, holds, seen);
}

}  // namespace

bool mentions_wrong(const StructInfo& info) {
  return any_part(info, [](const StructInfo& part) { return part == wrong(); });
}

bool mentions_pending(const StructInfo& info) {
  return any_part(info, [](const StructInfo& part) { return part == pending(); });
}

bool mentions_unknown(const StructInfo& info) { return any_part(info, is_unknown); }

StructInfo Holes::make(const Origin& at, const std::string& name) {
  StructInfo& hole = made_[at];
  if (hole == nullptr) {
    const SymVar var = make_sym_var(name);
    hole = make_hole(var);
    names_[var.get()] = at;
  }
  return hole;
}

void Holes::forget() {
  bound_.clear();
  exposed_.clear();
}

const SymVarNode* Holes::symbol(const StructInfo& info) const {
  const bool may_be = info->kind == InfoKind::Object && info->shape_var;
  return may_be && names_.contains(info->shape_var.get()) ? info->shape_var.get() : nullptr;
}

bool Holes::mentions_hole(const StructInfo& info) const {
  return !names_.empty() && any_part(info, [this](const StructInfo& part) { return is_hole(part); });
}

StructInfo Holes::head(const StructInfo& info) const {
  StructInfo at = info;
  for (const SymVarNode* hole = symbol(at); hole != nullptr; hole = symbol(at)) {
    const auto found = bound_.find(hole);
    if (found == bound_.end()) break;
    at = found->second;
  }
  return at;
}

StructInfo Holes::resolve(const StructInfo& info) const {
  if (info == nullptr || bound_.empty()) return info;
  const StructInfo at = head(info);
  if (at->fields.empty() && at->result == nullptr) return at;
  StructInfoNode node = *at;
  for (StructInfo& field : node.fields) field = resolve(field);
  node.result = resolve(node.result);
  const bool same = node.fields == at->fields && node.result == at->result;
  return same ? at : std::make_shared<const StructInfoNode>(std::move(node));
}

StructInfo Holes::filled(const StructInfo& info, const StructInfo& with) const {
  if (info == nullptr || is_hole(info)) return info == nullptr ? info : with;
  if (info->fields.empty() && info->result == nullptr) return info;
  StructInfoNode node = *info;
  for (StructInfo& field : node.fields) field = filled(field, with);
  node.result = filled(node.result, with);
  return std::make_shared<const StructInfoNode>(std::move(node));
}

bool Holes::occurs(const SymVarNode* hole, const StructInfo& info) const {
  const StructInfo at = head(info);
  return symbol(at) == hole ||
         std::ranges::any_of(at->fields, [&](const StructInfo& field) { return occurs(hole, field); }) ||
         (at->result != nullptr && occurs(hole, at->result));
}

// What depends on a type that contains itself is not looked at.
Holes::Result Holes::bind(const SymVarNode* hole, const StructInfo& info) {
  if (symbol(info) == hole) return Result::Fits;
  const bool cycle = occurs(hole, info);
  bound_[hole] = cycle ? wrong() : info;
  return cycle ? Result::Cycle : Result::Fits;
}

Holes::Result Holes::unify(const StructInfo& given_, const StructInfo& expected_) {
  const StructInfo given = head(given_);
  const StructInfo expected = head(expected_);
  if (given == expected) return Result::Fits;
  if (given == wrong() || expected == wrong()) {
    spoil(given == wrong() ? expected : given);
    return Result::Fits;
  }
  if (is_unknown(given) || is_unknown(expected)) return Result::Fits;
  if (const SymVarNode* hole = symbol(expected)) return bind(hole, given);
  if (expected->kind == InfoKind::Object) {
    expose(given);
    return Result::Fits;
  }
  if (const SymVarNode* hole = symbol(given)) return bind(hole, expected);
  if (given->kind == InfoKind::Object) return Result::Fits;
  if (given->kind != expected->kind) return Result::Clash;
  if (given->kind == InfoKind::Func && (!given->has_params || !expected->has_params)) {
    expose(given);
    return Result::Fits;
  }
  if (given->fields.size() != expected->fields.size()) return Result::Clash;
  const bool func = given->kind == InfoKind::Func;
  Result worst = Result::Fits;
  for (size_t i = 0; i < given->fields.size() && worst != Result::Cycle; ++i) {
    const Result part =
        func ? unify(expected->fields[i], given->fields[i]) : unify(given->fields[i], expected->fields[i]);
    if (part != Result::Fits) worst = part;
  }
  if (func && worst != Result::Cycle)
    if (const Result part = unify(given->result, expected->result); part != Result::Fits) worst = part;
  return worst;
}

void Holes::collect(const StructInfo& info, std::unordered_set<const SymVarNode*>& holes) const {
  if (names_.empty() || info == nullptr) return;
  const StructInfo at = head(info);
  if (const SymVarNode* hole = symbol(at)) holes.insert(hole);
  for (const StructInfo& field : at->fields) collect(field, holes);
  collect(at->result, holes);
}

void Holes::spoil(const StructInfo& info) {
  std::unordered_set<const SymVarNode*> holes;
  collect(info, holes);
  for (const SymVarNode* hole : holes) bound_[hole] = wrong();
}

void Holes::expose(const StructInfo& info) { collect(info, exposed_); }

bool Holes::is_exposed(const StructInfo& info) const {
  std::unordered_set<const SymVarNode*> exposed;
  for (const SymVarNode* hole : exposed_) collect(made_.at(names_.at(hole)), exposed);
  std::unordered_set<const SymVarNode*> parts;
  collect(info, parts);
  return std::ranges::any_of(parts, [&](const SymVarNode* hole) { return exposed.contains(hole); });
}

std::string Holes::key(const StructInfo& info) const {
  if (info == nullptr) return "";
  if (is_hole(info)) {
    const Origin& at = names_.at(info->shape_var.get());
    return fmt::format("?{}.{}", fmt::ptr(at.var), at.copy);
  }
  if (!mentions_hole(info)) return to_text(info);
  std::string text = info->kind == InfoKind::Func ? "fn(" : "(";
  for (const StructInfo& field : info->fields) text += key(field) + ",";
  return text + ")" + key(info->result);
}

}  // namespace ingot::analysis
