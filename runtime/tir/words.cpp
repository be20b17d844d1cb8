#include "runtime/tir/words.h"

#include <algorithm>

#include "runtime/base/dtype.h"
#include "runtime/tir/expr_ops.h"
#include "runtime/tir/literals.h"

namespace ingot::tir {

bool is_identifier_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_identifier_part(char c) { return is_identifier_start(c) || (c >= '0' && c <= '9'); }

bool is_reserved(std::string_view name) {
  constexpr std::string_view kWords[] = {"for",   "in",  "parallel", "reduce", "let",   "if",   "else",
                                         "alloc", "out", "Buffer",   "True",   "False", "bits", "prim_func"};
  return std::ranges::find(kWords, name) != std::end(kWords) || function_named(name) || named_number(name) ||
         parse_dtype(name);
}

std::optional<ExprOp> function_named(std::string_view name) {
  for (size_t i = 0; i < kExprOpCount; ++i) {
    const auto op = static_cast<ExprOp>(i);
    if (expr_op_info(op).precedence == 0 && !name.empty() && expr_op_info(op).name == name) return op;
  }
  return std::nullopt;
}

std::string identifier(std::string_view name) {
  std::string result;
  for (const char c : name) result += is_identifier_part(c) ? c : '_';
  if (result.empty() || !is_identifier_start(result[0]) || is_reserved(result)) result.insert(result.begin(), '_');
  return result;
}

std::string function_name(std::string_view name) {
  if (!name.empty() && is_identifier_start(name[0]) && std::ranges::all_of(name, is_identifier_part))
    return "@" + std::string(name);
  std::string result = "@\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

}  // namespace ingot::tir
