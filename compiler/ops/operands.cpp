#include "compiler/ops/operands.h"

#include <algorithm>
#include <charconv>

#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

namespace {

Operand checked(const CallSite& call, std::string name, const StructInfo& info) {
  if (info == nullptr || info->kind != InfoKind::Tensor)
    call.fail(ErrorCode::TypeError, "{} must be a tensor, it is {}", name, to_text(info));
  if (info->dtype == DType::None)
    call.fail(ErrorCode::TypeError, "the dtype of {} is not known; annotate it or use match_cast", name);
  if (!info->dims) call.fail(ErrorCode::TypeError, "the shape of {} is not known; annotate it or use match_cast", name);
  return {std::move(name), info};
}

std::string field_name(const CallSite& call, size_t i, size_t field) {
  if (const auto* tuple = as<Tuple>(call.arg(i)))
    if (const auto* var = as<Var>(tuple->fields[field])) return "%" + var->name;
  return fmt::format("field {} of {}", field, call.name_of(i));
}

}  // namespace

Operand operand(const CallSite& call, size_t i) {
  if (!call.has(i)) call.fail(ErrorCode::ArityMismatch, "argument {} is missing", i);
  return checked(call, call.name_of(i), call.info(i));
}

std::vector<Operand> operand_list(const CallSite& call, size_t i) {
  if (!call.has(i)) call.fail(ErrorCode::ArityMismatch, "argument {} is missing", i);
  if (call.info(i) == nullptr || call.info(i)->kind != InfoKind::Tuple) return {operand(call, i)};
  std::vector<Operand> result;
  const auto& fields = call.info(i)->fields;
  for (size_t k = 0; k < fields.size(); ++k) result.push_back(checked(call, field_name(call, i, k), fields[k]));
  return result;
}

std::vector<Operand> operands(const CallSite& call) {
  std::vector<Operand> result;
  for (size_t i = 0; i < call.size(); ++i) {
    const auto& info = call.info(i);
    if (info == nullptr) continue;
    if (info->kind == InfoKind::Tensor) result.push_back(operand(call, i));
    if (info->kind != InfoKind::Tuple) continue;
    const auto& fields = info->fields;
    for (size_t k = 0; k < fields.size(); ++k)
      if (fields[k]->kind != InfoKind::Prim) result.push_back(checked(call, field_name(call, i, k), fields[k]));
  }
  return result;
}

StructInfo tensor_like(const Operand& x) { return tensor_info(x.dtype(), x.dims()); }
StructInfo tensor_like(const Operand& x, Dims dims) { return tensor_info(x.dtype(), std::move(dims)); }

bool given(const CallSite& call, size_t i) { return call.has(i) && as<NullValue>(call.arg(i)) == nullptr; }

void require_float(const CallSite& call, const Operand& x) {
  if (!is_float(x.dtype()))
    call.fail(ErrorCode::TypeError, "{} must be of a float dtype, it is {}; convert it with cast", x.name,
              dtype_name(x.dtype()));
}

void require_numeric(const CallSite& call, const Operand& x) {
  if (!is_float(x.dtype()) && !is_integer(x.dtype()))
    call.fail(ErrorCode::TypeError, "{} must be of a numeric dtype, it is {}; convert it with cast", x.name,
              dtype_name(x.dtype()));
}

void require_integer(const CallSite& call, const Operand& x) {
  if (!is_integer(x.dtype()))
    call.fail(ErrorCode::TypeError, "{} must be of an integer dtype, it is {}; convert it with cast", x.name,
              dtype_name(x.dtype()));
}

void require_rank(const CallSite& call, const Operand& x, size_t rank) {
  if (x.rank() != rank)
    call.fail(ErrorCode::ShapeMismatch, "{} must have rank {}, it has rank {}: {}", x.name, rank, x.rank(),
              dims_text(x.dims()));
}

void require_same_dtype(const CallSite& call, const Operand& x, const Operand& y) {
  if (x.dtype() != y.dtype())
    call.fail(ErrorCode::TypeError, "dtypes differ: {} is {}, {} is {}; convert one with cast", x.name,
              dtype_name(x.dtype()), y.name, dtype_name(y.dtype()));
}

void require_equal(const CallSite& call, std::string_view what, const Operand& x, const PrimExpr& of_x,
                   const Operand& y, const PrimExpr& of_y) {
  const Proof equal = prove_equal(of_x, of_y);
  if (equal == Proof::Unknown) call.note_unproved();
  if (equal == Proof::No)
    call.fail(ErrorCode::ShapeMismatch, "{} differ: {} has {}, {} has {}", what, x.name, to_text(of_x), y.name,
              to_text(of_y));
}

void demand_equal(const CallSite& call, std::string_view what, const Operand& x, const PrimExpr& of_x, const Operand& y,
                  const PrimExpr& of_y) {
  require_equal(call, what, x, of_x, y, of_y);
  (void)differ(call, of_x, of_y);
}

bool differ(const CallSite& call, const PrimExpr& a, const PrimExpr& b) {
  const Proof equal = prove_equal(a, b);
  if (equal == Proof::Unknown) call.demand(PrimExpr::make(PrimOp::Equal, {simplify(a), simplify(b)}));
  return equal == Proof::No;
}

bool exceeds(const CallSite& call, const PrimExpr& a, const PrimExpr& b) {
  const Proof fits = prove_less_equal(a, b);
  if (fits == Proof::Unknown) call.demand(PrimExpr::make(PrimOp::LessEqual, {simplify(a), simplify(b)}));
  return fits == Proof::No;
}

int64_t normalize_axis(const CallSite& call, int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count)
    call.fail(ErrorCode::IndexOutOfRange, "axis {} lies outside of a tensor of rank {}", axis, rank);
  return axis < 0 ? axis + count : axis;
}

std::vector<int64_t> axes(const CallSite& call, std::string_view name, size_t rank) {
  std::vector<int64_t> result;
  if (!call.has_attr(name)) {
    for (size_t i = 0; i < rank; ++i) result.push_back(static_cast<int64_t>(i));
    return result;
  }
  for (const int64_t axis : call.integers(name)) result.push_back(normalize_axis(call, axis, rank));
  auto sorted = result;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) call.fail(ErrorCode::InvalidArgument, "axis {} is given twice", *twice);
  return result;
}

PrimExpr product(std::span<const PrimExpr> dims) {
  PrimExpr result = 1;
  for (const auto& dim : dims) result = result * dim;
  return simplify(result);
}

std::string dims_text(std::span<const PrimExpr> dims) {
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i) text += (i != 0 ? ", " : "") + to_text(dims[i]);
  return text + (dims.size() == 1 ? ",)" : ")");
}

std::vector<double> numbers_of(const CallSite& call, std::string_view name) {
  if (const auto found = call.attrs().find(name); found != call.attrs().end()) {
    if (const auto* numbers = std::get_if<std::vector<double>>(&found->second)) return *numbers;
    if (const auto* list = std::get_if<std::vector<int64_t>>(&found->second)) return {list->begin(), list->end()};
    return {call.number(name)};
  }
  std::vector<double> result;
  for (const std::string_view line : call.op().attributes) {
    if (attribute_name(line) != name) continue;
    const size_t equals = line.find('=');
    for (size_t at = equals == line.npos ? line.size() : equals + 1; at < line.size(); ++at) {
      double value = 0;
      const auto parsed = std::from_chars(line.data() + at, line.data() + line.size(), value);
      if (parsed.ec != std::errc{}) continue;
      result.push_back(value);
      at = static_cast<size_t>(parsed.ptr - line.data());
    }
  }
  return result;
}

DType dtype_of(const CallSite& call, std::string_view attribute, size_t i) {
  if (const auto found = call.attrs().find(attribute); found != call.attrs().end())
    if (const auto* text = std::get_if<std::string>(&found->second);
        text != nullptr && (text->empty() || *text == "void"))
      return DType::None;
  if (call.has_attr(attribute)) return call.dtype_attr(attribute);
  if (!call.has(i)) return DType::None;
  if (const auto* dtype = as<DataType>(call.arg(i))) return dtype->value;
  if (const auto* text = as<String>(call.arg(i))) {
    if (text->value.empty() || text->value == "void") return DType::None;
    if (const auto dtype = parse_dtype(text->value)) return *dtype;
    call.fail(ErrorCode::TypeError, "\"{}\" is not a dtype", text->value);
  }
  if (given(call, i)) call.fail(ErrorCode::TypeError, "{} is no dtype that is known at compile time", call.name_of(i));
  return DType::None;
}

std::optional<Dims> constant_integers(const CallSite& call, size_t i) {
  const auto& arg = call.arg(i);
  const auto& info = call.info(i);
  if (info != nullptr && info->kind == InfoKind::Shape && info->dims) return *info->dims;
  if (info != nullptr && info->kind == InfoKind::Prim && info->value) return Dims{*info->value};
  if (const auto* prim = as<PrimValue>(arg))
    if (const auto* expr = std::get_if<PrimExpr>(&prim->value)) return Dims{*expr};
  if (const auto* constant = as<Constant>(arg)) {
    const TensorObject& data = *constant->data;
    if (data.rank > 1) return std::nullopt;
    const size_t count = element_count(data.dims());
    Dims result;
    for (size_t k = 0; k < count; ++k) {
      if (data.dtype == DType::Int64) {
        result.emplace_back(data.elements<int64_t>()[k]);
      } else if (data.dtype == DType::Int32) {
        result.emplace_back(int64_t{data.elements<int32_t>()[k]});
      } else {
        return std::nullopt;
      }
    }
    return result;
  }
  if (info != nullptr && info->kind == InfoKind::Tuple && !info->fields.empty() &&
      std::ranges::all_of(info->fields, [](const auto& f) { return f->kind == InfoKind::Prim && f->value; })) {
    Dims result;
    for (const auto& field : info->fields) result.push_back(*field->value);
    return result;
  }
  if (const auto* tuple = as<Tuple>(arg)) {
    Dims result;
    for (size_t k = 0; k < tuple->fields.size(); ++k) {
      const Expr field = tuple->fields[k];
      const StructInfo field_info = info != nullptr && info->kind == InfoKind::Tuple ? info->fields[k] : nullptr;
      const CallSite inner(call.op(), {&field, 1}, {&field_info, 1}, Attrs{}, {});
      const auto values = constant_integers(inner, 0);
      if (!values || values->size() != 1) return std::nullopt;
      result.push_back(values->front());
    }
    return result;
  }
  return std::nullopt;
}

Dims dims_of(const CallSite& call, std::string_view attribute, size_t i) {
  if (given(call, i)) {
    if (const auto values = constant_integers(call, i)) return *values;
    call.fail(ErrorCode::TypeError, "the values of {} are not known at compile time; bind them with match_cast",
              call.name_of(i));
  }
  if (!call.has_attr(attribute)) call.fail(ErrorCode::ArityMismatch, "{} is missing", attribute);
  Dims result;
  for (const int64_t value : call.integers(attribute)) result.emplace_back(value);
  return result;
}

Effect total(const CallSite&) { return Effect::Total; }
Effect may_fail(const CallSite&) { return Effect::MayFail; }
Effect effectful(const CallSite&) { return Effect::Effect; }

}  // namespace ingot::ops
