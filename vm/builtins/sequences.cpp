#include <algorithm>

#include "vm/builtins/builtins.h"

// Sequences are tuples; an optional is its value or none.
namespace ingot::vm::builtins {
namespace {

// What a result keeps must not lie in an arena, and a scalar stays one.
Value lasting(const Args& args, const Slot& slot) {
  if (slot.kind == Kind::Tensor && static_cast<const TensorObject*>(slot.object)->in_arena)
    return Value(copy_tensor(args.pool(), *static_cast<const TensorObject*>(slot.object)));
  return Value::copy_of(slot);
}

std::vector<Value> fields_of(const Args& args, size_t i) {
  std::vector<Value> fields;
  for (const Slot& field : args.sequence(i).fields()) fields.push_back(Value::copy_of(field));
  return fields;
}

size_t position(const Args& args, size_t i, size_t size, size_t end) {
  const int64_t at = args.integer(i);
  const int64_t place = at < 0 ? at + static_cast<int64_t>(size) : at;
  if (place < 0 || place >= static_cast<int64_t>(end))
    args.fail(ErrorCode::IndexOutOfRange, "position {} is outside of a sequence of {}", at, size);
  return static_cast<size_t>(place);
}

std::vector<Ref<TensorObject>> tensors_of(const Args& args, std::span<const Slot> slots) {
  std::vector<Ref<TensorObject>> tensors;
  for (const Slot& slot : slots) {
    if (slot.kind != Kind::Tensor && slot.kind != Kind::Scalar)
      args.fail(ErrorCode::TypeError, "the sequence has a {}, tensors are wanted", kind_name(slot.kind));
    tensors.push_back(to_tensor(args.pool(), Value::copy_of(slot)));
    if (tensors.back()->dtype != tensors[0]->dtype || tensors.back()->rank != tensors[0]->rank)
      args.fail(ErrorCode::ShapeMismatch, "tensors of different dtypes or ranks: {} {} and {} {}",
                dtype_name(tensors[0]->dtype), shape_text(tensors[0]->dims()), dtype_name(tensors.back()->dtype),
                shape_text(tensors.back()->dims()));
  }
  return tensors;
}

Value concatenate(const Args& args, const std::vector<Ref<TensorObject>>& parts, size_t axis) {
  Dims dims = dims_of(*parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    for (size_t d = 0; d < dims.size(); ++d)
      if (d != axis && parts[i]->dims()[d] != dims[d])
        args.fail(ErrorCode::ShapeMismatch, "tensor {} has shape {}, the first has {}", i, shape_text(parts[i]->dims()),
                  shape_text(parts[0]->dims()));
    dims[axis] += parts[i]->dims()[axis];
  }
  auto result = args.make(parts[0]->dtype, dims);
  const auto inner = static_cast<size_t>(product(std::span<const int64_t>(dims).subspan(axis + 1)));
  const auto outer = static_cast<size_t>(product(std::span<const int64_t>(dims).first(axis)));
  size_t at = 0;
  for (size_t o = 0; o < outer; ++o)
    for (const auto& part : parts) {
      const size_t run = static_cast<size_t>(part->dims()[axis]) * inner;
      if (result->dtype == DType::String) {
        for (size_t i = 0; i < run; ++i) copy_element(*result, at + i, *part, o * run + i);
      } else {
        const size_t bytes = dtype_bytes(result->dtype);
        std::memcpy(result->data + at * bytes, part->data + o * run * bytes, run * bytes);
      }
      at += run;
    }
  return Value(std::move(result));
}

Value joined(const Args& args, std::vector<Ref<TensorObject>> parts, int64_t axis, bool new_axis) {
  const size_t place = args.normal_axis(axis, parts[0]->rank + (new_axis ? 1 : 0));
  if (new_axis)
    for (auto& part : parts) {
      Dims dims = dims_of(*part);
      dims.insert(dims.begin() + static_cast<ptrdiff_t>(place), 1);
      part = part->in_arena ? make_view(args.pool(), copy_tensor(args.pool(), *part), dims)
                            : make_view(args.pool(), part, dims);
    }
  return concatenate(args, parts, place);
}

}  // namespace

Value sequence_insert(const Args& args) {
  auto fields = fields_of(args, 0);
  const size_t at = args.has(2) ? position(args, 2, fields.size(), fields.size() + 1) : fields.size();
  fields.insert(fields.begin() + static_cast<ptrdiff_t>(at), lasting(args, args[1]));
  return tuple_value(args.pool(), std::move(fields));
}

Value sequence_erase(const Args& args) {
  auto fields = fields_of(args, 0);
  if (fields.empty()) args.fail(ErrorCode::IndexOutOfRange, "the sequence is empty");
  const size_t at = args.has(1) ? position(args, 1, fields.size(), fields.size()) : fields.size() - 1;
  fields.erase(fields.begin() + static_cast<ptrdiff_t>(at));
  return tuple_value(args.pool(), std::move(fields));
}

Value sequence_at(const Args& args) {
  const auto& sequence = args.sequence(0);
  return Value::copy_of(sequence.fields()[position(args, 1, sequence.size, sequence.size)]);
}

Value sequence_length(const Args& args) {
  return Value::scalar(DType::Int64, static_cast<int64_t>(args.sequence(0).size));
}

Value concat_sequence(const Args& args) {
  const auto parts = tensors_of(args, args.sequence(0).fields());
  if (parts.empty()) args.fail(ErrorCode::InvalidArgument, "the sequence is empty");
  return joined(args, parts, args.integer(1), args.flag(2));
}

// A list is (rest, fields...) and ends with (): what a loop puts together in constant time per step.
Value stack_list(const Args& args) {
  const auto which = static_cast<size_t>(args.integer(1));
  std::vector<Slot> steps;
  const TupleObject* list = &args.sequence(0);
  while (list->size != 0) {
    if (which + 1 >= list->size || list->fields()[0].kind != Kind::Tuple)
      args.fail(ErrorCode::TypeError, "the list has no field {}", which);
    steps.push_back(list->fields()[which + 1]);
    list = static_cast<const TupleObject*>(list->fields()[0].object);
  }
  if (!args.flag(3)) std::reverse(steps.begin(), steps.end());
  if (steps.empty()) {
    Dims dims = args.integers(5);
    const auto prototype = args.tensor(4);
    const size_t axis = args.axis(2, dims.size() + 1);
    dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), 0);
    return Value(args.make(prototype->dtype, dims));
  }
  return joined(args, tensors_of(args, steps), args.integer(2), true);
}

Value has_element(const Args& args) { return Value::scalar(DType::Bool, args.has(0)); }

Value raise(const Args& args) { throw Error(ErrorCode::ShapeMismatch, std::string(args.text(0))); }

}  // namespace ingot::vm::builtins
