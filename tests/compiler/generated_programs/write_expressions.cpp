#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tests/compiler/generated_programs/writer.h"

namespace ingot::generated {

std::string Writer::nested(const std::function<std::string()>& write) {
  const Scope saved = scope_;
  ++depth_;
  std::string text = write();
  --depth_;
  // A recursive function that was called inside has that many uses less.
  const std::vector<Callable> inner = std::exchange(scope_, saved).callables;
  for (auto& callable : scope_.callables)
    for (const auto& other : inner)
      if (other.callee == callable.callee) callable.uses_left = other.uses_left;
  return text;
}

std::string Writer::expression(const Type& type) {
  switch (type.kind) {
    case Type::Kind::Tensor:
      return operand(type).text;
    case Type::Kind::Tuple:
      return tuple(type).text;
    case Type::Kind::Function:
      return function(type).text;
  }
  return {};
}

Piece Writer::leaf(const Type& type) {
  std::vector<std::string> names;
  for (const auto& variable : scope_.variables) {
    if (fits(variable.type, type)) names.push_back(variable.name);
    for (size_t i = 0; i < variable.type.fields.size(); ++i)
      if (variable.type.kind == Type::Kind::Tuple && fits(variable.type.fields[i], type))
        names.push_back(fmt::format("{}.{}", variable.name, i));
  }
  const Bounds bounds = operand_bounds(type.dtype);
  if (!names.empty() && !choices_.chance(20)) return {choices_.of(std::span<const std::string>(names)), bounds};
  switch (type.kind) {
    case Type::Kind::Tensor:
      return {tensor_literal(type), bounds};
    case Type::Kind::Tuple: {
      std::vector<std::string> fields;
      for (const auto& field : type.fields) fields.push_back(leaf(field).text);
      return {tuple_text(fields), {}};
    }
    case Type::Kind::Function: {
      return {nested([&] {
                std::vector<std::string> params;
                enter_function(type, params);
                return fmt::format("({}fn({}) -> {} {{ {} }})", type.pure ? "" : "impure ", join(params),
                                   type.result->text(), leaf(*type.result).text);
              }),
              {}};
    }
  }
  return {};
}

Piece Writer::tuple(const Type& type) {
  if (at_bottom()) return leaf(type);
  Piece piece;
  switch (choices_.pick(11)) {
    case 0:
    case 1:
      return leaf(type);
    case 10:
      piece = forgotten(type);
      break;
    case 8:
      piece = match_cast(type);
      break;
    case 9:
      piece = polymorphic(type);
      break;
    case 2:
      piece = branch(type);
      break;
    case 3:
      piece = call(type);
      break;
    case 4:
      piece = projection(type);
      break;
    default:
      break;
  }
  if (!piece.text.empty()) return piece;
  return {nested([&] {
            std::vector<std::string> fields;
            for (const auto& field : type.fields) fields.push_back(expression(field));
            return tuple_text(fields);
          }),
          {}};
}

Piece Writer::function(const Type& type) {
  if (at_bottom()) return leaf(type);
  Piece piece;
  switch (choices_.pick(8)) {
    case 0:
      return leaf(type);
    case 7:
      piece = forgotten(type);
      break;
    case 1:
      piece = branch(type);
      break;
    case 2:
      piece = call(type);
      break;
    case 3:
      for (const auto& callable : scope_.callables)
        if (callable.symbols.empty() && callable.levels.empty() &&
            function_type(callable.params, callable.result, callable.pure).key() == type.key())
          piece = {callable.callee, {}};
      break;
    default:
      break;
  }
  if (!piece.text.empty()) return piece;
  return {nested([&] {
            std::vector<std::string> params;
            enter_function(type, params);
            return fmt::format("({}fn({}) -> {} {})", type.pure ? "" : "impure ", join(params), type.result->text(),
                               block(*type.result));
          }),
          {}};
}

std::string Writer::condition() { return operand(tensor_type(DType::Bool)).text; }

Piece Writer::branch(const Type& type) {
  if (scope_.dataflow) return {};
  return {nested([&] {
            const std::string test = choices_.chance(10) ? prim_condition() : condition();
            const std::string yes = block(type);
            return fmt::format("(if ({}) {} else {})", test, yes, block(type));
          }),
          operand_bounds(type.dtype)};
}

namespace {

using Bindings = std::vector<std::pair<std::string, std::string>>;

// Finds what the shape variables of a signature must be for `have` to be `want`.
bool unify(const Type& have, const Type& want, const std::vector<std::string>& symbols, Bindings& bound) {
  if (have.kind != want.kind || have.fields.size() != want.fields.size()) return false;
  if (have.kind == Type::Kind::Function) return have.key() == want.key();
  for (size_t i = 0; i < have.fields.size(); ++i)
    if (!unify(have.fields[i], want.fields[i], symbols, bound)) return false;
  if (have.kind != Type::Kind::Tensor) return true;
  if (have.dtype != want.dtype || have.dims.size() != want.dims.size() || (want.exact && !have.exact)) return false;
  for (size_t i = 0; i < have.dims.size(); ++i) {
    if (std::ranges::find(symbols, have.dims[i]) == symbols.end()) {
      if (have.dims[i] != want.dims[i]) return false;
      continue;
    }
    const auto found = std::ranges::find(bound, have.dims[i], &Bindings::value_type::first);
    if (found == bound.end()) {
      bound.emplace_back(have.dims[i], want.dims[i]);
    } else if (found->second != want.dims[i]) {
      return false;
    }
  }
  return true;
}

Type substitute(Type type, const Bindings& bound) {
  for (auto& dim : type.dims)
    for (const auto& [symbol, value] : bound)
      if (dim == symbol) {
        dim = value;
        break;
      }
  for (auto& field : type.fields) field = substitute(field, bound);
  if (type.result != nullptr) type.result = std::make_shared<const Type>(substitute(*type.result, bound));
  return type;
}

}  // namespace

Piece Writer::call(const Type& type) {
  struct Candidate {
    std::string callee, levels;
    std::vector<Type> params;
    size_t index;
  };
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < scope_.callables.size(); ++i) {
    const auto& callable = scope_.callables[i];
    Bindings bound;
    const bool recursive = callable.levels.starts_with('%');
    if (callable.uses_left == 0 || (scope_.pure && !callable.pure) || (scope_.dataflow && recursive) ||
        !unify(callable.result, type, callable.symbols, bound))
      continue;
    for (const auto& [symbol, dim] : bound)
      if (std::ranges::find(scope_.dims, dim) == scope_.dims.end()) bound.clear();
    Candidate candidate{callable.callee, callable.levels, {}, i};
    bool known = true;
    for (const auto& symbol : callable.symbols)
      if (std::ranges::find(bound, symbol, &Bindings::value_type::first) == bound.end()) {
        known = known && std::ranges::none_of(callable.result.dims, [&](const auto& dim) { return dim == symbol; });
        bound.emplace_back(symbol, pick_dim());
      }
    if (!known) continue;
    for (const auto& param : callable.params) candidate.params.push_back(substitute(param, bound));
    candidates.push_back(std::move(candidate));
  }
  for (const auto& variable : scope_.variables)
    if (variable.type.kind == Type::Kind::Function && fits(*variable.type.result, type) &&
        (variable.type.pure || !scope_.pure))
      candidates.push_back({variable.name, {}, variable.type.fields, SIZE_MAX});
  if (candidates.empty()) return {};
  const Candidate candidate = choices_.of(std::span<const Candidate>(candidates));
  if (candidate.index != SIZE_MAX && scope_.callables[candidate.index].uses_left != SIZE_MAX)
    --scope_.callables[candidate.index].uses_left;
  return {nested([&] {
            std::vector<std::string> args;
            if (!candidate.levels.empty()) args.push_back(candidate.levels);
            for (const auto& param : candidate.params) args.push_back(expression(param));
            return fmt::format("{}({})", candidate.callee, join(args));
          }),
          operand_bounds(type.dtype)};
}

Piece Writer::immediate_call(const Type& type) {
  std::vector<Type> params;
  for (size_t left = choices_.pick(3); left > 0; --left) params.push_back(pick_type(1));
  return {nested([&] {
            const std::string callee = function(function_type(params, type, scope_.pure || choices_.chance(50))).text;
            std::vector<std::string> args;
            for (const auto& param : params) args.push_back(expression(param));
            return fmt::format("{}({})", callee, join(args));
          }),
          operand_bounds(type.dtype)};
}

Piece Writer::projection(const Type& type) {
  std::vector<Type> fields;
  for (size_t left = choices_.pick(3); left > 0; --left) fields.push_back(pick_type(1));
  const size_t index = choices_.pick(fields.size() + 1);
  fields.insert(fields.begin() + static_cast<ptrdiff_t>(index), type);
  return {nested([&] { return fmt::format("{}.{}", tuple(tuple_type(fields)).text, index); }),
          operand_bounds(type.dtype)};
}

// Only values whose text does not depend on how they are rounded.
Piece Writer::logged(const Type& type) {
  if (scope_.pure || is_float(type.dtype)) return {};
  return {nested([&] {
            return fmt::format("extern(\"ingot.log\", {})(\"{}\", {})", type.text(), fresh("L"), expression(type));
          }),
          {}};
}

Piece Writer::match_cast(const Type& type) {
  if (scope_.pure) return {};
  Type given = type;
  // Sometimes the cast fails, or depends on what dimensions are at run time.
  if (choices_.chance(15)) given.dtype = pick_dtype();
  for (auto& dim : given.dims)
    if (choices_.chance(15)) dim = pick_dim();
  return {nested([&] {
            return fmt::format("match_cast(extern(\"ingot.identity\")({}), {})", expression(given), type.text());
          }),
          operand_bounds(type.dtype)};
}

}  // namespace ingot::generated
