#include "vm/isa/builtins.h"

#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"
#include "vm/interpreter/instructions.h"

// One function for each line of builtins.def.
namespace ingot::vm {
namespace {

// The arguments of one call: registers that are read.
struct Args {
  Machine& m;
  const Slot* registers;
  std::span<const Register> list;

  size_t size() const { return list.size(); }
  const Slot& operator[](size_t i) const { return registers[list[i]]; }
};

[[noreturn]] void fail_kind(std::string_view builtin, size_t index, const Slot& value, std::string_view wanted) {
  fail(ErrorCode::TypeError, "{}: argument {} is {}, {} is wanted", builtin, index, describe_value(value), wanted);
}

const TensorObject& tensor_at(const Args& args, size_t i, std::string_view builtin) {
  if (args[i].kind != Kind::Tensor) fail_kind(builtin, i, args[i], "a tensor");
  return *static_cast<const TensorObject*>(args[i].object);
}

const ShapeObject& shape_at(const Args& args, size_t i, std::string_view builtin) {
  if (args[i].kind != Kind::Shape) fail_kind(builtin, i, args[i], "a shape");
  return *static_cast<const ShapeObject*>(args[i].object);
}

Value shape_of(const Args& args) {
  if (args[0].kind == Kind::Scalar) return Value(make_shape(&args.m.pool, {}));
  return Value(make_shape(&args.m.pool, tensor_at(args, 0, "shape_of").dims()));
}

Value shape_to_tensor(const Args& args) {
  const auto dims = shape_at(args, 0, "shape_to_tensor").dims();
  const int64_t rank = static_cast<int64_t>(dims.size());
  auto tensor = make_tensor(&args.m.pool, DType::Int64, {&rank, 1});
  std::copy(dims.begin(), dims.end(), tensor->elements<int64_t>());
  return Value(std::move(tensor));
}

Value tensor_to_shape(const Args& args) {
  const TensorObject& tensor = tensor_at(args, 0, "tensor_to_shape");
  if (tensor.dtype != DType::Int64) fail_kind("tensor_to_shape", 0, args[0], "a tensor of int64");
  if (tensor.rank != 1)
    fail(ErrorCode::ShapeMismatch, "tensor_to_shape: the tensor has rank {}, 1 is wanted", tensor.rank);
  const std::span<const int64_t> dims(tensor.elements<int64_t>(), static_cast<size_t>(tensor.dims()[0]));
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < 0) fail(ErrorCode::ShapeMismatch, "tensor_to_shape: dimension {} = {} is negative", i, dims[i]);
  return Value(make_shape(&args.m.pool, dims));
}

Value reshape(const Args& args) {
  const auto dims = shape_at(args, 1, "reshape").dims();
  const Slot& of = args[0];
  if (of.kind != Kind::Tensor && of.kind != Kind::Scalar) fail_kind("reshape", 0, of, "a tensor");
  auto tensor = of.kind == Kind::Tensor && static_cast<const TensorObject*>(of.object)->in_arena
                    ? copy_tensor(&args.m.pool, *static_cast<const TensorObject*>(of.object))
                    : to_tensor(&args.m.pool, Value::copy_of(of));
  return to_value(make_view(&args.m.pool, std::move(tensor), dims));
}

constexpr Value (*kFunctions[])(const Args&) = {
#define BUILTIN(name, min_args, max_args, meaning) name,
#include "vm/isa/builtins.def"
};

}  // namespace

Slot call_builtin(Machine& m, uint16_t builtin, const Slot* registers, std::span<const Register> args) {
  Value result = kFunctions[builtin](Args{m, registers, args});
  return result.detach();
}

}  // namespace ingot::vm
