#include "vm/api/entries.h"

namespace {

const char* library_version() { return INGOT_VERSION; }

// In the order of ingot_api, which only grows at its end.
constexpr ingot_api make_table() {
  using namespace ingot::vm::api;
  ingot_api table{};
  table.version = INGOT_API_VERSION;
  table.library_version = library_version;
#define ENTRY(name) table.name = ingot::vm::api::name;
  ENTRY(error_status)
  ENTRY(error_label)
  ENTRY(error_message)
  ENTRY(error_backtrace)
  ENTRY(error_create)
  ENTRY(error_destroy)
  ENTRY(load_file)
  ENTRY(load_memory)
  ENTRY(executable_destroy)
  ENTRY(function_count)
  ENTRY(function_name)
  ENTRY(function_signature)
  ENTRY(param_count)
  ENTRY(param_name)
  ENTRY(param_info)
  ENTRY(session_create)
  ENTRY(session_register)
  ENTRY(session_destroy)
  ENTRY(session_trim)
  ENTRY(session_memory)
  ENTRY(set_input)
  ENTRY(run)
  ENTRY(output_count)
  ENTRY(output)
  ENTRY(result)
  ENTRY(call)
  ENTRY(value_from_tensor)
  ENTRY(value_wrap_tensor)
  ENTRY(value_tensor)
  ENTRY(value_from_shape)
  ENTRY(value_shape)
  ENTRY(value_from_prim_int)
  ENTRY(value_prim_int)
  ENTRY(value_from_prim_bool)
  ENTRY(value_from_prim_float)
  ENTRY(value_prim_float)
  ENTRY(value_from_text)
  ENTRY(value_text)
  ENTRY(value_from_tuple)
  ENTRY(value_tuple_size)
  ENTRY(value_tuple_field)
  ENTRY(value_from_packed_func)
  ENTRY(value_kind)
  ENTRY(value_dtype)
  ENTRY(value_print)
  ENTRY(value_retain)
  ENTRY(value_destroy)
  ENTRY(cancel_token_create)
  ENTRY(cancel)
  ENTRY(cancel_token_reset)
  ENTRY(cancel_token_destroy)
  ENTRY(executable_describe)
  ENTRY(set_primitive_cache_capacity)
#undef ENTRY
  return table;
}

constexpr ingot_api kTable = make_table();

}  // namespace

const ingot_api* ingot_get_api(uint32_t version) {
  return version >= 1 && version <= INGOT_API_VERSION ? &kTable : nullptr;
}
