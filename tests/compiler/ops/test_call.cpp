#include "tests/compiler/ops/test_call.h"

#include "runtime/base/error.h"

namespace ingot::ops {

TestCall::TestCall(std::string_view op, std::vector<StructInfo> infos, ir::Attrs attrs)
    : op_(find(op)), infos_(std::move(infos)), attrs_(std::move(attrs)) {
  for (size_t i = 0; i < infos_.size(); ++i) {
    auto var = std::make_shared<ir::Var>(std::string(1, static_cast<char>('a' + i)), nullptr, false, ir::Span{});
    var->info = infos_[i];
    args_.push_back(std::move(var));
  }
}

std::string TestCall::infer() const {
  try {
    return to_text(op_->infer(site()));
  } catch (const Error& error) {
    return error.label() + ": " + error.what();
  }
}

}  // namespace ingot::ops
