#pragma once
#include <new>

#include "vm/api/handles.h"

// The border of the C table: exceptions become error objects on the way out, error objects become exceptions on the way
// in.
namespace ingot::vm::api {

ingot_error* make_error(const Error& error);
ingot_error* make_error(const Fault& fault);
// There is no memory left even for an error: this one is shared and never destroyed.
ingot_error* out_of_memory();
void destroy_error(ingot_error* error);
// Throws what the error says, and destroys it.
[[noreturn]] void raise(ingot_error* error);

// Runs `body`; null, or the error that it threw.
template <typename Body>
ingot_error* guarded(const Body& body) noexcept {
  try {
    try {
      body();
      return nullptr;
    } catch (const Fault& fault) {
      return make_error(fault);
    } catch (const Error& error) {
      return make_error(error);
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    } catch (const std::exception& error) {
      return make_error(Error(ErrorCode::Internal, error.what()));
    } catch (...) {
      return make_error(Error(ErrorCode::Internal, "an unknown exception"));
    }
  } catch (...) {
    return out_of_memory();
  }
}

// InvalidArgument, naming the argument, where a pointer that must be given is null.
template <typename T>
T& required(T* pointer, std::string_view name) {
  if (pointer == nullptr) fail(ErrorCode::InvalidArgument, "{} is null", name);
  return *pointer;
}

// A new handle for a value.
ingot_value* hand_out(Value value);

// The value behind a handle as one that may be kept: arguments of PackedFuncs leave their session.
Value keep(const ingot_value& handle);

// The caller's options struct of any version: what it has of ours, zeros for the rest.
template <typename Options>
Options read_options(const Options* given) {
  Options options{};
  if (given != nullptr) std::memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
  return options;
}

// A PackedFunc of the host as one of ours. `destroy_context` (may be null) runs when the last user is gone.
PackedFunction wrap_packed_func(ingot_packed_func function, void* context, void (*destroy_context)(void*));

}  // namespace ingot::vm::api
