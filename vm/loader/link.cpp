#include <algorithm>
#include <cstring>

#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"
#include "vm/isa/decode.h"
#include "vm/loader/layouts.h"
#include "vm/loader/linked.h"

namespace ingot::vm {
namespace {

void write_u32(CodeUnit* at, uint32_t value) { std::memcpy(at, &value, sizeof value); }

// Sites are in order of units, and so is the walk.
void renumber_sites(LinkedFunction& function) {
  for (size_t i = 0; i < function.facts->sites.size(); ++i) {
    const AllocSite& site = function.facts->sites[i];
    CodeUnit* at = function.code.data() + site.unit;
    const OpcodeInfo& info = opcode_info(site.opcode);
    write_u32(at + operand_offset(info, site.opcode == Opcode::AllocView ? 2 : 1), static_cast<uint32_t>(i));
  }
  for (size_t i = 0; i < function.facts->kernels.size(); ++i)
    write_u32(function.code.data() + function.facts->kernels[i].unit + 1, static_cast<uint32_t>(i));
}

// The dimensions that a checked value has, where they only use entry dimensions.
bool link_checked(LinkedOperand& operand, const StructInfo& info, std::span<const SymVar> entry) {
  if (info->kind != InfoKind::Tensor || !info->dims || info->dtype == DType::None) return false;
  bool known = true;
  for_each_var(info, [&](const SymVar& var) { known &= std::find(entry.begin(), entry.end(), var) != entry.end(); });
  if (!known) return false;
  operand.dtype = info->dtype;
  for (const PrimExpr& dim : *info->dims) operand.dims.emplace_back(dim, VarSlots(entry));
  return true;
}

bool link_operand(LinkedOperand& operand, const ValueClass& value_class, const Program& program, const Function& source,
                  const FunctionFacts& facts) {
  const std::span<const SymVar> entry = std::span(source.vars).first(facts.entry_dims);
  const Origin origin = operand.origin;
  if (value_class.is(Kind::Scalar)) {
    operand.dtype = value_class.dtype;
    return true;
  }
  switch (origin.from) {
    case Origin::From::Site:
      operand.dtype = source.storages[facts.sites[origin.index].storage].dtype;
      return true;
    case Origin::From::Constant: {
      const Constant& constant = program.constants[origin.index];
      operand.dtype = constant.dtype;
      for (const int64_t dim : constant.dims) operand.dims.emplace_back(PrimExpr(dim), VarSlots(entry));
      return constant.kind == Kind::Tensor;
    }
    case Origin::From::Param: {
      if (!facts.params_check) return false;
      const StructInfo& info = source.checks[*facts.params_check].info;
      return origin.index < info->fields.size() && link_checked(operand, info->fields[origin.index], entry);
    }
    case Origin::From::Check:
      return link_checked(operand, source.checks[origin.index].info, entry);
    case Origin::From::Unknown:
      return false;
  }
  return false;
}

std::vector<LinkedKernel> link_kernels(const Program& program, const Function& source, const FunctionFacts& facts) {
  std::vector<LinkedKernel> kernels(facts.kernels.size());
  for (size_t k = 0; k < kernels.size(); ++k) {
    const KernelSite& site = facts.kernels[k];
    kernels[k].known = facts.plan_unit.has_value();
    for (size_t i = 0; i < site.operands.size(); ++i) {
      LinkedOperand operand{site.operands[i], DType::None, {}};
      if (!link_operand(operand, site.classes[i], program, source, facts)) kernels[k].known = false;
      kernels[k].operands.push_back(std::move(operand));
    }
  }
  return kernels;
}

std::vector<LinkedBound> link_bounds(const Function& source, const FunctionFacts& facts) {
  std::vector<LinkedBound> bounds;
  if (source.bounds.empty() || !facts.params_check) return bounds;
  const Check& check = source.checks[*facts.params_check];
  uint32_t position = 0;
  for_each_var(check.info, [&](const SymVar& var) {
    for (const Bound& bound : source.bounds)
      if (source.vars[bound.var] == var && check.binds[position]) bounds.push_back({position, bound.most});
    ++position;
  });
  return bounds;
}

LinkedFunction link_function(const Program& program, const ProgramFacts& facts,
                             const std::shared_ptr<const ClosureInfos>& closures, uint32_t index) {
  const Function& source = program.functions[index];
  LinkedFunction function;
  function.source = &source;
  function.facts = &facts.functions[index];
  function.index = index;
  function.params = source.params;
  function.captures = source.captures;
  function.registers = source.registers;
  function.entry_dims = function.facts->entry_dims;
  function.code = source.code;
  function.entry = function.code.data() + function.facts->direct_entry;
  renumber_sites(function);
  function.checks.reserve(source.checks.size());
  for (const Check& check : source.checks) {
    function.checks.emplace_back(check);
    function.checks.back().set_closure_infos(closures);
  }
  function.bounds = link_bounds(source, *function.facts);
  for (const PrimExpr& expr : source.exprs) {
    std::vector<SymVar> vars;
    for_each_var(expr, [&](const SymVar& var) { vars.push_back(var); });
    function.exprs.emplace_back(expr, VarSlots(vars));
  }
  const VarSlots entry(std::span(source.vars).first(function.entry_dims));
  function.storages.resize(source.storages.size());
  for (const AllocSite& site : function.facts->sites) {
    LinkedStorage& storage = function.storages[site.storage];
    const Storage& from = source.storages[site.storage];
    if (storage.dtype != DType::None) continue;
    storage.dtype = from.dtype;
    for (const PrimExpr& dim : from.dims) storage.dims.emplace_back(dim, entry);
  }
  function.kernels = link_kernels(program, source, *function.facts);
  std::vector<bool> known;
  for (const LinkedKernel& kernel : function.kernels) known.push_back(kernel.known);
  function.layouts = assign_layouts(program, source, *function.facts, known);
  return function;
}

Ref<TensorObject> string_tensor(const Constant& constant) {
  auto tensor = make_tensor(nullptr, DType::String, constant.dims);
  auto* elements = tensor->elements<StringObject*>();
  for (size_t i = 0; i < constant.strings.size(); ++i) elements[i] = make_string(nullptr, constant.strings[i]).detach();
  return tensor;
}

Ref<TensorObject> mapped_tensor(const Constant& constant) {
  // Nobody writes to constants: kernels only write to what the function allocated, PackedFuncs see read_only.
  auto* data = const_cast<std::byte*>(constant.bytes.data());
  return wrap_tensor(nullptr, constant.dtype, constant.dims, data, nullptr);
}

}  // namespace

ConstantTable::ConstantTable(std::span<const Constant> constants) {
  slots_.reserve(constants.size());
  objects_.reserve(constants.size());
  const auto keep = [&](auto ref) {
    ref->counting = Counting::Uncounted;
    Object* object = ref.detach();
    objects_.emplace_back(object, [](void* o) { destroy(static_cast<Object*>(o)); });
    slots_.push_back(Slot::of(object));
  };
  for (const Constant& constant : constants) {
    switch (constant.kind) {
      case Kind::Tensor: {
        auto tensor = constant.dtype == DType::String ? string_tensor(constant) : mapped_tensor(constant);
        tensor->read_only = true;
        keep(std::move(tensor));
        break;
      }
      case Kind::Shape:
        keep(make_shape(nullptr, constant.dims));
        break;
      case Kind::String:
        keep(make_string(nullptr, constant.text));
        break;
      case Kind::DType:
        slots_.push_back(Slot::immediate(Kind::DType, DType::None, static_cast<uint8_t>(constant.bits)));
        break;
      case Kind::Scalar:
      case Kind::Prim:
        slots_.push_back(Slot::immediate(constant.kind, constant.dtype, constant.bits));
        break;
      default:
        slots_.emplace_back();
    }
  }
}

std::optional<std::vector<int64_t>> greatest_dims(const LinkedFunction& function) {
  std::vector<int64_t> dims;
  for (const Bound& bound : function.source->bounds)
    if (bound.var == dims.size() && bound.var < function.entry_dims) dims.push_back(bound.most);
  if (dims.size() != function.entry_dims) return std::nullopt;
  return dims;
}

LinkedProgram link(const Program& program, const ProgramFacts& facts) {
  LinkedProgram linked;
  const auto closures = std::make_shared<const ClosureInfos>(program);
  linked.functions.reserve(program.functions.size());
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    try {
      linked.functions.push_back(link_function(program, facts, closures, i));
    } catch (Error& error) {
      error.add_context("@" + program.functions[i].name);
      throw;
    }
  }
  linked.constants = ConstantTable(program.constants);
  return linked;
}

}  // namespace ingot::vm
