#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/object/value.h"

// The words of what goes wrong while a program runs, in the evaluator and in the VM alike.
namespace ingot {

// DivisionByZero.
[[noreturn]] void fail_division();
// A kernel or PrimFunc failed while it ran, with this text. PrimFuncs are not named: passes make and name them anew.
[[noreturn]] void fail_kernel(ErrorCode code, std::string_view contract, std::string_view text);
// InvalidArgument: the host asks for a function that the program does not export.
[[noreturn]] void fail_function(std::string_view name, std::span<const std::string> exported);
// TypeError: what is called is neither a closure nor a PackedFunc.
[[noreturn]] void fail_call_of(const Slot& callee);
// ArityMismatch; the function is named where it is exported.
[[noreturn]] void fail_arity(std::string_view exported_as, size_t params, size_t args);
// IndexOutOfRange: a projection beyond the end of a tuple. TypeError: of something else.
[[noreturn]] void fail_field(const Slot& tuple, int64_t index);
// ShapeMismatch where one of them is negative.
void require_dims(std::span<const int64_t> dims);
// Unsupported: a PackedFunc that writes its arguments is used as a value.
[[noreturn]] void fail_writing_value(std::string_view name);

}  // namespace ingot
