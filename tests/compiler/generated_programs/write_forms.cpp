#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tests/compiler/generated_programs/writer.h"

namespace ingot::generated {
namespace {

bool is_number(const std::string& dim) { return dim.size() == 1 && dim[0] >= '0' && dim[0] <= '9'; }

}  // namespace

Piece Writer::forgotten(const Type& type) {
  Type given = type;
  if (choices_.chance(10)) given.dtype = pick_dtype();
  for (auto& dim : given.dims)
    if (choices_.chance(10)) dim = pick_dim();
  const size_t how = scope_.dataflow ? 0 : choices_.pick(3);
  const std::string name = fresh("%o");
  return {nested([&] {
            if (how == 0) return fmt::format("match_cast(@forget({}), {})", expression(given), type.text());
            std::string value = expression(given);
            if (how == 2) {
              const std::string test = condition();
              value = fmt::format("if ({}) {{ {} }} else {}", test, value, block(pick_type(1)));
              return fmt::format("{{ let {0} = {1}; match_cast({0}, {2}) }}", name, value, type.text());
            }
            return fmt::format("{{ let {0}: Object = {1}; match_cast({0}, {2}) }}", name, value, type.text());
          }),
          operand_bounds(type.dtype)};
}

std::string Writer::dim_expression() {
  const std::string a = pick_dim(), b = pick_dim();
  switch (choices_.pick(8)) {
    case 1:
      return fmt::format("{} + {}", a, b);
    case 2:
      return fmt::format("{} * {}", a, b);
    case 3:
      return fmt::format("max({}, {})", a, b);
    case 4:
      return fmt::format("min({}, {})", a, b);
    case 5:
      return fmt::format("({} + {}) / 2", a, b);
    case 6:
      return fmt::format("{} % 2", a);
    case 7:
      return fmt::format("select({0} < {1}, {0}, {1})", a, b);
    default:
      return a;
  }
}

Piece Writer::dims_as_tensor(const Type& type) {
  if (type.dtype != DType::Int64 || type.dims.size() != 1 || !is_number(type.dims[0])) return {};
  std::vector<std::string> dims;
  for (int left = type.dims[0][0] - '0'; left > 0; --left) dims.push_back(dim_expression());
  return {fmt::format("shape_to_tensor(shape({}))", join(dims)), {}};
}

std::string Writer::prim_condition() {
  static constexpr std::array kComparisons = {"==", "<", "!=", "<=", ">", ">="};
  const std::string a = dim_expression();
  return fmt::format("prim({} {} {})", a, kComparisons[choices_.pick(kComparisons.size())], dim_expression());
}

std::string Writer::prim_func(const std::string& stem, const Type& type, std::string_view params,
                              std::string_view store) {
  const std::string_view brief = dtype_info(type.dtype).brief;
  const std::string name = fmt::format("@{}_{}_{}", stem, brief, type.dims.size());
  if (prim_funcs_.find(name + "(") != std::string::npos) return name;
  const bool plane = type.dims.size() == 2;
  std::string signature;
  for (const char param : params) {
    if (param == 's') {
      signature += "s: int64, ";
      continue;
    }
    // R has one more dimension than the result, T has the result's the other way round.
    const std::string_view dims = param == 'R' ? (plane ? "a, b, c" : "a, c")
                                  : plane      ? param == 'T' ? "b, a" : "a, b"
                                               : "a,";
    signature += fmt::format("{}: Buffer[({}), {}], ", param, dims, dtype_name(type.dtype));
  }
  signature.resize(signature.size() - 2);
  std::string body(store);
  const auto replace = [&](std::string_view what, std::string_view by) {
    for (size_t at = body.find(what); at != std::string::npos; at = body.find(what, at + by.size()))
      body.replace(at, what.size(), by);
  };
  replace("$i", plane ? "i, j" : "i");
  replace("$t", plane ? "j, i" : "i");
  replace("$d", dtype_name(type.dtype));
  replace("$0", literal_zero(type.dtype));
  prim_funcs_ += fmt::format("prim_func {}({}) {{ for i in a {{ {}{}{} }} }}\n", name, signature,
                             plane ? "for j in b { " : "", body, plane ? " }" : "");
  return name;
}

Piece Writer::called_tir(const Type& type) {
  if (type.dims.empty() || type.dims.size() > 2 || type.dtype == DType::Bool) return {};
  const auto input = [&](Type of) {
    const std::string text = operand(of).text;
    return choices_.chance(15) ? fmt::format("@forget({})", text) : text;
  };
  const Bounds bounds = operand_bounds(type.dtype);
  const Bounds twice = {bounds.most * 2, bounds.fraction};
  const std::string info = type.text();
  switch (choices_.pick(7)) {
    case 0: {
      const std::string name = prim_func("twice", type, "AB", "B[$i] = A[$i] + A[$i];");
      return {fmt::format("call_tir({}, ({},), {})", name, input(type), info), twice};
    }
    case 1: {
      static constexpr std::array kOps = {"+", "-"};
      const size_t op = choices_.pick(2);
      const std::string name =
          prim_func(op == 0 ? "plus" : "minus", type, "ABC", fmt::format("C[$i] = A[$i] {} B[$i];", kOps[op]));
      const std::string a = input(type);
      return {fmt::format("call_tir({}, ({}, {}), {})", name, a, input(type), info), twice};
    }
    case 2: {
      Type turned = type;
      std::ranges::reverse(turned.dims);
      const std::string name = prim_func("turn", type, "TB", "B[$i] = T[$t];");
      return {fmt::format("call_tir({}, ({},), {})", name, input(turned), info), bounds};
    }
    case 3: {
      Type rows = type;
      rows.dims.push_back(pick_dim());
      const std::string name =
          prim_func("rows", type, "RB", "B[$i] = $0; for k in c reduce { B[$i] = B[$i] + R[$i, k]; }");
      return {fmt::format("call_tir({}, ({},), {})", name, input(rows), info), {bounds.most * 8, bounds.fraction}};
    }
    case 4: {
      const std::string name = prim_func("both", type, "ABCD", "C[$i] = max(A[$i], B[$i]); D[$i] = min(A[$i], B[$i]);");
      const std::string a = input(type);
      return {fmt::format("call_tir({}, ({}, {}), {}, {}).{}", name, a, input(type), info, info, choices_.pick(2)),
              bounds};
    }
    case 5: {
      if (is_float(type.dtype)) return {};
      const std::string name = prim_func("shift", type, "AsB", "B[$i] = A[$i] + cast(s, $d);");
      const std::string a = input(type);
      return {fmt::format("call_tir({}, ({},), {}, vars=shape({}))", name, a, info, dim_expression()), bounds};
    }
    default: {
      const std::string name = prim_func("negate", type, "A", "A[$i] = -A[$i];");
      return {fmt::format("call_tir_inplace({}, (({} + {}),), {}, inplace_indices=(0,))", name, operand(type).text,
                          literal_zero(type.dtype), info),
              bounds};
    }
  }
}

void Writer::written_tensor(std::string& text) {
  if (scope_.pure || !choices_.chance(40)) return let_statement(text);
  Type type = pick_tensor_type();
  if (type.dtype == DType::Bool) type.dtype = DType::Int32;
  if (type.dims.empty()) type.dims.push_back(pick_dim());
  if (type.dims.size() > 2) type.dims.resize(2);
  const std::string name = fresh("%w"), alias = fresh("%v");
  text += fmt::format("let {} = {} + {};\n", name, expression(type), literal_zero(type.dtype));
  const Type pair = tuple_type({type, type});
  if (choices_.chance(50)) {
    text += fmt::format("let {0} = ({1}, {1});\n", alias, name);
    scope_.variables.push_back({alias, pair});
  }
  text += fmt::format("{}({});\n", prim_func("negate", type, "A", "A[$i] = -A[$i];"), name);
  scope_.variables.push_back({name, type});
}

void Writer::symbolic_closure(std::string& text) {
  const std::string name = fresh("%h"), symbol = fresh("q"), value = fresh("%u");
  Type param = pick_tensor_type();
  param.dims = {symbol};
  if (choices_.chance(40)) param.dims.push_back(pick_dim());
  const Type result = choices_.chance(50) ? param : pick_type(1);
  text += nested([&] {
    scope_.dims.insert(scope_.dims.begin(), symbol);
    scope_.variables.push_back({value, param});
    scope_.pure = true;
    return fmt::format("let {} = fn({}: {}) -> {} {};\n", name, value, param.text(), result.text(), block(result));
  });
  scope_.callables.push_back({name, {symbol}, {param}, result, true, {}, SIZE_MAX});
}

Piece Writer::polymorphic(const Type& type) {
  const size_t which = choices_.pick(6);
  if (which == 2 && type.kind == Type::Kind::Tensor)
    return {nested([&] { return fmt::format("@same({})", expression(type)); }), operand_bounds(type.dtype)};
  if (which == 3)
    return {nested([&] {
              const std::string other = expression(pick_type(1));
              return fmt::format("@swap(({}, {})).0", other, expression(type));
            }),
            operand_bounds(type.dtype)};
  if (which == 4)
    return {nested([&] {
              const Type param = pick_tensor_type();
              const std::string callee = function(function_type({param}, type, true)).text;
              return fmt::format("@apply({}, {})", callee, expression(param));
            }),
            operand_bounds(type.dtype)};
  const bool chooses = !scope_.dataflow && which % 2 == 1;
  const Type other = chooses ? type : pick_type(1);
  return {nested([&] {
            const std::string test = chooses ? condition() + ", " : "";
            const std::string first = expression(type);
            return fmt::format("{}({}{}, {})", chooses ? "@choose" : "@first", test, first, expression(other));
          }),
          operand_bounds(type.dtype)};
}

}  // namespace ingot::generated
