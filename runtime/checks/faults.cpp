#include "runtime/checks/faults.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "runtime/checks/describe.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"

namespace ingot {

void fail_division() { fail(ErrorCode::DivisionByZero, "an integer is divided by zero"); }

void fail_kernel(ErrorCode code, std::string_view contract, std::string_view text) {
  if (contract == "prim_func") fail(code, "{}", text);
  fail(code, "{}: {}", contract, text);
}

void fail_function(std::string_view name, std::span<const std::string> exported) {
  fail(ErrorCode::InvalidArgument, "there is no function @{}; the executable exports {}{}", name,
       exported.empty() ? "none" : "@", fmt::join(exported, ", @"));
}

void fail_call_of(const Slot& callee) {
  fail(ErrorCode::TypeError, "{} was called; only closures and PackedFuncs can be", describe_value(callee));
}

void fail_arity(std::string_view exported_as, size_t params, size_t args) {
  fail(ErrorCode::ArityMismatch, "{} takes {} arguments, {} are given",
       exported_as.empty() ? "the function" : fmt::format("@{}", exported_as), params, args);
}

void fail_field(const Slot& tuple, int64_t index) {
  if (tuple.kind != Kind::Tuple)
    fail(ErrorCode::TypeError, "projection .{} of {}, which is no tuple", index, describe_value(tuple));
  fail(ErrorCode::IndexOutOfRange, "projection .{} of a tuple with {} fields", index,
       static_cast<const TupleObject*>(tuple.object)->size);
}

void require_dims(std::span<const int64_t> dims) {
  const auto negative = std::ranges::find_if(dims, [](int64_t dim) { return dim < 0; });
  if (negative != dims.end())
    fail(ErrorCode::ShapeMismatch, "shape {} has the negative dimension {}", shape_text(dims), *negative);
}

void fail_writing_value(std::string_view name) {
  fail(ErrorCode::Unsupported, "{} writes its arguments and can only be called by its name", name);
}

}  // namespace ingot
