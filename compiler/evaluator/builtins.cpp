#include "compiler/evaluator/builtins.h"

#include <algorithm>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/tensor/value_text.h"
#include "vm/builtins/builtins.h"

namespace ingot::evaluator {
namespace {

std::string_view text_argument(const PackedArgs& args, size_t i, std::string_view function) {
  if (args.size() <= i)
    fail(ErrorCode::ArityMismatch, "{}: {} arguments were given, at least {} are needed", function, args.size(), i + 1);
  if (args[i].kind != Kind::String) fail(ErrorCode::TypeError, "{}: argument {} must be a string", function, i);
  return static_cast<const StringObject*>(args[i].object)->text();
}

Value last_argument(const PackedArgs& args, size_t count, std::string_view function) {
  if (args.size() != count)
    fail(ErrorCode::ArityMismatch, "{}: {} arguments were given, {} are needed", function, args.size(), count);
  return args.copy(count - 1);
}

}  // namespace

Value call_builtin(std::string_view name, std::span<const Value> args) {
  const auto builtin = vm::find_builtin(name);
  if (!builtin) fail(ErrorCode::TypeError, "call_builtin: there is no builtin {}", name);
  std::vector<Slot> slots;
  for (const Value& arg : args) slots.push_back(arg.slot());
  return vm::builtins::call(*builtin, nullptr, slots);
}

Ref<PackedFuncObject> ingot_function(std::string_view name, const std::function<void(std::string_view)>& log,
                                     const std::function<void(std::string_view)>& print) {
  if (name == "ingot.identity")
    return make_packed_func("ingot.identity",
                            [](const PackedArgs& args) { return last_argument(args, 1, "ingot.identity"); });
  if (name == "ingot.fail")
    return make_packed_func("ingot.fail", [](const PackedArgs& args) -> Value {
      fail(ErrorCode::ForeignError, "{}", text_argument(args, 0, "ingot.fail"));
    });
  if (name == "ingot.assert")
    return make_packed_func("ingot.assert", [](const PackedArgs& args) {
      if (args.size() == 0 || (args[0].kind != Kind::Scalar && args[0].kind != Kind::Prim) ||
          args[0].dtype != DType::Bool)
        fail(ErrorCode::TypeError, "ingot.assert: the first argument must be a condition");
      std::string text;
      for (size_t i = 1; i < args.size(); ++i) text += (i == 1 ? ": " : " ") + value_text(args[i]);
      if (args[0].as<uint8_t>() == 0) fail(ErrorCode::ForeignError, "the assertion does not hold{}", text);
      return Value(ingot::make_tuple(nullptr, {}));
    });
  if (name == "ingot.write")
    return make_packed_func("ingot.write", [](const PackedArgs& args) {
      const Value source = last_argument(args, 2, "ingot.write");
      if (args[0].kind != Kind::Tensor || source.kind() != Kind::Tensor)
        fail(ErrorCode::TypeError, "ingot.write: an argument is no tensor");
      auto& to = *static_cast<TensorObject*>(args[0].object);
      const TensorObject* owner = &to;
      while (!owner->read_only && owner->base) owner = owner->base.get();
      if (owner->read_only)
        fail(ErrorCode::InvalidArgument, "ingot.write writes argument 0, which nobody may write; pass it a copy");
      const auto& from = *source.get<TensorObject>();
      if (to.dtype != from.dtype || to.dtype == DType::String)
        fail(ErrorCode::TypeError, "ingot.write: {} elements are to become {}", dtype_name(from.dtype),
             dtype_name(to.dtype));
      if (!std::ranges::equal(to.dims(), from.dims()))
        fail(ErrorCode::ShapeMismatch, "ingot.write: ({}) elements are to become ({})", fmt::join(from.dims(), ", "),
             fmt::join(to.dims(), ", "));
      const std::vector<std::byte> elements(from.data, from.data + from.bytes);
      std::ranges::copy(elements, to.data);
      return Value(ingot::make_tuple(nullptr, {}));
    });
  if (name == "ingot.log")
    return make_packed_func("ingot.log", [log](const PackedArgs& args) {
      const auto line = text_argument(args, 0, "ingot.log");
      Value result = args.size() == 1 ? Value(ingot::make_tuple(nullptr, {})) : last_argument(args, 2, "ingot.log");
      if (log) log(line);
      return result;
    });
  if (name == "ingot.print")
    return make_packed_func("ingot.print", [print](const PackedArgs& args) {
      std::string line;
      for (size_t i = 0; i < args.size(); ++i) line += (i == 0 ? "" : " ") + value_text(args[i]);
      if (print) print(line);
      return Value(ingot::make_tuple(nullptr, {}));
    });
  return {};
}

}  // namespace ingot::evaluator
