#include "runtime/object/objects.h"

#include "runtime/base/convert.h"
#include "runtime/checks/describe.h"
#include "runtime/checks/faults.h"
#include "runtime/tensor/tensor.h"
#include "vm/interpreter/instructions.h"
#include "vm/interpreter/small_array.h"

namespace ingot::vm {
namespace {

// The numbers in prim int64 registers.
struct Numbers : SmallArray<int64_t, 16> {
  Numbers(const Slot* registers, std::span<const Register> list) : SmallArray(list.size()) {
    for (size_t i = 0; i < list.size(); ++i) (*this)[i] = registers[list[i]].as<int64_t>();
  }
};

}  // namespace

void own(Machine& m, Slot& dst, const Slot& src) {
  Slot value = src;
  if (value.kind == Kind::Tensor && static_cast<const TensorObject*>(value.object)->in_arena) {
    value = Slot::of(copy_tensor(&m.pool, *static_cast<const TensorObject*>(value.object)).detach());
  } else if ((value.flags & Slot::kBorrowed) != 0) {
    value.flags &= static_cast<uint16_t>(~Slot::kBorrowed);
    retain(value);
  }
  dst = value;
}

Slot load_import(Machine& m, uint32_t import) {
  const ResolvedImport& resolved = m.imports[import];
  if (!resolved.function) throw Error(ErrorCode::NotAllowed, resolved.refusal);
  if (resolved.writes) fail_writing_value(m.executable->program().imports[import].name);
  auto function = resolved.function;
  return Slot::of(function.detach());
}

Slot make_tuple_of(Machine& m, const Slot* registers, std::span<const Register> fields) {
  auto tuple = make_object<TupleObject>(&m.pool, fields.size() * sizeof(Slot), static_cast<uint32_t>(fields.size()));
  Slot* to = tuple->fields().data();
  for (const Register field : fields) copy_slot(*to++, registers[field]);
  return Slot::of(tuple.detach());
}

Slot append_to(Machine& m, const Slot& sequence, const Slot& value) {
  if (sequence.kind != Kind::Tuple)
    fail(ErrorCode::TypeError, "append: the sequence is a {}, a tuple is wanted", kind_name(sequence.kind));
  auto* tuple = static_cast<TupleObject*>(sequence.object);
  const bool is_alone = tuple->counting == Counting::Local && tuple->count == 1 && tuple->pool == &m.pool;
  const uint32_t size = tuple->size;
  const size_t bytes = sizeof(TupleObject) + (size_t{size} + 1) * sizeof(Slot);
  if (is_alone && bytes <= MemoryPool::class_bytes(tuple->size_class)) {
    ++tuple->size;
    copy_slot(tuple->fields().back(), value);
    return sequence;
  }
  constexpr uint32_t kMostFields = UINT32_MAX / 2;
  if (size > kMostFields) fail(ErrorCode::InvalidArgument, "append: the sequence has {} fields", size);
  // Room for as many again, so that many values in a row take constant time each.
  const size_t room = is_alone ? 2 * size_t{size} + 1 : size_t{size} + 1;
  auto grown = make_object<TupleObject>(&m.pool, room * sizeof(Slot), size + 1);
  Slot* to = grown->fields().data();
  for (const Slot& field : tuple->fields()) {
    if (!is_alone) retain(field);
    copy_slot(*to++, field);
  }
  copy_slot(*to, value);
  // Its fields have moved.
  if (is_alone) tuple->size = 0;
  release(sequence);
  return Slot::of(grown.detach());
}

Slot make_closure_of(Machine& m, uint32_t function, const Slot* registers, std::span<const Register> captures) {
  auto closure = make_object<ClosureObject>(&m.pool, captures.size() * sizeof(Slot), function,
                                            static_cast<uint32_t>(captures.size()));
  Slot* to = closure->captures().data();
  for (const Register capture : captures) copy_slot(*to++, registers[capture]);
  return Slot::of(closure.detach());
}

Slot make_shape_of(Machine& m, const Slot* registers, std::span<const Register> dims) {
  Numbers numbers(registers, dims);
  require_dims(numbers);
  return Slot::of(make_shape(&m.pool, numbers).detach());
}

void fail_scalar_field(const Slot& tuple, int32_t index, DType dtype) {
  const Slot* const field = find_field(tuple, index);
  if (field == nullptr) fail_field(tuple, index);
  fail(ErrorCode::CastFailed, "field {} is {}, the annotation says a tensor () of {}", index, describe_value(*field),
       dtype_name(dtype));
}

int64_t get_dim(const Slot& value, int32_t index) {
  std::span<const int64_t> dims;
  if (value.kind == Kind::Tensor) dims = static_cast<const TensorObject*>(value.object)->dims();
  if (value.kind == Kind::Shape) dims = static_cast<const ShapeObject*>(value.object)->dims();
  if (index < 0 || static_cast<size_t>(index) >= dims.size())
    fail(ErrorCode::IndexOutOfRange, "dimension {} was asked of {}", index, describe_value(value));
  return dims[static_cast<size_t>(index)];
}

int64_t eval_dim(const CompiledExpr& expr, const Slot* registers, std::span<const Register> vars) {
  Numbers numbers(registers, vars);
  return expr.evaluate(numbers);
}

Slot scalar_to_prim(const Slot& scalar) {
  if (scalar.dtype == DType::Bool) return Slot::immediate(Kind::Prim, DType::Bool, scalar.bits);
  const DType to = is_float(scalar.dtype) ? DType::Float64 : DType::Int64;
  return Slot::immediate(Kind::Prim, to, cast_scalar(scalar, to));
}

uint64_t cast_scalar(const Slot& scalar, DType to) {
  return with_element(scalar.dtype, [&]<typename From>() {
    const From value = load_element<From>(scalar.payload());
    return with_element(to, [&]<typename To>() { return payload_bits(convert<To>(value)); });
  });
}

Slot new_tensor_dyn(Machine& m, DType dtype, const Slot* registers, std::span<const Register> dims) {
  Numbers numbers(registers, dims);
  return Slot::of(make_tensor(&m.pool, dtype, numbers).detach());
}

Slot new_view(Machine& m, const Slot& of, const Slot* registers, std::span<const Register> dims) {
  Numbers numbers(registers, dims);
  auto tensor = to_tensor(&m.pool, Value::copy_of(of));
  return to_value(make_view(&m.pool, std::move(tensor), numbers)).detach();
}

}  // namespace ingot::vm
