#include "compiler/transform/pass.h"

#include <algorithm>
#include <iterator>

#include "compiler/transform/transforms.h"

namespace ingot::transform {
namespace {

enum class PassKind : uint8_t { Mandatory, Optional };

constexpr PassInfo kPasses[] = {
#define PASS(name, needs, leaves, kind, summary) \
  {#name, ir::Form::needs, ir::Form::leaves, PassKind::kind == PassKind::Optional, name, summary},
#include "compiler/transform/passes.def"
};

}  // namespace

bool PassContext::runs(std::string_view optional_pass) const {
  return !without.contains("all") && !without.contains(optional_pass);
}

std::span<const PassInfo> passes() { return kPasses; }

const PassInfo* find_pass(std::string_view name) {
  const auto* found = std::ranges::find(kPasses, name, &PassInfo::name);
  return found == std::end(kPasses) ? nullptr : found;
}

}  // namespace ingot::transform
