/* Ingot's C interface: load an executable, run its functions.
 *
 * Everything goes through one versioned table of functions. Entries are only ever appended, so a program built against
 * an older header works with a newer library; ask for the version that you were built with.
 *
 *   const ingot_api* api = ingot_get_api(INGOT_API_VERSION);
 *
 * Errors: functions that can fail return an ingot_error*, null for success; the caller destroys it with error_destroy.
 * No exception crosses this table. Threads: executables and values may be used by any number of threads at once; a
 * session belongs to one thread at a time. Strings are UTF-8. Text that functions return belongs to the object asked
 * and lives as long as it (an error's, a signature's). Null handles given to destroy functions are ignored.
 */
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C's names, not the style of the C++ sources. NOLINTBEGIN(readability-identifier-naming) */
#define INGOT_API_VERSION 1u

typedef struct ingot_executable ingot_executable;
typedef struct ingot_session ingot_session;
typedef struct ingot_value ingot_value;
typedef struct ingot_error ingot_error;
typedef struct ingot_cancel_token ingot_cancel_token;

/* The numbers of enum class ErrorCode, DType and Kind of the library; fixed for ever. */
typedef enum ingot_status {
  INGOT_PARSE_ERROR,
  INGOT_TYPE_ERROR,
  INGOT_WELL_FORMEDNESS,
  INGOT_SHAPE_MISMATCH,
  INGOT_CAST_FAILED,
  INGOT_INDEX_OUT_OF_RANGE,
  INGOT_DIVISION_BY_ZERO,
  INGOT_ARITY_MISMATCH,
  INGOT_NOT_ALLOWED,
  INGOT_INVALID_ARGUMENT,
  INGOT_UNSUPPORTED,
  INGOT_CORRUPT_FILE,
  INGOT_IO,
  INGOT_OUT_OF_MEMORY,
  INGOT_RESOURCE_EXHAUSTED,
  INGOT_CANCELLED,
  INGOT_DEADLINE_EXCEEDED,
  INGOT_FOREIGN_ERROR,
  INGOT_INTERNAL
} ingot_status;

typedef enum ingot_dtype {
  INGOT_NO_DTYPE,
  INGOT_BOOL,
  INGOT_INT8,
  INGOT_INT16,
  INGOT_INT32,
  INGOT_INT64,
  INGOT_UINT8,
  INGOT_UINT16,
  INGOT_UINT32,
  INGOT_UINT64,
  INGOT_FLOAT16,
  INGOT_BFLOAT16,
  INGOT_FLOAT32,
  INGOT_FLOAT64,
  INGOT_STRING
} ingot_dtype;

/* INGOT_SCALAR is a rank-0 tensor: value_tensor shows it like any other. */
typedef enum ingot_kind {
  INGOT_NONE,
  INGOT_SCALAR,
  INGOT_PRIM,
  INGOT_DTYPE,
  INGOT_TENSOR,
  INGOT_TUPLE,
  INGOT_SHAPE,
  INGOT_CLOSURE,
  INGOT_PACKED_FUNC,
  INGOT_TEXT,
  INGOT_OBJECT
} ingot_kind;

/* A row-major tensor in somebody's memory. */
typedef struct ingot_tensor {
  ingot_dtype dtype;
  uint32_t rank;
  const int64_t* dims;
  void* data;
} ingot_tensor;

/* Zero in `size` fields that you do not know: set size = sizeof(the struct), leave the rest zero for defaults. */
typedef struct ingot_load_options {
  size_t size;
  int copy;            /* read the file into memory instead of mapping it: for storage that others may change */
  const char* cpu;     /* at most this instruction set: "any", "avx2", "avx512", ...; null: what the machine has */
  int no_jit;          /* interpret PrimFuncs */
  int threads;         /* of one run; 0 means 1 */
  const char* kernels; /* "reference": the slow obvious kernels, for tests; null: the best */
  int perf_map;        /* name generated functions in /tmp/perf-PID.map, for Linux' perf */
} ingot_load_options;

typedef struct ingot_run_options {
  size_t size;
  uint64_t instruction_budget; /* 0: no limit */
  uint64_t deadline_ns;        /* from the start of the run; 0: none */
  size_t memory_limit;         /* bytes of this session; 0: none */
  size_t frame_limit;          /* bytes of frames; 0: 1 GiB */
  ingot_cancel_token* cancel;  /* may be null */
} ingot_run_options;

/* A PackedFunc of the host. Arguments are borrowed for the call: value_retain gives one that may be kept. On success
 * store the result (or null for none) and return null; its ownership goes to the caller. Where one is handed over, its
 * `destroy_context` (may be null) is called once it is not needed any more, also when handing over fails. */
typedef ingot_error* (*ingot_packed_func)(void* context, const ingot_value* const* args, size_t count,
                                          ingot_value** result);

/* Receives text: not terminated, gone when the call returns. */
typedef void (*ingot_text_sink)(void* context, const char* text, size_t length);

/* Bytes of one session. */
typedef struct ingot_memory {
  size_t in_use; /* live values and arena */
  size_t peak;
  size_t kept; /* for the next run; session_trim gives it back */
} ingot_memory;

typedef struct ingot_session_options {
  size_t size;
  const char* const*
      allow; /* names of PackedFuncs that the program may call; "ingot.*" always may. Null: all that were registered */
  size_t allow_count;
  void (*log)(void* context, const char* line);   /* ingot.log; null: dropped */
  void (*print)(void* context, const char* line); /* ingot.print; null: dropped */
  void* sink_context;
} ingot_session_options;

typedef struct ingot_api {
  uint32_t version;
  const char* (*library_version)(void);

  /* errors */
  ingot_status (*error_status)(const ingot_error* error);
  const char* (*error_label)(const ingot_error* error); /* "ShapeMismatch", "WellFormedness.7" */
  const char* (*error_message)(const ingot_error* error);
  const char* (*error_backtrace)(
      const ingot_error* error); /* VM frames, a line each, innermost first; "" where there are none */
  ingot_error* (*error_create)(ingot_status status, const char* message);
  void (*error_destroy)(ingot_error* error);

  /* executables: immutable, verified */
  ingot_error* (*load_file)(const char* path, const ingot_load_options* options, ingot_executable** executable);
  ingot_error* (*load_memory)(const void* bytes, size_t size, const ingot_load_options* options,
                              ingot_executable** executable); /* copies */
  void (*executable_destroy)(ingot_executable* executable);   /* sessions and values keep what they need */
  size_t (*function_count)(const ingot_executable* executable);
  const char* (*function_name)(const ingot_executable* executable, size_t function); /* null beyond the end */
  const char* (*function_signature)(const ingot_executable* executable,
                                    size_t function); /* "fn(x: Tensor[(n, 784), float32]) -> ..." */
  size_t (*param_count)(const ingot_executable* executable, size_t function);
  const char* (*param_name)(const ingot_executable* executable, size_t function, size_t param);
  const char* (*param_info)(const ingot_executable* executable, size_t function,
                            size_t param); /* "Tensor[(n, 784), float32]" */

  /* sessions, and the PackedFuncs that their programs may call; register between runs */
  ingot_error* (*session_create)(ingot_executable* executable, const ingot_session_options* options,
                                 ingot_session** session);
  ingot_error* (*session_register)(ingot_session* session, const char* name, ingot_packed_func function, void* context,
                                   void (*destroy_context)(void*));
  void (*session_destroy)(ingot_session* session);
  ingot_error* (*session_trim)(ingot_session* session);
  ingot_error* (*session_memory)(const ingot_session* session, ingot_memory* memory);

  /* one run: set the arguments, run, fetch the outputs. Arguments stay set for the next run. A result that is a tuple
   * gives one output per field. */
  ingot_error* (*set_input)(ingot_session* session, const char* function, size_t param, const ingot_value* value);
  ingot_error* (*run)(ingot_session* session, const char* function, const ingot_run_options* options);
  ingot_error* (*output_count)(ingot_session* session, size_t* count);
  ingot_error* (*output)(ingot_session* session, size_t index, ingot_value** value); /* a new reference */
  ingot_error* (*result)(ingot_session* session, ingot_value** value);               /* the whole result */
  ingot_error* (*call)(ingot_session* session, const ingot_value* function, const ingot_value* const* args,
                       size_t count, const ingot_run_options* options,
                       ingot_value** result); /* a closure or PackedFunc value */

  /* values: immutable, shared */
  ingot_error* (*value_from_tensor)(const ingot_tensor* tensor, ingot_value** value); /* copies */
  /* over memory of the caller, which must stay as it is until `release` is called; on an error it is not called */
  ingot_error* (*value_wrap_tensor)(const ingot_tensor* tensor, void* context, void (*release)(void* context),
                                    ingot_value** value);
  ingot_error* (*value_tensor)(const ingot_value* value, ingot_tensor* tensor); /* a view, alive as long as the value */
  ingot_error* (*value_from_shape)(const int64_t* dims, uint32_t rank, ingot_value** value);
  ingot_error* (*value_shape)(const ingot_value* value, const int64_t** dims, uint32_t* rank);
  ingot_error* (*value_from_prim_int)(int64_t number, ingot_value** value);
  ingot_error* (*value_prim_int)(const ingot_value* value, int64_t* number); /* int64 or bool */
  ingot_error* (*value_from_prim_bool)(int truth, ingot_value** value);
  ingot_error* (*value_from_prim_float)(double number, ingot_value** value);
  ingot_error* (*value_prim_float)(const ingot_value* value, double* number);
  ingot_error* (*value_from_text)(const char* text, size_t length, ingot_value** value);
  ingot_error* (*value_text)(const ingot_value* value, const char** text, size_t* length); /* not terminated */
  ingot_error* (*value_from_tuple)(const ingot_value* const* fields, size_t count, ingot_value** value);
  ingot_error* (*value_tuple_size)(const ingot_value* value, size_t* count);
  ingot_error* (*value_tuple_field)(const ingot_value* value, size_t index, ingot_value** field); /* a new reference */
  ingot_error* (*value_from_packed_func)(const char* name, ingot_packed_func function, void* context,
                                         void (*destroy_context)(void*), ingot_value** value);
  ingot_kind (*value_kind)(const ingot_value* value);
  ingot_dtype (*value_dtype)(const ingot_value* value); /* of tensors, prims and dtypes */
  /* "2x3xf32=1 2 3 4 5 6", "shape(2, 3)": for people; of each tensor at most `limit` elements, 0: all */
  ingot_error* (*value_print)(const ingot_value* value, size_t limit, ingot_text_sink sink, void* context);
  ingot_value* (*value_retain)(const ingot_value* value);
  void (*value_destroy)(ingot_value* value);

  /* cancelling, from any thread */
  ingot_cancel_token* (*cancel_token_create)(void);
  void (*cancel)(ingot_cancel_token* token);
  void (*cancel_token_reset)(ingot_cancel_token* token);
  void (*cancel_token_destroy)(ingot_cancel_token* token);

  /* inspection: JSON; docs/executable_format.md says what it holds. `dims` ("n=128,m=3" or null) are values of symbolic
   * dimensions for which memory is to be told. */
  ingot_error* (*executable_describe)(const ingot_executable* executable, const char* dims, ingot_text_sink sink,
                                      void* context);

  /* The process: how many primitives oneDNN keeps for all its users, 1,024 where nobody says so. The library leaves
   * that to you, since others may use oneDNN as well; executables keep what they need whatever it is. Worth it where
   * lengths of inputs vary: each length makes primitives of its own. */
  ingot_error* (*set_primitive_cache_capacity)(size_t primitives);
} ingot_api;

/* A plugin of the tool (--plugin lib.so) is a shared library with a function of this type and name, which registers its
 * PackedFuncs with session_register. The program may call those that --allow names. */
typedef ingot_error* (*ingot_plugin_register_function)(const ingot_api* api, ingot_session* session);
#define INGOT_PLUGIN_SYMBOL "ingot_plugin_register"

/* Null where the library is older than `version`. */
const ingot_api* ingot_get_api(uint32_t version);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif
#endif
