#include "compiler/ops/ops.h"

#include <array>
#include <cmath>
#include <map>

#include "compiler/ops/elementwise.h"
#include "compiler/ops/functions.h"

namespace ingot::ops {

using ir::CallSite;
using ir::Op;
using tir::ExprOp;

namespace {

template <typename... Texts>
constexpr std::array<std::string_view, sizeof...(Texts)> list(Texts... texts) {
  return {texts...};
}

// The lists of each line, in static storage for the spans of Op.
namespace lists {
#define A(...) list(__VA_ARGS__)
#define P(...) list(__VA_ARGS__)
#define D(...) list(__VA_ARGS__)
#define OP(name, aliases, params, attributes, ...) \
  constexpr auto name##_aliases = aliases;         \
  constexpr auto name##_params = params;           \
  constexpr auto name##_attributes = attributes;
#define ELEMENTWISE OP
#define LIBRARY(...)
#include "compiler/ops/ops.def"
}  // namespace lists

namespace elements {
#define ELEMENTWISE(name, aliases, params, attributes, dtypes, result, effect, scalar, formula, summary)              \
  Element name##_element([[maybe_unused]] const Elements& in) {                                                       \
    [[maybe_unused]] const Element &x = in.x, &y = in.y, &z = in.z;                                                   \
    return formula;                                                                                                   \
  }                                                                                                                   \
  StructInfo name##_infer(const CallSite& call) { return infer_elementwise(call, Operands::dtypes, Result::result); } \
  ir::Meaning name##_define(const CallSite& call) {                                                                   \
    return define_elementwise(call, Operands::dtypes, Result::result, name##_element);                                \
  }
#define OP(...)
#define LIBRARY(...)
#include "compiler/ops/ops.def"
}  // namespace elements

using LibraryKernel = std::optional<KernelCall> (*)(const CallSite& call);

constexpr LibraryKernel library_of(std::string_view op) {
#define ELEMENTWISE(...)
#define OP(...)
#define LIBRARY(name, kernel) \
  if (op == #name) return kernel;
#include "compiler/ops/ops.def"
  return nullptr;
}

// Arguments and attributes against the line of the operator, before its own inference.
void check_call(const CallSite& call) {
  const Op& op = call.op();
  size_t least = 0;
  bool any = false;
  for (const auto param : op.params) {
    any = any || param.ends_with("...");
    if (!param.ends_with("?") && !param.ends_with("...")) ++least;
  }
  if (call.size() < least || (!any && call.size() > op.params.size()))
    call.fail(
        ErrorCode::ArityMismatch, "it takes {}{} arguments, {} are given", any ? "at least " : "",
        any || least == op.params.size() ? fmt::format("{}", least) : fmt::format("{} to {}", least, op.params.size()),
        call.size());
  for (const auto& [name, value] : call.attrs()) {
    bool known = false;
    std::string names;
    for (const auto attribute : op.attributes) {
      const auto stem = ir::attribute_name(attribute);
      known = known || stem == name;
      names += (names.empty() ? "" : ", ") + std::string(stem);
    }
    if (!known)
      call.fail(ErrorCode::InvalidArgument, "there is no attribute {}; attributes are: {}", name,
                names.empty() ? "none" : names);
  }
}

template <StructInfo (*infer)(const CallSite&)>
StructInfo checked(const CallSite& call) {
  check_call(call);
  return infer(call);
}

const Op kOps[] = {
#define ELEMENTWISE(name, aliases, params, attributes, dtypes, result, effect, scalar, formula, summary) \
  {#name,                                                                                                \
   lists::name##_aliases,                                                                                \
   lists::name##_params,                                                                                 \
   lists::name##_attributes,                                                                             \
   checked<elements::name##_infer>,                                                                      \
   effect,                                                                                               \
   elements::name##_define,                                                                              \
   library_of(#name),                                                                                    \
   scalar,                                                                                               \
   summary},
#define OP(name, aliases, params, attributes, infer, effect, define, scalar, summary) \
  {#name,                                                                             \
   lists::name##_aliases,                                                             \
   lists::name##_params,                                                              \
   lists::name##_attributes,                                                          \
   checked<infer>,                                                                    \
   effect,                                                                            \
   define,                                                                            \
   library_of(#name),                                                                 \
   scalar,                                                                            \
   summary},
#define LIBRARY(...)
#include "compiler/ops/ops.def"
};

constexpr bool kElementwise[] = {
#define ELEMENTWISE(...) true,
#define OP(...) false,
#define LIBRARY(...)
#include "compiler/ops/ops.def"
};

std::map<std::string_view, const Op*> by_name() {
  std::map<std::string_view, const Op*> result;
  for (const Op& op : kOps) {
    result.emplace(op.name, &op);
    for (const auto alias : op.aliases) result.emplace(alias, &op);
  }
  return result;
}

}  // namespace

std::span<const Op> all() { return kOps; }

const Op* find(std::string_view name) {
  static const auto index = by_name();
  constexpr std::string_view kPrefix = "relax.";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

bool has_open_sizes(const CallSite& call) {
  bool found = false;
  for (size_t i = 0; i < call.size() && !found; ++i) for_each_var(call.info(i), [&](const SymVar&) { found = true; });
  return found;
}

ir::Effect effect_of(const CallSite& call) {
  const ir::Effect own = call.op().effect(call);
  if (own != ir::Effect::Total || is_elementwise(call.op()) || !has_open_sizes(call)) return own;
  (void)call.op().infer(call);
  return call.is_unproved() ? ir::Effect::MayFail : own;
}

bool is_elementwise(const Op& op) { return kElementwise[&op - kOps]; }

}  // namespace ingot::ops
