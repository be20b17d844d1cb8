#include "runtime/symbolic/codec.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace ingot {
namespace {

// Tuples of programs may be nested deeper than their dimensions.
constexpr uint32_t kMaxInfoDepth = 2048;

enum Present : uint8_t { kRank = 1, kDims = 2, kShapeVar = 4, kValue = 8, kParams = 16, kPure = 32, kResult = 64 };

class Decoder {
 public:
  Decoder(ByteReader& in, const SymVarTable& vars) : in_(in), vars_(vars) {}

  PrimExpr expr(uint32_t depth) {
    if (depth > kMaxExprDepth)
      fail(ErrorCode::CorruptFile, "a symbolic expression is nested deeper than {}", kMaxExprDepth);
    const auto op = in_.get<uint8_t>();
    if (op > static_cast<uint8_t>(PrimOp::Select)) fail(ErrorCode::CorruptFile, "symbolic operator {} is unknown", op);
    const auto kind = static_cast<PrimOp>(op);
    if (kind == PrimOp::Const) return in_.get<int64_t>();
    if (kind == PrimOp::Var) return vars_.var(in_.get<uint32_t>());
    std::vector<PrimExpr> operands(operand_count(kind));
    for (PrimExpr& operand : operands) operand = expr(depth + 1);
    try {
      return PrimExpr::make(kind, std::move(operands));
    } catch (const Error& error) {
      fail(ErrorCode::CorruptFile, "{}", error.what());
    }
  }

  StructInfo info(uint32_t depth) {
    const auto node = std::make_shared<StructInfoNode>();
    const uint8_t present = own_parts(*node, depth);
    for (StructInfo& field : node->fields) field = info(depth + 1);
    if (present & kResult) node->result = info(depth + 1);
    check(*node, present);
    return node;
  }

 private:
  template <typename T>
  static T checked_enum(uint8_t value, uint8_t last, const char* what) {
    if (value > last) fail(ErrorCode::CorruptFile, "{} {} is unknown", what, value);
    return static_cast<T>(value);
  }

  // All but the infos inside, for which it makes room. Apart from the recursion, whose frames are small so.
  [[gnu::noinline]] uint8_t own_parts(StructInfoNode& node, uint32_t depth) {
    if (depth > kMaxInfoDepth) fail(ErrorCode::CorruptFile, "a StructInfo is nested deeper than {}", kMaxInfoDepth);
    node.kind = checked_enum<InfoKind>(in_.get<uint8_t>(), static_cast<uint8_t>(InfoKind::Func), "StructInfo kind");
    node.dtype = checked_enum<DType>(in_.get<uint8_t>(), static_cast<uint8_t>(DType::String), "dtype");
    const auto present = in_.get<uint8_t>();
    if (present & kRank) node.rank = in_.get<uint32_t>();
    if (present & kDims) node.dims = dims();
    if (present & kShapeVar) node.shape_var = vars_.var(in_.get<uint32_t>());
    if (present & kValue) node.value = expr(1);
    node.has_params = (present & kParams) != 0;
    node.pure = (present & kPure) != 0;
    node.fields.resize(in_.get_count(3 + sizeof(uint32_t)));
    return present;
  }

  std::vector<PrimExpr> dims() {
    std::vector<PrimExpr> result(in_.get_count(1 + sizeof(uint32_t)));
    for (PrimExpr& dim : result) dim = expr(1);
    return result;
  }

  // What may be present in each kind.
  [[gnu::noinline]] static void check(const StructInfoNode& node, uint8_t present) {
    uint8_t allowed = kParams | kPure;
    if (node.kind == InfoKind::Tensor) allowed |= kRank | kDims | kShapeVar;
    if (node.kind == InfoKind::Shape) allowed |= kRank | kDims;
    if (node.kind == InfoKind::Prim) allowed |= kValue;
    if (node.kind == InfoKind::Func) allowed |= kResult;
    const bool typed = node.kind == InfoKind::Tensor || node.kind == InfoKind::Prim;
    const bool has_fields = node.kind == InfoKind::Tuple || (node.kind == InfoKind::Func && node.has_params);
    const bool fits = (present & ~allowed) == 0 && (typed || node.dtype == DType::None) &&
                      (node.kind != InfoKind::Prim || node.dtype != DType::None) &&
                      (has_fields || node.fields.empty()) &&
                      (node.kind == InfoKind::Func) == (node.result != nullptr) &&
                      (!node.dims || (node.rank == node.dims->size() && !node.shape_var)) &&
                      (node.kind == InfoKind::Func || (node.has_params && node.pure));
    if (!fits)
      fail(ErrorCode::CorruptFile, "a StructInfo of kind {} has parts that do not belong to it",
           static_cast<int>(node.kind));
  }

  ByteReader& in_;
  const SymVarTable& vars_;
};

// Apart from the recursion, whose frames are small so.
[[gnu::noinline]] void encode_own_parts(ByteWriter& out, const StructInfoNode& info, SymVarTable& vars) {
  uint8_t present = 0;
  if (info.rank) present |= kRank;
  if (info.dims) present |= kDims;
  if (info.shape_var) present |= kShapeVar;
  if (info.value) present |= kValue;
  if (info.has_params) present |= kParams;
  if (info.pure) present |= kPure;
  if (info.result) present |= kResult;
  out.put(info.kind);
  out.put(info.dtype);
  out.put(present);
  if (info.rank) out.put(*info.rank);
  if (info.dims) {
    out.put(static_cast<uint32_t>(info.dims->size()));
    for (const PrimExpr& dim : *info.dims) encode(out, dim, vars);
  }
  if (info.shape_var) out.put(vars.id_of(info.shape_var));
  if (info.value) encode(out, *info.value, vars);
  out.put(static_cast<uint32_t>(info.fields.size()));
}

[[noreturn, gnu::noinline]] void refuse_to_encode(const StructInfo& info) {
  if (!info) fail(ErrorCode::Internal, "a StructInfo to be encoded is null");
  fail(ErrorCode::Unsupported, "a StructInfo is nested deeper than {}", kMaxInfoDepth);
}

void encode_info(ByteWriter& out, const StructInfo& info, SymVarTable& vars, uint32_t depth) {
  if (!info || depth > kMaxInfoDepth) refuse_to_encode(info);
  encode_own_parts(out, *info, vars);
  for (const StructInfo& field : info->fields) encode_info(out, field, vars, depth + 1);
  if (info->result) encode_info(out, info->result, vars, depth + 1);
}

}  // namespace

uint32_t SymVarTable::id_of(const SymVar& var) {
  const auto found = ids_.find(var.get());
  if (found != ids_.end()) return found->second;
  add(var);
  return static_cast<uint32_t>(vars_.size() - 1);
}

void SymVarTable::add(SymVar var) {
  ids_.try_emplace(var.get(), static_cast<uint32_t>(vars_.size()));
  vars_.push_back(std::move(var));
}

const SymVar& SymVarTable::var(uint32_t id) const {
  if (id >= vars_.size())
    fail(ErrorCode::CorruptFile, "symbolic variable {} does not exist, there are {}", id, vars_.size());
  return vars_[id];
}

void encode(ByteWriter& out, const PrimExpr& expr, SymVarTable& vars) {
  out.put(expr.op());
  if (expr.op() == PrimOp::Const) out.put(expr.value());
  if (expr.op() == PrimOp::Var) out.put(vars.id_of(expr.var()));
  for (const PrimExpr& operand : expr.operands()) encode(out, operand, vars);
}

PrimExpr decode_prim_expr(ByteReader& in, const SymVarTable& vars) { return Decoder(in, vars).expr(1); }

void encode(ByteWriter& out, const StructInfo& info, SymVarTable& vars) { encode_info(out, info, vars, 1); }

StructInfo decode_struct_info(ByteReader& in, const SymVarTable& vars) { return Decoder(in, vars).info(1); }

}  // namespace ingot
