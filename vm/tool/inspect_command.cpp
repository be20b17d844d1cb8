#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "vm/tool/commands.h"
#include "vm/tool/memory_page.h"

namespace ingot::tool {
namespace {

using Json = nlohmann::json;

struct Options {
  std::string file;
  std::vector<std::string> dims;
  std::string page;
  api::LoadOptions load;
  bool json = false;
};

std::string joined(const Json& names) {
  std::string text;
  for (const Json& name : names) text += (text.empty() ? "" : ", ") + name.get<std::string>();
  return text;
}

void print_memory(const Json& function) {
  if (function.contains("plan_error")) {
    print_line(fmt::format("  memory     {}", function["plan_error"].get<std::string>()));
  } else if (function.contains("memory")) {
    const Json& memory = function["memory"];
    const std::string peak =
        memory["peak_is_known"] ? "peak " + size_text(memory["peak_bytes"]) + ", arena " : "per activation: arena ";
    print_line(fmt::format("  memory     {}{}, lower bound {}, all tensors {}", peak, size_text(memory["arena_bytes"]),
                           size_text(memory["lower_bound_bytes"]), size_text(memory["sum_bytes"])));
  } else if (!function["entry_dims"].empty()) {
    print_line(fmt::format("  memory     depends on {}; give --memory {}=...", joined(function["entry_dims"]),
                           function["entry_dims"][0].get<std::string>()));
  }
}

void print_kernels(const Json& function) {
  if (!function.contains("kernels")) return;
  for (const Json& kernel : function["kernels"]) {
    const std::string name = kernel.contains("prim_func") ? "@" + kernel["prim_func"].get<std::string>()
                                                          : kernel["contract"].get<std::string>();
    const std::string how = kernel["variant"].is_null() ? kernel["reason"].get<std::string>()
                                                        : fmt::format("{} ({})", kernel["variant"].get<std::string>(),
                                                                      kernel["implementation"].get<std::string>());
    const std::string scratch = kernel.value("scratch_bytes", uint64_t{0}) == 0
                                    ? std::string()
                                    : ", scratch " + size_text(kernel["scratch_bytes"]);
    const std::string place = kernel["line"] == 0 ? fmt::format("unit {}", kernel["unit"].get<uint32_t>())
                                                  : fmt::format("line {}", kernel["line"].get<uint32_t>());
    print_line(fmt::format("  kernel     {}: {}, {}{}", place, name, how, scratch));
  }
}

void print_function(const Json& function) {
  const bool exported = function["exported"];
  print_line(fmt::format("{}@{}: {}", exported ? "" : "private ", function["name"].get<std::string>(),
                         function["signature"].get<std::string>()));
  for (const Json& param : function["params"])
    print_line(fmt::format("  parameter  {}: {}", param["name"].get<std::string>(), param["info"].get<std::string>()));
  print_line(fmt::format("  code       {}, {} registers", size_text(function["code_bytes"]),
                         function["registers"].get<uint32_t>()));
  if (function.contains("bounds"))
    for (const auto& [name, most] : function["bounds"].items())
      print_line(fmt::format("  bound      {} <= {}", name, most.get<int64_t>()));
  print_memory(function);
  print_kernels(function);
}

void print(const Json& all) {
  for (const Json& function : all["functions"]) print_function(function);
  for (const Json& import : all["imports"])
    print_line(fmt::format("import {}{}", import["name"].get<std::string>(),
                           import["writes"].empty() ? "" : " (writes arguments)"));
  const Json& constants = all["constants"];
  print_line(fmt::format("weights: {} constants, {} in the file, {} packed", constants["count"].get<uint64_t>(),
                         size_text(constants["bytes"]), size_text(constants["packed_bytes"])));
  std::string sections;
  for (const Json& section : all["sections"])
    if (section["bytes"] != 0)
      sections += fmt::format("{}{} {}", sections.empty() ? "" : ", ", section["name"].get<std::string>(),
                              size_text(section["bytes"]));
  if (!sections.empty()) print_line(fmt::format("file: {}: {}", size_text(all["file_bytes"]), sections));
  for (const auto& [key, value] : all["metadata"].items())
    print_line(fmt::format("{}: {}", key, value.get<std::string>()));
}

// "n=128,m=3" of everything behind --memory. A last word without a value is FILE, where that is not given otherwise.
std::string take_dims(Options& options) {
  if (options.file.empty() && !options.dims.empty() && options.dims.back().find('=') == std::string::npos) {
    options.file = options.dims.back();
    options.dims.pop_back();
  }
  if (options.file.empty()) fail(ErrorCode::InvalidArgument, "FILE is missing");
  return fmt::format("{}", fmt::join(options.dims, ","));
}

void write_page(const std::string& path, const Json& all, const std::string& title) {
  std::ofstream file(path, std::ios::binary);
  file << memory_page(all, title);
  file.close();
  if (!file) fail(ErrorCode::Io, "cannot write {}", path);
}

}  // namespace

Tool::Command configure_inspect(CLI::App& command, const Sources& sources) {
  const auto options = std::make_shared<Options>();
  command.add_option("FILE", options->file, "the executable");
  command.add_option("--memory", options->dims, "values of dimensions for which to tell memory and kernels: n=128 m=3")
      ->expected(0, -1);
  command.add_option("--memory-html", options->page, "draw the memory plans into this file");
  command.add_option("--cpu", options->load.cpu, "at most this instruction set");
  command.add_flag("--json", options->json, "print JSON");
  return [options, &sources] {
    const std::string dims = take_dims(*options);
    if (sources.inspect && sources.inspect(options->file, options->json)) return 0;
    const std::string text = sources.load(options->file, options->load).describe(dims);
    if (!options->page.empty()) write_page(options->page, Json::parse(text), options->file);
    if (options->json) {
      print_line(text);
    } else {
      print(Json::parse(text));
    }
    return 0;
  };
}

}  // namespace ingot::tool
