#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "vm/loader/executable.h"
#include "vm/profile/profile.h"

// A profile in the forms that other tools read.
namespace ingot::tool {

// What a kernel call computes: "conv2d", "@fused_add_relu".
std::string kernel_name(const vm::Executable& executable, uint32_t function, uint32_t unit);

// The trace event format of Chrome and Perfetto: an object whose "traceEvents" are complete events ("ph": "X"), times
// in microseconds from the first run on. Functions are of category "function", kernels of "kernel", whose arguments say
// where they stand.
nlohmann::json trace_events(const vm::Executable& executable, const vm::Profile& profile);

// Lines "main;fib;fib 1234", outermost function first, with the nanoseconds of the innermost one's own instructions:
// the input of flame graphs.
std::string folded_stacks(const vm::Executable& executable, const vm::Profile& profile);

}  // namespace ingot::tool
