#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace ingot {

enum class ErrorCode : uint8_t {
#define ERROR(name, blame, exit_code, summary) name,
#include "runtime/base/errors.def"
};

enum class Blame : uint8_t { User, Environment, Ours };

std::string_view error_name(ErrorCode code);
Blame error_blame(ErrorCode code);
int error_exit_code(ErrorCode code);

// The one exception type of Ingot. It never crosses the C table of ingot.h.
//
// `what()` is the whole text: contexts outermost first, each followed by ": ", then the message. Whoever knows more on
// the way up (a file, a function, an operand) catches by reference, calls add_context and rethrows with `throw;`.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, int rule = 0);

  ErrorCode code() const noexcept { return code_; }
  // The number of the broken rule of well-formedness; 0 where there is none.
  int rule() const noexcept { return rule_; }
  // "TypeError", or "WellFormedness.7" where a rule has a number.
  std::string label() const;
  const char* what() const noexcept override { return text_.c_str(); }

  void add_context(std::string_view context);

 private:
  ErrorCode code_;
  int rule_;
  std::string text_;
};

// Throws Error(code, fmt::format(format, arguments...)).
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace ingot
