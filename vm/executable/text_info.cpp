#include "vm/executable/text_info.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/tensor/element_text.h"

namespace ingot::vm {
namespace {

constexpr int kMaxDepth = 1024;

bool is_plain_word(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); }) && name != "min" &&
         name != "max" && name != "select" && name != "ndim" && name != "none" && !parse_dtype(name);
}

struct Operator {
  std::string_view text;
  PrimOp op;
  int precedence;
};
// Longer ones before their beginnings.
constexpr Operator kOperators[] = {
    {"||", PrimOp::Or, 1},        {"&&", PrimOp::And, 2},     {"==", PrimOp::Equal, 3},   {"!=", PrimOp::NotEqual, 3},
    {"<=", PrimOp::LessEqual, 4}, {"<", PrimOp::Less, 4},     {"+", PrimOp::Add, 5},      {"-", PrimOp::Sub, 5},
    {"*", PrimOp::Mul, 6},        {"/", PrimOp::FloorDiv, 6}, {"%", PrimOp::FloorMod, 6},
};

// Counts nesting, so that no text overflows the stack.
class Nesting {
 public:
  Nesting(int& depth, const TextScanner& in) : depth_(depth) {
    if (++depth_ > kMaxDepth) {
      --depth_;
      in.fail_here(fmt::format("this nests deeper than {}", kMaxDepth));
    }
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

}  // namespace

VarSpelling::VarSpelling(const std::vector<SymVar>& vars) {
  std::unordered_set<std::string> used;
  for (const SymVar& var : vars) {
    std::string text = is_plain_word(var->name) ? var->name : ingot::quoted(var->name);
    for (size_t i = 1; !used.insert(text).second; ++i) text = fmt::format("{}~{}", ingot::quoted(var->name), i);
    spelled_.emplace(var.get(), std::move(text));
  }
}

std::string VarSpelling::of(const SymVar& var) const {
  const auto at = spelled_.find(var.get());
  if (at == spelled_.end()) fail(ErrorCode::CorruptFile, "variable {} is not among those of its function", var->name);
  return at->second;
}

std::string VarSpelling::text(const PrimExpr& expr) const {
  return to_text(expr, [&](const SymVar& var) { return of(var); });
}

std::string VarSpelling::text(const std::vector<PrimExpr>& dims) const {
  std::string all = "(";
  for (size_t i = 0; i < dims.size(); ++i) all += (i == 0 ? "" : ", ") + text(dims[i]);
  return all + (dims.size() == 1 ? ",)" : ")");
}

std::string VarSpelling::shaped(std::string_view head, const StructInfoNode& info) const {
  std::vector<std::string> parts;
  if (info.dims) parts.push_back(text(*info.dims));
  if (info.shape_var) parts.push_back("%" + of(info.shape_var));
  if (info.rank && !info.dims) parts.push_back(fmt::format("ndim={}", *info.rank));
  if (info.dtype != DType::None) parts.emplace_back(dtype_name(info.dtype));
  return parts.empty() ? std::string(head) : fmt::format("{}[{}]", head, fmt::join(parts, ", "));
}

std::string VarSpelling::fields(const std::vector<StructInfo>& infos) const {
  std::string all;
  for (size_t i = 0; i < infos.size(); ++i) all += (i == 0 ? "" : ", ") + text(infos[i]);
  return all;
}

std::string VarSpelling::text(const StructInfo& info) const {
  if (info == nullptr) return "?";
  switch (info->kind) {
    case InfoKind::Object:
      return "Object";
    case InfoKind::Tensor:
      return shaped("Tensor", *info);
    case InfoKind::Shape:
      return shaped("Shape", *info);
    case InfoKind::Prim:
      return fmt::format("Prim[{}{}]", dtype_name(info->dtype), info->value ? ", " + text(*info->value) : "");
    case InfoKind::Tuple:
      return fmt::format("({}{})", fields(info->fields), info->fields.size() == 1 ? "," : "");
    case InfoKind::Func:
      return fmt::format("{}fn({}) -> {}", info->pure ? "" : "impure ", info->has_params ? fields(info->fields) : "...",
                         text(info->result));
  }
  return "?";
}

std::string InfoParser::spelling() {
  if (!in_.at_string()) return std::string(in_.word("a variable"));
  std::string text = ingot::quoted(in_.string());
  if (in_.accept("~")) text += fmt::format("~{}", in_.count());
  return text;
}

SymVar InfoParser::declare() {
  const size_t start = in_.offset();
  std::string name;
  if (in_.at_string()) {
    name = in_.string();
    in_.move_to(start);
  }
  const std::string text = spelling();
  const SymVar var = make_sym_var(name.empty() && text[0] != '"' ? text : name);
  if (!vars_.emplace(text, var).second) in_.fail_at(start, fmt::format("variable {} is declared twice", text));
  return var;
}

SymVar InfoParser::var() {
  const size_t start = in_.offset();
  const std::string text = spelling();
  const auto found = vars_.find(text);
  if (found == vars_.end()) in_.fail_at(start, fmt::format("variable {} is not declared", text));
  return found->second;
}

PrimExpr InfoParser::binary(int least) {
  const Nesting nesting(depth_, in_);
  PrimExpr left = unary();
  while (true) {
    const auto* found = std::ranges::find_if(kOperators, [&](const Operator& o) { return in_.comes(o.text); });
    if (found == std::end(kOperators) || found->precedence < least) return left;
    in_.expect(found->text);
    PrimExpr right = binary(found->precedence + 1);
    left = PrimExpr::make(found->op, {std::move(left), std::move(right)});
  }
}

PrimExpr InfoParser::unary() {
  const Nesting nesting(depth_, in_);
  if (in_.accept("!")) return PrimExpr::make(PrimOp::Not, {unary()});
  if (in_.accept("(")) {
    PrimExpr inner = expr();
    in_.expect(")");
    return inner;
  }
  for (const auto& [name, op, operands] : {std::tuple("min", PrimOp::Min, 2), std::tuple("max", PrimOp::Max, 2),
                                           std::tuple("select", PrimOp::Select, 3)}) {
    if (!in_.accept(name)) continue;
    std::vector<PrimExpr> args;
    in_.expect("(");
    for (int i = 0; i < operands; ++i) {
      if (i != 0) in_.expect(",");
      args.push_back(expr());
    }
    in_.expect(")");
    return PrimExpr::make(op, std::move(args));
  }
  const size_t start = in_.offset();
  if (in_.at_string() || in_.try_word()) {
    in_.move_to(start);
    return var();
  }
  return PrimExpr(in_.integer());
}

std::vector<PrimExpr> InfoParser::dims() {
  std::vector<PrimExpr> all;
  in_.expect("(");
  while (!in_.comes(")")) {
    all.push_back(expr());
    if (!in_.accept(",")) break;
  }
  in_.expect(")");
  return all;
}

DType InfoParser::dtype() {
  const size_t start = in_.offset();
  const std::string_view name = in_.word("a dtype");
  if (name == "none") return DType::None;
  const auto found = parse_dtype(name);
  if (!found) in_.fail_at(start, fmt::format("there is no dtype {}", name));
  return *found;
}

StructInfo InfoParser::shaped(InfoKind kind) {
  StructInfoNode node;
  node.kind = kind;
  if (in_.accept("[")) {
    do {
      if (in_.comes("(")) {
        node.dims = dims();
        node.rank = static_cast<uint32_t>(node.dims->size());
      } else if (in_.accept("%")) {
        node.shape_var = var();
      } else if (in_.accept("ndim")) {
        in_.expect("=");
        node.rank = in_.count();
      } else {
        node.dtype = dtype();
      }
    } while (in_.accept(","));
    in_.expect("]");
  }
  return std::make_shared<const StructInfoNode>(std::move(node));
}

StructInfo InfoParser::function(bool pure) {
  StructInfoNode node;
  node.kind = InfoKind::Func;
  node.pure = pure;
  in_.expect("(");
  if (in_.accept("...")) {
    node.has_params = false;
  } else {
    while (!in_.comes(")")) {
      node.fields.push_back(info());
      if (!in_.accept(",")) break;
    }
  }
  in_.expect(")");
  in_.expect("->");
  node.result = info();
  return std::make_shared<const StructInfoNode>(std::move(node));
}

StructInfo InfoParser::info() {
  const Nesting nesting(depth_, in_);
  if (in_.accept("?")) return nullptr;
  if (in_.accept("Object")) return object_info();
  if (in_.accept("Tensor")) return shaped(InfoKind::Tensor);
  if (in_.accept("Shape")) return shaped(InfoKind::Shape);
  if (in_.accept("fn")) return function(true);
  if (in_.accept("impure")) {
    in_.expect("fn");
    return function(false);
  }
  if (in_.accept("Prim")) {
    in_.expect("[");
    const DType type = dtype();
    StructInfo prim = in_.accept(",") ? prim_info(type, expr()) : prim_info(type);
    in_.expect("]");
    return prim;
  }
  in_.expect("(");
  std::vector<StructInfo> fields;
  while (!in_.comes(")")) {
    fields.push_back(info());
    if (!in_.accept(",")) break;
  }
  in_.expect(")");
  return tuple_info(std::move(fields));
}

}  // namespace ingot::vm
