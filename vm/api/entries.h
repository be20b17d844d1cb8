#pragma once
#include <ingot/ingot.h>

// The functions behind the entries of ingot_api, under the same names; table.cpp puts them together.
namespace ingot::vm::api {

// errors.cpp
ingot_status error_status(const ingot_error* error);
const char* error_label(const ingot_error* error);
const char* error_message(const ingot_error* error);
const char* error_backtrace(const ingot_error* error);
ingot_error* error_create(ingot_status status, const char* message);
void error_destroy(ingot_error* error);

// executables.cpp
ingot_error* load_file(const char* path, const ingot_load_options* options, ingot_executable** executable);
ingot_error* load_memory(const void* bytes, size_t size, const ingot_load_options* options,
                         ingot_executable** executable);
void executable_destroy(ingot_executable* executable);
size_t function_count(const ingot_executable* executable);
const char* function_name(const ingot_executable* executable, size_t function);
const char* function_signature(const ingot_executable* executable, size_t function);
size_t param_count(const ingot_executable* executable, size_t function);
const char* param_name(const ingot_executable* executable, size_t function, size_t param);
const char* param_info(const ingot_executable* executable, size_t function, size_t param);
ingot_error* executable_describe(const ingot_executable* executable, const char* dims, ingot_text_sink sink,
                                 void* context);

// sessions.cpp
ingot_error* session_create(ingot_executable* executable, const ingot_session_options* options,
                            ingot_session** session);
ingot_error* session_register(ingot_session* session, const char* name, ingot_packed_func function, void* context,
                              void (*destroy_context)(void*));
void session_destroy(ingot_session* session);
ingot_error* session_trim(ingot_session* session);
ingot_error* session_memory(const ingot_session* session, ingot_memory* memory);
ingot_error* set_input(ingot_session* session, const char* function, size_t param, const ingot_value* value);
ingot_error* run(ingot_session* session, const char* function, const ingot_run_options* options);
ingot_error* output_count(ingot_session* session, size_t* count);
ingot_error* output(ingot_session* session, size_t index, ingot_value** value);
ingot_error* result(ingot_session* session, ingot_value** value);
ingot_error* call(ingot_session* session, const ingot_value* function, const ingot_value* const* args, size_t count,
                  const ingot_run_options* options, ingot_value** result);
ingot_cancel_token* cancel_token_create(void);
void cancel(ingot_cancel_token* token);
void cancel_token_reset(ingot_cancel_token* token);
void cancel_token_destroy(ingot_cancel_token* token);

// values.cpp
ingot_error* value_from_tensor(const ingot_tensor* tensor, ingot_value** value);
ingot_error* value_wrap_tensor(const ingot_tensor* tensor, void* context, void (*release)(void* context),
                               ingot_value** value);
ingot_error* value_tensor(const ingot_value* value, ingot_tensor* tensor);
ingot_error* value_from_shape(const int64_t* dims, uint32_t rank, ingot_value** value);
ingot_error* value_shape(const ingot_value* value, const int64_t** dims, uint32_t* rank);
ingot_error* value_from_prim_int(int64_t number, ingot_value** value);
ingot_error* value_prim_int(const ingot_value* value, int64_t* number);
ingot_error* value_from_prim_bool(int truth, ingot_value** value);
ingot_error* value_from_prim_float(double number, ingot_value** value);
ingot_error* value_prim_float(const ingot_value* value, double* number);
ingot_error* value_from_text(const char* text, size_t length, ingot_value** value);
ingot_error* value_text(const ingot_value* value, const char** text, size_t* length);
ingot_error* value_from_tuple(const ingot_value* const* fields, size_t count, ingot_value** value);
ingot_error* value_tuple_size(const ingot_value* value, size_t* count);
ingot_error* value_tuple_field(const ingot_value* value, size_t index, ingot_value** field);
ingot_error* value_from_packed_func(const char* name, ingot_packed_func function, void* context,
                                    void (*destroy_context)(void*), ingot_value** value);
ingot_kind value_kind(const ingot_value* value);
ingot_dtype value_dtype(const ingot_value* value);
ingot_error* value_print(const ingot_value* value, size_t limit, ingot_text_sink sink, void* context);
ingot_value* value_retain(const ingot_value* value);
void value_destroy(ingot_value* value);

ingot_error* set_primitive_cache_capacity(size_t primitives);

}  // namespace ingot::vm::api
