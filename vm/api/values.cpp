#include "runtime/checks/describe.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/value_text.h"
#include "vm/api/border.h"
#include "vm/api/entries.h"

namespace ingot::vm::api {
namespace {

[[noreturn]] void fail_kind(const ingot_value& value, std::string_view wanted) {
  fail(ErrorCode::TypeError, "the value is {}, {} was asked for", describe_value(value.value.slot()), wanted);
}

template <typename T>
const T& object_of(const ingot_value* value, Kind kind, std::string_view wanted) {
  if (required(value, "value").value.kind() != kind) fail_kind(*value, wanted);
  return *value->value.get<T>();
}

// Memory of the host behind a tensor. Whoever gets an error still owns it, so `release` is set last.
struct Lent {
  Lent() = default;
  ~Lent() {
    if (release != nullptr) release(context);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  void* context = nullptr;
  void (*release)(void* context) = nullptr;
};

DType checked_dtype(ingot_dtype dtype) {
  if (dtype <= INGOT_NO_DTYPE || dtype >= INGOT_STRING)
    fail(ErrorCode::InvalidArgument, "a tensor of the host cannot have dtype number {}", static_cast<int>(dtype));
  return static_cast<DType>(dtype);
}

std::span<const int64_t> dims_of(const ingot_tensor& tensor) {
  if (tensor.rank != 0) required(tensor.dims, "dims");
  return {tensor.dims, tensor.rank};
}

}  // namespace

ingot_error* value_from_tensor(const ingot_tensor* tensor, ingot_value** value) {
  return guarded([&] {
    required(value, "value");
    const ingot_tensor& from = required(tensor, "tensor");
    auto copy = make_tensor(nullptr, checked_dtype(from.dtype), dims_of(from));
    if (copy->bytes != 0) std::memcpy(copy->data, &required(static_cast<std::byte*>(from.data), "data"), copy->bytes);
    *value = hand_out(to_value(std::move(copy)));
  });
}

ingot_error* value_wrap_tensor(const ingot_tensor* tensor, void* context, void (*release)(void* context),
                               ingot_value** value) {
  return guarded([&] {
    required(value, "value");
    const ingot_tensor& from = required(tensor, "tensor");
    const DType dtype = checked_dtype(from.dtype);
    auto* data = static_cast<std::byte*>(from.data);
    if (byte_size(dtype, dims_of(from)) != 0) required(data, "data");
    auto owner = std::make_shared<Lent>();
    auto wrapped = wrap_tensor(nullptr, dtype, dims_of(from), data, owner);
    wrapped->read_only = true;
    ingot_value* const handle = hand_out(to_value(std::move(wrapped)));
    owner->context = context;
    owner->release = release;
    *value = handle;
  });
}

ingot_error* value_tensor(const ingot_value* value, ingot_tensor* tensor) {
  return guarded([&] {
    ingot_tensor& view = required(tensor, "tensor");
    const Slot& slot = required(value, "value").value.slot();
    if (slot.kind == Kind::Scalar) {
      // The payload lies in the handle, which callers see as immutable.
      view = {static_cast<ingot_dtype>(slot.dtype), 0, nullptr, const_cast<void*>(slot.payload())};
      return;
    }
    const auto& object = object_of<TensorObject>(value, Kind::Tensor, "a tensor");
    view = {static_cast<ingot_dtype>(object.dtype), object.rank, object.dims().data(), object.data};
  });
}

ingot_error* value_from_shape(const int64_t* dims, uint32_t rank, ingot_value** value) {
  return guarded([&] {
    required(value, "value");
    const std::span<const int64_t> all(rank != 0 ? &required(dims, "dims") : nullptr, rank);
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i] < 0) fail(ErrorCode::ShapeMismatch, "dimension {} of shape {} is negative", i, shape_text(all));
    *value = hand_out(Value(make_shape(nullptr, all)));
  });
}

ingot_error* value_shape(const ingot_value* value, const int64_t** dims, uint32_t* rank) {
  return guarded([&] {
    const auto& shape = object_of<ShapeObject>(value, Kind::Shape, "a shape");
    required(dims, "dims") = shape.dims().data();
    required(rank, "rank") = shape.rank;
  });
}

ingot_error* value_from_prim_int(int64_t number, ingot_value** value) {
  return guarded([&] { required(value, "value"), *value = hand_out(Value::prim(number)); });
}

ingot_error* value_prim_int(const ingot_value* value, int64_t* number) {
  return guarded([&] {
    const Slot& slot = required(value, "value").value.slot();
    if (slot.kind != Kind::Prim || slot.dtype == DType::Float64) fail_kind(*value, "a prim of int64 or bool");
    required(number, "number") = slot.as<int64_t>();
  });
}

ingot_error* value_from_prim_bool(int truth, ingot_value** value) {
  return guarded([&] { required(value, "value"), *value = hand_out(Value::prim(truth != 0)); });
}

ingot_error* value_from_prim_float(double number, ingot_value** value) {
  return guarded([&] { required(value, "value"), *value = hand_out(Value::prim(number)); });
}

ingot_error* value_prim_float(const ingot_value* value, double* number) {
  return guarded([&] {
    const Slot& slot = required(value, "value").value.slot();
    if (slot.kind != Kind::Prim || slot.dtype != DType::Float64) fail_kind(*value, "a prim of float64");
    required(number, "number") = slot.as<double>();
  });
}

ingot_error* value_from_text(const char* text, size_t length, ingot_value** value) {
  return guarded([&] {
    required(value, "value");
    const std::string_view view(length != 0 ? &required(text, "text") : "", length);
    *value = hand_out(Value(make_string(nullptr, view)));
  });
}

ingot_error* value_text(const ingot_value* value, const char** text, size_t* length) {
  return guarded([&] {
    const std::string_view view = object_of<StringObject>(value, Kind::String, "a string").text();
    required(text, "text") = view.data();
    required(length, "length") = view.size();
  });
}

ingot_error* value_from_tuple(const ingot_value* const* fields, size_t count, ingot_value** value) {
  return guarded([&] {
    required(value, "value");
    std::vector<Value> values;
    for (size_t i = 0; i < count; ++i) values.push_back(keep(required(fields[i], "field")));
    *value = hand_out(Value(ingot::make_tuple(nullptr, values)));
  });
}

ingot_error* value_tuple_size(const ingot_value* value, size_t* count) {
  return guarded([&] { required(count, "count") = object_of<TupleObject>(value, Kind::Tuple, "a tuple").size; });
}

ingot_error* value_tuple_field(const ingot_value* value, size_t index, ingot_value** field) {
  return guarded([&] {
    required(field, "field");
    const auto size = object_of<TupleObject>(value, Kind::Tuple, "a tuple").size;
    if (index >= size) fail(ErrorCode::IndexOutOfRange, "field {} was asked of a tuple of {}", index, size);
    const Value kept = keep(*value);
    *field = hand_out(Value::copy_of(kept.get<TupleObject>()->fields()[index]));
  });
}

ingot_error* value_from_packed_func(const char* name, ingot_packed_func function, void* context,
                                    void (*destroy_context)(void*), ingot_value** value) {
  return guarded([&] {
    PackedFunction wrapped = wrap_packed_func(function, context, destroy_context);
    required(value, "value");
    *value = hand_out(Value(make_packed_func(name != nullptr ? name : "", std::move(wrapped))));
  });
}

ingot_kind value_kind(const ingot_value* value) { return static_cast<ingot_kind>(value->value.kind()); }

ingot_dtype value_dtype(const ingot_value* value) {
  const Slot& slot = value->value.slot();
  if (slot.kind == Kind::Tensor) return static_cast<ingot_dtype>(value->value.get<TensorObject>()->dtype);
  if (slot.kind == Kind::DType) return static_cast<ingot_dtype>(slot.as<uint8_t>());
  return static_cast<ingot_dtype>(slot.dtype);
}

ingot_error* value_print(const ingot_value* value, size_t limit, ingot_text_sink sink, void* context) {
  return guarded([&] {
    const std::string text = ingot::value_text(required(value, "value").value, limit == 0 ? SIZE_MAX : limit);
    if (sink == nullptr) fail(ErrorCode::InvalidArgument, "sink is null");
    sink(context, text.data(), text.size());
  });
}

ingot_value* value_retain(const ingot_value* value) {
  ingot_value* copy = nullptr;
  ingot_error* error = guarded([&] { copy = hand_out(keep(required(value, "value"))); });
  if (error != nullptr) destroy_error(error);
  return copy;
}

void value_destroy(ingot_value* value) { std::unique_ptr<ingot_value>(value).reset(); }

}  // namespace ingot::vm::api
