#include <array>

#include <fmt/format.h>

#include "tests/compiler/generated_programs/writer.h"

namespace ingot::generated {
namespace {

const std::array<std::string, 4> kNumbers = {"2", "3", "1", "4"};

constexpr std::string_view kFirst = "def @first(%a, %b) { %a }\n";
constexpr std::string_view kChoose = "def @choose(%c, %a, %b) { if (%c) { %a } else { %b } }\n";
constexpr std::string_view kForget = "def @forget(%a: Object) -> Object { %a }\n";
constexpr std::string_view kSame = "def @same<s: Shape, t: BaseType>(%a: Tensor[s, t]) { %a }\n";
constexpr std::string_view kSwap = "def @swap[A, B](%t: (A, B)) -> (B, A) { (%t.1, %t.0) }\n";
constexpr std::string_view kApply = "def @apply(%f, %a) { %f(%a) }\n";

}  // namespace

Scope Writer::function_scope(const std::vector<std::string>& symbols, const std::vector<Variable>& params, bool pure) {
  Scope scope;
  scope.variables = params;
  scope.dims = symbols;
  scope.dims.insert(scope.dims.end(), kNumbers.begin(), kNumbers.end());
  scope.callables = scope_.callables;
  scope.pure = pure;
  return scope;
}

std::string Writer::signature(const std::vector<Variable>& params, const Type& result, const std::string& levels) {
  std::vector<std::string> texts;
  if (!levels.empty()) texts.push_back(levels + ": int32");
  for (const auto& param : params)
    texts.push_back(fmt::format("{}: {}", param.name, param.loose.empty() ? param.type.text() : param.loose));
  return fmt::format("({}) -> {}", join(texts), result.text());
}

std::string Writer::loosened(const Type& type) {
  if (type.kind == Type::Kind::Function || !choices_.chance(15)) return {};
  const size_t how = choices_.pick(3);
  if (type.kind == Type::Kind::Tuple || type.dims.empty() || how == 0) return "Object";
  return how == 1 ? "Tensor" : fmt::format("Tensor[ndim={}, {}]", type.dims.size(), dtype_name(type.dtype));
}

void Writer::define_function() {
  const bool pure = choices_.chance(60);
  const bool recursive = choices_.chance(40);
  const bool mutual = recursive && choices_.chance(40);
  std::vector<std::string> symbols;
  if (choices_.chance(60)) symbols.emplace_back("a");
  if (choices_.chance(20)) symbols.emplace_back("b");
  scope_.dims = symbols;
  scope_.dims.insert(scope_.dims.end(), kNumbers.begin(), kNumbers.end());
  scope_.pure = pure;

  std::vector<Variable> params;
  for (const auto& symbol : symbols) {
    Type type = pick_tensor_type();
    type.dims = {symbol};
    if (choices_.chance(40)) type.dims.push_back(pick_dim());
    params.push_back({fresh("%p"), type});
  }
  for (size_t left = choices_.pick(3); left > 0; --left) {
    const Type type = pick_type(1);
    params.push_back({fresh("%p"), type, loosened(type)});
  }
  std::string casts;
  for (const auto& param : params)
    if (!param.loose.empty()) casts += fmt::format("let {0} = match_cast({0}, {1});\n", param.name, param.type.text());
  const Type result = choices_.chance(40) && !params.empty() ? params[0].type : pick_type(1);
  std::vector<Type> types;
  for (const auto& param : params) types.push_back(param.type);

  const std::string name = fresh("@f"), other = mutual ? fresh("@g") : name;
  const auto define = [&](const std::string& defined, const std::string& called) {
    const Scope outer = scope_;
    scope_ = function_scope(symbols, params, pure);
    const std::string head =
        fmt::format("{}def {}{}", pure ? "" : "impure ", defined, signature(params, result, recursive ? "%left" : ""));
    if (recursive) {
      const std::string last = block(result);
      scope_.callables.push_back({called, symbols, types, result, pure, "%left - 1", 2});
      definitions_ += fmt::format("{} {{\n{}if (%left <= 0) {} else {}\n}}\n", head, casts, last, block(result));
    } else {
      definitions_ += fmt::format("{} {{\n{}{}\n}}\n", head, casts, block(result));
    }
    scope_ = outer;
  };
  define(name, other);
  if (mutual) define(other, name);
  scope_.callables.push_back(
      {name, symbols, types, result, pure, recursive ? std::to_string(choices_.pick(4)) : "", SIZE_MAX});
}

std::string Writer::input(const Type& type, int64_t n, int64_t m) {
  std::string shape;
  size_t count = 1;
  for (const auto& dim : type.dims) {
    const int64_t value = dim == "n" ? n : dim == "m" ? m : std::stoll(dim);
    shape += fmt::format("{}x", value);
    count *= static_cast<size_t>(value);
  }
  std::string text = fmt::format("{}{}=", shape, dtype_info(type.dtype).brief);
  for (size_t i = 0; i < count; ++i) {
    static constexpr std::array kFloats = {"1", "2", "0", "-1", "3", "-2", "0.5", "-1.5", "2.5"};
    static constexpr std::array kIntegers = {1, 2, 0, 3, 5, 100, -1, -2, -100};
    if (i > 0) text += ' ';
    if (type.dtype == DType::Bool) {
      text += choices_.chance(50) ? "1" : "0";
    } else if (is_float(type.dtype)) {
      text += kFloats[choices_.pick(type.dtype == DType::BFloat16 ? 6 : kFloats.size())];
    } else {
      text += std::to_string(kIntegers[choices_.pick(is_unsigned_int(type.dtype) ? 6 : kIntegers.size())]);
    }
  }
  return text;
}

void Writer::define_main() {
  const bool pure = choices_.chance(30);
  static constexpr std::array<int64_t, 5> kSizes = {2, 3, 1, 4, 0};
  const int64_t n = kSizes[choices_.pick(kSizes.size())], m = kSizes[choices_.pick(kSizes.size())];
  std::vector<std::string> symbols;
  if (choices_.chance(70)) symbols.emplace_back("n");
  if (choices_.chance(40)) symbols.emplace_back("m");
  scope_.pure = pure;
  scope_.dims = symbols;
  scope_.dims.insert(scope_.dims.end(), kNumbers.begin(), kNumbers.end());
  std::vector<Variable> params;
  for (const auto& symbol : symbols) {
    Type type = pick_tensor_type();
    type.dims = {symbol};
    if (choices_.chance(40)) type.dims.push_back(pick_dim());
    params.push_back({fresh("%x"), type});
  }
  for (size_t left = choices_.pick(4); left > 0; --left) params.push_back({fresh("%x"), pick_tensor_type()});
  for (const auto& param : params) inputs_.push_back(input(param.type, n, m));
  scope_ = function_scope(symbols, params, pure);
  Type result = tuple_type({});
  const std::string text = body(symbols, result);
  definitions_ += fmt::format("{}def @main{} {{\n{}\n}}\n", pure ? "" : "impure ", signature(params, result, ""), text);
}

Program Writer::program(const Recipe& recipe) {
  for (size_t i = 1; i < recipe.size(); ++i) {
    choices_ = Choices(recipe[i]);
    define_function();
  }
  choices_ = recipe.empty() ? Choices({}) : Choices(recipe[0]);
  define_main();
  for (const auto& [name, text] : {std::pair{"@first(", kFirst},
                                   {"@choose(", kChoose},
                                   {"@forget(", kForget},
                                   {"@same(", kSame},
                                   {"@swap(", kSwap},
                                   {"@apply(", kApply}})
    if (definitions_.find(name) != std::string::npos) definitions_.insert(0, text);
  definitions_.insert(0, prim_funcs_);
  return {std::move(definitions_), std::move(inputs_)};
}

Program generate(const Recipe& recipe) { return Writer().program(recipe); }

}  // namespace ingot::generated
