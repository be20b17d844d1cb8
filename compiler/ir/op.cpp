#include "compiler/ir/op.h"

#include <algorithm>

#include "compiler/ir/attrs.h"

namespace ingot::ir {
namespace {

// The text behind "name=" of the attribute's line in ops.def; nullopt where it has no default or is not known.
std::optional<std::string_view> default_text(const Op& op, std::string_view name) {
  for (const std::string_view attribute : op.attributes) {
    const size_t equals = attribute.find('=');
    if (equals != std::string_view::npos && attribute_name(attribute) == name) return attribute.substr(equals + 1);
  }
  return std::nullopt;
}

std::string_view param_name(const Op& op, size_t i) {
  if (op.params.empty()) return {};
  std::string_view name = op.params[std::min(i, op.params.size() - 1)];
  return name.substr(0, name.find_first_of("|?."));
}

}  // namespace

std::string_view attribute_name(std::string_view line) { return line.substr(0, line.find_first_of("|=?")); }

bool names_attribute(std::string_view line, std::string_view name) {
  line = line.substr(0, line.find_first_of("=?"));
  while (!line.empty()) {
    const size_t end = std::min(line.find('|'), line.size());
    if (line.substr(0, end) == name) return true;
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return false;
}

CallSite::CallSite(const Op& op, std::span<const Expr> args, std::span<const StructInfo> infos, const Attrs& attrs,
                   std::span<const StructInfo> info_args)
    : op_(&op), args_(args), infos_(infos), attrs_(&attrs), info_args_(info_args) {
  if (args.size() != infos.size())
    ingot::fail(ErrorCode::Internal, "{}: {} arguments come with {} StructInfo", op.name, args.size(), infos.size());
}

void CallSite::demand(PrimExpr condition) const {
  for (const PrimExpr& known : demands_)
    if (same_expr(known, condition)) return;
  demands_.push_back(std::move(condition));
}

std::string CallSite::name_of(size_t i) const {
  if (const auto* var = as<Var>(args_[i]); var != nullptr && !var->name.empty()) return "%" + var->name;
  const std::string_view param = param_name(*op_, i);
  return param.empty() ? fmt::format("argument {}", i) : fmt::format("argument {} ({})", i, param);
}

const StructInfoNode& CallSite::tensor(size_t i) const {
  if (i >= infos_.size()) fail(ErrorCode::ArityMismatch, "argument {} is missing", i);
  const StructInfo& info = infos_[i];
  if (info == nullptr || info->kind != InfoKind::Tensor)
    fail(ErrorCode::TypeError, "{} must be a tensor, is {}", name_of(i), to_text(info));
  return *info;
}

std::span<const PrimExpr> CallSite::dims(size_t i) const {
  const StructInfoNode& info = tensor(i);
  if (!info.rank)
    fail(ErrorCode::TypeError, "the rank of {} is not known; annotate it or use match_cast(..., Tensor[(...), ...])",
         name_of(i));
  if (!info.dims)
    fail(ErrorCode::TypeError, "the dimensions of {} are not known; name them with match_cast(..., Tensor[(...), ...])",
         name_of(i));
  return *info.dims;
}

DType CallSite::dtype(size_t i) const {
  const StructInfoNode& info = tensor(i);
  if (info.dtype == DType::None)
    fail(ErrorCode::TypeError, "the dtype of {} is not known; annotate it or use match_cast", name_of(i));
  return info.dtype;
}

std::span<const PrimExpr> CallSite::shape(size_t i) const {
  if (i >= infos_.size()) fail(ErrorCode::ArityMismatch, "argument {} is missing", i);
  const StructInfo& info = infos_[i];
  // The evaluator knows the numbers where the argument as written has variables.
  if (info != nullptr && info->kind == InfoKind::Shape && info->dims) return *info->dims;
  if (const auto* shape = as<Shape>(args_[i])) return shape->dims;
  if (info == nullptr || info->kind != InfoKind::Shape)
    fail(ErrorCode::TypeError, "{} must be a shape, is {}", name_of(i), to_text(info));
  if (!info->dims)
    fail(ErrorCode::TypeError, "the dimensions of {} are not known; name them with match_cast(..., Shape[(...)])",
         name_of(i));
  return *info->dims;
}

const AttrValue* CallSite::find(std::string_view name) const {
  const auto found = attrs_->find(name);
  return found == attrs_->end() ? nullptr : &found->second;
}

std::optional<AttrValue> CallSite::value(std::string_view name) const {
  if (const AttrValue* given = find(name)) return *given;
  if (const auto text = default_text(*op_, name)) return parse_attr(*text);
  return std::nullopt;
}

AttrValue CallSite::required(std::string_view name) const {
  if (auto found = value(name)) return std::move(*found);
  fail(ErrorCode::TypeError, "attribute {} is missing", name);
}

int64_t CallSite::integer(std::string_view name) const {
  const AttrValue value = required(name);
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value); list != nullptr && list->size() == 1)
    return list->front();
  fail(ErrorCode::TypeError, "attribute {} must be an integer, is {}", name, to_text(value));
}

double CallSite::number(std::string_view name) const {
  const AttrValue value = required(name);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  fail(ErrorCode::TypeError, "attribute {} must be a number, is {}", name, to_text(value));
}

bool CallSite::flag(std::string_view name) const {
  const AttrValue value = required(name);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* integer = std::get_if<int64_t>(&value); integer != nullptr && (*integer == 0 || *integer == 1))
    return *integer == 1;
  fail(ErrorCode::TypeError, "attribute {} must be True or False, is {}", name, to_text(value));
}

std::string CallSite::text(std::string_view name) const {
  const AttrValue value = required(name);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  fail(ErrorCode::TypeError, "attribute {} must be a string, is {}", name, to_text(value));
}

std::vector<int64_t> CallSite::integers(std::string_view name) const {
  const AttrValue value = required(name);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) return *list;
  if (const auto* integer = std::get_if<int64_t>(&value)) return {*integer};
  fail(ErrorCode::TypeError, "attribute {} must be a list of integers, is {}", name, to_text(value));
}

DType CallSite::dtype_attr(std::string_view name) const {
  const AttrValue value = required(name);
  if (const auto* dtype = std::get_if<DType>(&value)) return *dtype;
  if (const auto* text = std::get_if<std::string>(&value))
    if (const auto dtype = parse_dtype(*text)) return *dtype;
  fail(ErrorCode::TypeError, "attribute {} must be a dtype, is {}", name, to_text(value));
}

bool CallSite::has_attr(std::string_view name) const { return value(name).has_value(); }

bool CallSite::is_list(std::string_view name) const {
  const auto found = value(name);
  return found && std::holds_alternative<std::vector<int64_t>>(*found);
}

int64_t CallSite::axis(std::string_view name, size_t rank) const {
  const int64_t given = integer(name);
  const auto limit = static_cast<int64_t>(rank);
  if (given < -limit || given >= limit) fail(ErrorCode::IndexOutOfRange, "{} is {}, the rank is {}", name, given, rank);
  return given < 0 ? given + limit : given;
}

}  // namespace ingot::ir
