#include "compiler/ops/call.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/operands.h"
#include "compiler/ops/ops.h"

namespace ingot::ops {

using namespace ir;

StructInfo infer_print(const CallSite&) { return tuple_info({}); }

namespace {

// A call of a function of the system that takes texts and values: with a format, the arguments from `first` on stand
// between its words where it says {}.
Expr call_with_words(const CallSite& call, const char* name, size_t first) {
  auto func = std::make_shared<ExternFunc>(name, std::vector<StructInfo>{}, std::vector<uint32_t>{}, Span{});
  func->info = packed_func_info(object_info());
  std::vector<Expr> args = {func};
  for (size_t i = 0; i < first; ++i) args.push_back(call.arg(i));
  const std::string format = call.text("format");
  const auto add_words = [&](std::string_view words) {
    while (words.starts_with(' ')) words.remove_prefix(1);
    while (words.ends_with(' ')) words.remove_suffix(1);
    if (!words.empty()) args.push_back(make_text(std::string(words)));
  };
  size_t at = 0;
  for (size_t i = first; i < call.size(); ++i) {
    const size_t place = format.find("{}", at);
    if (place == std::string::npos && !format.empty()) break;  // as in Python, what has no place is not shown
    if (!format.empty()) {
      add_words(std::string_view(format).substr(at, place - at));
      at = place + 2;
    }
    args.push_back(call.arg(i));
  }
  if (format.find("{}", at) != std::string::npos)
    call.fail(ErrorCode::ArityMismatch, "the format \"{}\" has more places than the {} arguments", format,
              call.size() - first);
  add_words(std::string_view(format).substr(at));
  return std::make_shared<Call>(std::make_shared<OpExpr>(find("call_packed"), Span{}), std::move(args), Attrs{},
                                std::vector<StructInfo>{tuple_info({})}, Span{});
}

}  // namespace

Meaning define_print(const CallSite& call) { return call_with_words(call, "ingot.print", 0); }

StructInfo infer_assert(const CallSite& call) {
  const auto& condition = call.info(0);
  const bool prim = condition->kind == InfoKind::Prim && condition->dtype == DType::Bool;
  if (!prim) {
    const auto x = operand(call, 0);
    require_rank(call, x, 0);
    if (x.dtype() != DType::Bool)
      call.fail(ErrorCode::TypeError, "{} is {}, the condition must be a bool", x.name, dtype_name(x.dtype()));
  }
  return tuple_info({});
}

Meaning define_assert(const CallSite& call) { return call_with_words(call, "ingot.assert", 1); }

}  // namespace ingot::ops
