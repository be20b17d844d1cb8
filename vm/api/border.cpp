#include "vm/api/border.h"

namespace ingot::vm::api {
namespace {

ingot_error* make_error(const Error& error, std::string backtrace) {
  return std::make_unique<ingot_error>(
             ingot_error{static_cast<ingot_status>(error.code()), error.label(), error.what(), std::move(backtrace)})
      .release();
}

struct Context {
  Context(void* pointer_, void (*destroy_)(void*)) : pointer(pointer_), destroy(destroy_) {}
  ~Context() {
    if (destroy != nullptr) destroy(pointer);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void* pointer;
  void (*destroy)(void*);
};

// Numbers of the C table are those of the library.
static_assert(static_cast<int>(INGOT_INTERNAL) == static_cast<int>(ErrorCode::Internal));
static_assert(static_cast<int>(INGOT_CORRUPT_FILE) == static_cast<int>(ErrorCode::CorruptFile));
static_assert(static_cast<int>(INGOT_STRING) == static_cast<int>(DType::String));
static_assert(static_cast<int>(INGOT_FLOAT32) == static_cast<int>(DType::Float32));
static_assert(static_cast<int>(INGOT_OBJECT) == static_cast<int>(Kind::Object));
static_assert(static_cast<int>(INGOT_TENSOR) == static_cast<int>(Kind::Tensor));

}  // namespace

ingot_error* make_error(const Error& error) { return make_error(error, {}); }
ingot_error* make_error(const Fault& fault) { return make_error(fault, fault.backtrace()); }

ingot_error* out_of_memory() {
  static ingot_error error{INGOT_OUT_OF_MEMORY, "OutOfMemory", "", ""};
  return &error;
}

void destroy_error(ingot_error* error) {
  if (error != out_of_memory()) std::unique_ptr<ingot_error>(error).reset();
}

void raise(ingot_error* error) {
  const bool known = error->status >= 0 && error->status <= INGOT_INTERNAL;
  const Error copy(known ? static_cast<ErrorCode>(error->status) : ErrorCode::ForeignError, error->message);
  destroy_error(error);
  throw copy;
}

ingot_value* hand_out(Value value) {
  auto handle = std::make_unique<ingot_value>();
  handle->value = std::move(value);
  return handle.release();
}

Value keep(const ingot_value& handle) {
  return handle.args != nullptr ? handle.args->copy(handle.index) : handle.value;
}

PackedFunction wrap_packed_func(ingot_packed_func function, void* context, void (*destroy_context)(void*)) {
  auto owner = std::make_shared<Context>(context, destroy_context);
  if (function == nullptr) fail(ErrorCode::InvalidArgument, "the PackedFunc is null");
  return [function, owner](const PackedArgs& args) {
    std::vector<ingot_value> values(args.size());
    std::vector<const ingot_value*> pointers(args.size());
    for (size_t i = 0; i < args.size(); ++i) {
      Slot lent = args[i];
      lent.flags |= Slot::kBorrowed;
      values[i].value = Value::adopt(lent);
      values[i].args = &args;
      values[i].index = i;
      pointers[i] = &values[i];
    }
    ingot_value* result = nullptr;
    ingot_error* error = function(owner->pointer, pointers.data(), pointers.size(), &result);
    const std::unique_ptr<ingot_value> owned(result);
    if (error != nullptr) raise(error);
    return owned != nullptr ? keep(*owned) : Value();
  };
}

}  // namespace ingot::vm::api
