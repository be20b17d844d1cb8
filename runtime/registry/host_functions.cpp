#include "runtime/registry/host_functions.h"

#include <algorithm>
#include <cstring>

#include <fmt/ranges.h>

#include "runtime/base/error.h"
#include "runtime/tensor/value_text.h"

namespace ingot {
namespace {

using Sink = std::function<void(std::string_view)>;

std::string text_of(const Slot& slot) {
  if (slot.kind == Kind::String) return std::string(static_cast<const StringObject*>(slot.object)->text());
  return value_text(Value::copy_of(slot));
}

void expect_text(const PackedArgs& args) {
  if (args.size() == 0) fail(ErrorCode::ArityMismatch, "it takes a text, the call has no arguments");
  if (args[0].kind != Kind::String)
    fail(ErrorCode::TypeError, "argument 0 is {}, expected a text", kind_name(args[0].kind));
}

// ingot.log(text, v) logs the text and gives v, or nothing where there is none.
Value log_value(const Sink& sink, const PackedArgs& args) {
  expect_text(args);
  if (args.size() > 2)
    fail(ErrorCode::ArityMismatch, "it takes a text and a value, the call has {} arguments", args.size());
  if (sink) sink(text_of(args[0]));
  return args.size() == 2 ? Value::copy_of(args[1]) : Value(make_tuple(args.pool(), {}));
}

Value print_values(const Sink& sink, const PackedArgs& args) {
  std::string line;
  for (size_t i = 0; i < args.size(); ++i) line += (i == 0 ? "" : " ") + text_of(args[i]);
  if (sink) sink(line);
  return Value(make_tuple(args.pool(), {}));
}

Value fail_with(const PackedArgs& args) {
  expect_text(args);
  throw Error(ErrorCode::ForeignError, text_of(args[0]));
}

// ingot.assert(condition, words...)
Value assert_condition(const PackedArgs& args) {
  if (args.size() == 0 || (args[0].kind != Kind::Scalar && args[0].kind != Kind::Prim) || args[0].dtype != DType::Bool)
    fail(ErrorCode::TypeError, "it takes a condition, a bool");
  if (args[0].as<uint8_t>() != 0) return Value(make_tuple(args.pool(), {}));
  std::string text = "the assertion does not hold";
  for (size_t i = 1; i < args.size(); ++i) text += (i == 1 ? ": " : " ") + text_of(args[i]);
  throw Error(ErrorCode::ForeignError, std::move(text));
}

Value identity(const PackedArgs& args) {
  if (args.size() != 1) fail(ErrorCode::ArityMismatch, "it takes 1 argument, the call has {}", args.size());
  return Value::copy_of(args[0]);
}

// ingot.write(to, from, who?): `to`, which the import writes, gets the elements of `from`. A text says on whose behalf,
// for the error where it may not be written.
Value write_elements(const PackedArgs& args) {
  if (args.size() != 2 && args.size() != 3)
    fail(ErrorCode::ArityMismatch, "it takes 2 tensors, the call has {} arguments", args.size());
  for (size_t i = 0; i < 2; ++i)
    if (args[i].kind != Kind::Tensor) fail(ErrorCode::TypeError, "argument {} is no tensor", i);
  const auto& to = *static_cast<TensorObject*>(args[0].object);
  const auto& from = *static_cast<const TensorObject*>(args[1].object);
  if (to.dtype != from.dtype || to.dtype == DType::String)
    fail(ErrorCode::TypeError, "{} elements are to become {}", dtype_name(from.dtype), dtype_name(to.dtype));
  if (!std::ranges::equal(to.dims(), from.dims()))
    fail(ErrorCode::ShapeMismatch, "({}) elements are to become ({})", fmt::join(from.dims(), ", "),
         fmt::join(to.dims(), ", "));
  if (to.bytes != 0) std::memmove(to.data, from.data, to.bytes);
  return Value(make_tuple(args.pool(), {}));
}

// Functions of the system; they are always allowed.
Ref<PackedFuncObject> find_own(const HostFunctions& host, std::string_view name) {
  const auto make = [&](PackedFunction function) { return make_packed_func(std::string(name), std::move(function)); };
  if (name == "ingot.log") return make([sink = host.log](const PackedArgs& args) { return log_value(sink, args); });
  if (name == "ingot.print")
    return make([sink = host.print](const PackedArgs& args) { return print_values(sink, args); });
  if (name == "ingot.fail") return make(fail_with);
  if (name == "ingot.assert") return make(assert_condition);
  if (name == "ingot.identity") return make(identity);
  if (name == "ingot.write") return make(write_elements);
  return {};
}

}  // namespace

ResolvedFunction HostFunctions::resolve(const std::string& name, std::span<const uint32_t> writes) const {
  if (name.starts_with("ingot.")) {
    auto own = find_own(*this, name);
    if (!own)
      return {
          {},
          fmt::format("{}: there is no such function; ingot.log, print, assert, fail, identity and write are", name)};
    if (name == "ingot.write" && !(writes.size() == 1 && writes[0] == 0))
      return {{}, "ingot.write: the program must say that it writes its first argument: writes=(0,)"};
    return {std::move(own), {}};
  }
  if (allow != nullptr && !allow->contains(name))
    return {{}, fmt::format("{}: the host does not allow this PackedFunc (--allow {})", name, name)};
  auto found = registry->find(name);
  if (!found) return {{}, fmt::format("{}: the host has no PackedFunc of this name (--plugin registers some)", name)};
  return {std::move(found), {}};
}

void require_writable(std::string_view name, std::span<const uint32_t> writes, std::span<const Slot> args) {
  for (const uint32_t i : writes) {
    if (i >= args.size()) continue;
    bool writable = args[i].kind == Kind::Tensor;
    if (writable)
      for (const auto* t = static_cast<const TensorObject*>(args[i].object); t != nullptr; t = t->base.get())
        writable &= !t->read_only && t->counting != Counting::Uncounted;
    if (writable) continue;
    const bool is_told = name == "ingot.write" && args.size() == 3 && args[2].kind == Kind::String;
    fail(ErrorCode::InvalidArgument, "{}, which nobody may write; pass it a copy",
         is_told ? text_of(args[2]) : fmt::format("{} writes argument {}", name, i));
  }
}

}  // namespace ingot
