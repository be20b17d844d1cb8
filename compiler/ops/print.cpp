#include "compiler/ops/call.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/ops.h"

namespace ingot::ops {

using namespace ir;

StructInfo infer_print(const CallSite&) { return tuple_info({}); }

// A call of ingot.print; with a format, the arguments between the format's words where it says {}.
Meaning define_print(const CallSite& call) {
  auto func = std::make_shared<ExternFunc>("ingot.print", std::vector<StructInfo>{}, std::vector<uint32_t>{}, Span{});
  func->info = packed_func_info(object_info());
  std::vector<Expr> args = {func};
  std::string format = call.text("format");
  const auto add_words = [&](std::string_view words) {
    while (words.starts_with(' ')) words.remove_prefix(1);
    while (words.ends_with(' ')) words.remove_suffix(1);
    if (!words.empty()) args.push_back(make_text(std::string(words)));
  };
  size_t at = 0;
  for (size_t i = 0; i < call.size(); ++i) {
    const size_t place = format.find("{}", at);
    if (place == std::string::npos && !format.empty())
      call.fail(ErrorCode::ArityMismatch, "the format \"{}\" has fewer places than the {} arguments", format,
                call.size());
    if (!format.empty()) {
      add_words(std::string_view(format).substr(at, place - at));
      at = place + 2;
    }
    args.push_back(call.arg(i));
  }
  if (format.find("{}", at) != std::string::npos)
    call.fail(ErrorCode::ArityMismatch, "the format \"{}\" has more places than the {} arguments", format, call.size());
  add_words(std::string_view(format).substr(at));
  return Expr(std::make_shared<Call>(std::make_shared<OpExpr>(find("call_packed"), Span{}), std::move(args), Attrs{},
                                     std::vector<StructInfo>{tuple_info({})}, Span{}));
}

}  // namespace ingot::ops
