#include "runtime/base/error.h"

namespace ingot {
namespace {

struct ErrorInfo {
  std::string_view name;
  Blame blame;
  int exit_code;
};

constexpr ErrorInfo kErrors[] = {
#define ERROR(name, blame, exit_code, summary) {#name, Blame::blame, exit_code},
#include "runtime/base/errors.def"
};

const ErrorInfo& info(ErrorCode code) { return kErrors[static_cast<size_t>(code)]; }

}  // namespace

std::string_view error_name(ErrorCode code) { return info(code).name; }
Blame error_blame(ErrorCode code) { return info(code).blame; }
int error_exit_code(ErrorCode code) { return info(code).exit_code; }

Error::Error(ErrorCode code, std::string message, int rule) : code_(code), rule_(rule), text_(std::move(message)) {}

std::string Error::label() const {
  return rule_ == 0 ? std::string(error_name(code_)) : fmt::format("{}.{}", error_name(code_), rule_);
}

void Error::add_context(std::string_view context) { text_.insert(0, fmt::format("{}: ", context)); }

}  // namespace ingot
