#include "vm/api/border.h"
#include "vm/api/entries.h"

namespace ingot::vm::api {

ingot_status error_status(const ingot_error* error) { return error->status; }
const char* error_label(const ingot_error* error) { return error->label.c_str(); }
const char* error_message(const ingot_error* error) { return error->message.c_str(); }
const char* error_backtrace(const ingot_error* error) { return error->backtrace.c_str(); }

ingot_error* error_create(ingot_status status, const char* message) {
  const bool known = status >= 0 && status <= INGOT_INTERNAL;
  ingot_error* made = nullptr;
  const auto make = [&] {
    const auto code = known ? static_cast<ErrorCode>(status) : ErrorCode::ForeignError;
    made = make_error(Error(code, message != nullptr ? message : ""));
  };
  ingot_error* failed = guarded(make);
  return failed != nullptr ? failed : made;
}

void error_destroy(ingot_error* error) { destroy_error(error); }

}  // namespace ingot::vm::api
