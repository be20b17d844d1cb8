#include "compiler/driver/bounds.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/ranges.h>

#include "runtime/base/error.h"

namespace ingot::driver {
namespace {

std::vector<SymVar> dimensions_of(const vm::Function& function) {
  std::vector<SymVar> dims;
  for (const StructInfo& param : function.signature->fields)
    for_each_binding_var(param, [&](const SymVar& var) {
      if (std::ranges::find(dims, var) == dims.end()) dims.push_back(var);
    });
  return dims;
}

// True where the function has a dimension of that name.
bool set_bound(vm::Function& function, const DimBound& bound) {
  bool found = false;
  for (const SymVar& dim : dimensions_of(function)) {
    const auto var = std::ranges::find(function.vars, dim);
    if (dim->name != bound.name || var == function.vars.end()) continue;
    function.bounds.push_back({static_cast<uint32_t>(var - function.vars.begin()), bound.most});
    found = true;
  }
  std::ranges::sort(function.bounds, {}, &vm::Bound::var);
  return found;
}

[[noreturn]] void refuse(const vm::Program& program, const DimBound& bound) {
  std::set<std::string> names;
  for (const vm::Function& function : program.functions)
    if (function.exported)
      for (const SymVar& dim : dimensions_of(function)) names.insert(dim->name);
  fail(ErrorCode::InvalidArgument, "--bound {}={}: no exported function has a dimension {}; {}", bound.name, bound.most,
       bound.name,
       names.empty() ? "all its dimensions are known" : fmt::format("there are: {}", fmt::join(names, ", ")));
}

// `all` is what stands behind --bound.
DimBound parse_bound(std::string_view item, std::string_view all) {
  const size_t equals = item.rfind('=');
  const char* const end = item.data() + item.size();
  int64_t most = -1;
  const auto parsed = equals == std::string_view::npos || equals == 0
                          ? std::from_chars_result{end, std::errc::invalid_argument}
                          : std::from_chars(item.data() + equals + 1, end, most);
  if (parsed.ec != std::errc() || parsed.ptr != end || most < 0)
    fail(ErrorCode::InvalidArgument, "--bound {}: {} is not a dimension and the most that it may be, like n=512", all,
         item.empty() ? "''" : item);
  return {std::string(item.substr(0, equals)), most};
}

}  // namespace

std::vector<DimBound> parse_bounds(const std::vector<std::string>& texts) {
  std::vector<DimBound> bounds;
  for (const std::string& text : texts) {
    for (size_t begin = 0; begin <= text.size();) {
      const size_t comma = std::min(text.find(',', begin), text.size());
      DimBound bound = parse_bound(std::string_view(text).substr(begin, comma - begin), text);
      if (std::ranges::find(bounds, bound.name, &DimBound::name) != bounds.end())
        fail(ErrorCode::InvalidArgument, "--bound {}: {} has a bound already", text, bound.name);
      bounds.push_back(std::move(bound));
      begin = comma + 1;
    }
  }
  return bounds;
}

void set_bounds(vm::Program& program, const std::vector<DimBound>& bounds) {
  for (const DimBound& bound : bounds) {
    bool found = false;
    for (vm::Function& function : program.functions)
      if (function.exported) found |= set_bound(function, bound);
    if (!found) refuse(program, bound);
  }
}

}  // namespace ingot::driver
