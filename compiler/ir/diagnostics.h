#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/ir/source.h"
#include "runtime/base/error.h"

namespace ingot::ir {

// One thing that the compiler has to say. Errors stop compilation after the pass that found them, warnings do not.
struct Diagnostic {
  enum class Severity : uint8_t { Error, Warning };
  Severity severity = Severity::Error;
  ErrorCode code = ErrorCode::TypeError;
  int rule = 0;  // of well-formedness
  std::string message;
  Span span;
  std::string hint;  // how to mend it; may be empty
};

// Collects what passes find, so that one run reports all independent errors.
class Diagnostics {
 public:
  void error(ErrorCode code, const Span& span, std::string message, std::string hint = {}, int rule = 0);
  void warning(ErrorCode code, const Span& span, std::string message, std::string hint = {});
  void add(Diagnostic diagnostic) { diagnostics_.push_back(std::move(diagnostic)); }
  bool has_errors() const;
  // Forgets all but the first `count`: for attempts that failed.
  void truncate(size_t count) { diagnostics_.resize(std::min(count, diagnostics_.size())); }
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  // Throws a CompileError with all errors where there are any, each once.
  void throw_if_errors() const;

 private:
  std::vector<Diagnostic> diagnostics_;
};

// What compilation throws: code, message and rule are those of the first error in the order of the program.
class CompileError : public Error {
 public:
  // `errors` is not empty.
  explicit CompileError(std::vector<Diagnostic> errors);
  const std::vector<Diagnostic>& errors() const { return errors_; }

 private:
  std::vector<Diagnostic> errors_;
};

//   error[TypeError]: %y is not defined
//     --> mlp.relax:2:14
//       |
//     2 |   let %z = %y + %x;
//       |            ^~
//   hint: ...
// Errors before warnings, each in the order of the program.
std::string render(const std::vector<Diagnostic>& diagnostics);

}  // namespace ingot::ir
