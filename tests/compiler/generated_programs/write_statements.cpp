#include <algorithm>

#include <fmt/format.h>

#include "tests/compiler/generated_programs/writer.h"

namespace ingot::generated {

std::string Writer::block(const Type& result) {
  return nested([&] {
    std::string text = "{\n";
    for (size_t left = at_bottom() ? 0 : choices_.pick(4); left > 0; --left) statement(text);
    text += fmt::format("{}\n}}", expression(result));
    return text;
  });
}

std::string Writer::body(const std::vector<std::string>& symbols, Type& result) {
  std::string text;
  const size_t before = scope_.variables.size();
  for (size_t left = 1 + choices_.pick(6); left > 0; --left) statement(text);
  std::vector<std::string> names;
  for (size_t i = scope_.variables.size(); i > before && names.size() < 5; --i) {
    const auto& [name, type, loose] = scope_.variables[i - 1];
    const bool bound_inside = std::ranges::any_of(
        type.dims, [&](const auto& dim) { return dim.size() > 1 && std::ranges::find(symbols, dim) == symbols.end(); });
    if (type.kind != Type::Kind::Tensor || bound_inside) continue;
    names.push_back(name);
    result.fields.push_back(type);
  }
  if (names.empty()) {
    result.fields.push_back(tensor_type(pick_dtype()));
    names.push_back(expression(result.fields[0]));
  }
  return fmt::format("{}{}", text, tuple_text(names));
}

void Writer::statement(std::string& text) {
  switch (choices_.pick(scope_.dataflow ? 4 : 12)) {
    default:
      return let_statement(text);
    case 3:
      return match_cast_statement(text);
    case 4:
    case 5:
      return graph_binding(text);
    case 6:
      return dataflow_block(text);
    case 7:
      return recursive_closure(text);
    case 8:
      return log_statement(text);
    case 10:
      return symbolic_closure(text);
    case 11:
      return written_tensor(text);
  }
}

void Writer::let_statement(std::string& text) {
  const Type type = pick_type();
  const std::string value = expression(type);
  const bool annotated = type.kind == Type::Kind::Function || choices_.chance(30);
  const bool shadows = !scope_.dataflow && !scope_.variables.empty() && choices_.chance(10);
  std::string name = fresh("%v");
  if (shadows) {
    name = scope_.variables[choices_.pick(scope_.variables.size())].name;
    std::erase_if(scope_.variables, [&](const Variable& variable) { return variable.name == name; });
    std::erase_if(scope_.callables, [&](const Callable& callable) {
      return callable.callee == name || callable.levels.starts_with(name + " ");
    });
  }
  text += fmt::format("let {}{} = {};\n", name, annotated ? ": " + type.text() : "", value);
  scope_.variables.push_back({name, type});
}

void Writer::graph_binding(std::string& text) {
  const Type type = choices_.chance(75) ? pick_tensor_type() : pick_type();
  const std::string value = expression(type);
  const std::string name = fmt::format("%{}", names_++);
  text += fmt::format("{} = {};\n", name, value);
  scope_.variables.push_back({name, type});
}

void Writer::match_cast_statement(std::string& text) {
  std::vector<Variable> tensors;
  for (const auto& variable : scope_.variables)
    if (variable.type.kind == Type::Kind::Tensor && !variable.type.dims.empty() &&
        std::ranges::all_of(variable.type.dims,
                            [&](const auto& dim) { return std::ranges::find(scope_.dims, dim) != scope_.dims.end(); }))
      tensors.push_back(variable);
  if (tensors.empty()) return let_statement(text);
  const Variable from = choices_.of(std::span<const Variable>(tensors));
  Type type = from.type;
  for (auto& dim : type.dims) {
    const size_t what = choices_.pick(10);
    if (what < 5) {
      dim = fresh("d");
      scope_.dims.push_back(dim);
    } else if (what == 9) {
      dim = pick_dim();
    }
  }
  const std::string name = fresh("%m");
  text += fmt::format("let {} = match_cast({}, {});\n", name, from.name, type.text());
  scope_.variables.push_back({name, type});
}

void Writer::dataflow_block(std::string& text) {
  std::vector<Variable> outputs;
  text += nested([&] {
    scope_.dataflow = true;
    scope_.pure = true;
    scope_.outside = scope_.variables.size();
    const size_t known = scope_.variables.size();
    std::string body = "dataflow {\n";
    for (size_t left = 1 + choices_.pick(4); left > 0; --left) let_statement(body);
    std::vector<std::string> names;
    for (size_t i = known; i < scope_.variables.size(); ++i)
      if (i + 1 == scope_.variables.size() || choices_.chance(30)) {
        outputs.push_back(scope_.variables[i]);
        names.push_back(scope_.variables[i].name);
      }
    return fmt::format("{}output({});\n}}\n", body, join(names));
  });
  scope_.variables.insert(scope_.variables.end(), outputs.begin(), outputs.end());
}

void Writer::recursive_closure(std::string& text) {
  const std::string name = fresh("%f");
  const Type result = pick_type(1), param = choices_.chance(50) ? result : pick_type(1);
  const bool pure = scope_.pure || choices_.chance(60);
  text += nested([&] {
    const std::string left = fresh("%i"), value = fresh("%x");
    scope_.pure = pure;
    scope_.variables.push_back({value, param});
    const std::string last = block(result);
    scope_.callables.push_back({name, {}, {param}, result, pure, fmt::format("{} - 1", left), 2});
    scope_.variables.push_back({left, tensor_type(DType::Int32)});
    return fmt::format("let {} = {}fn({}: int32, {}: {}) -> {} {{\nif ({} <= 0) {} else {}\n}};\n", name,
                       pure ? "" : "impure ", left, value, param.text(), result.text(), left, last, block(result));
  });
  const std::string bound = fresh("%v");
  text += fmt::format("let {} = {}({}, {});\n", bound, name, choices_.pick(4), expression(param));
  scope_.variables.push_back({bound, result});
}

void Writer::log_statement(std::string& text) {
  if (scope_.pure) return let_statement(text);
  Type type = pick_tensor_type();
  if (is_float(type.dtype)) type.dtype = DType::Int32;
  text += fmt::format("extern(\"ingot.print\")(\"{}\", {});\n", fresh("L"), expression(type));
}

}  // namespace ingot::generated
