#include "vm/tool/tool.h"

#include <cstdio>

#include <fmt/format.h>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "vm/executable/reader.h"
#include "vm/executable/text.h"
#include "vm/executable/writer.h"
#include "vm/interpreter/session.h"

namespace ingot::tool {
namespace {

constexpr int kWrongCommandLine = 2;
// The distinct primitives of a large network, of which loading shares equal ones; executables keep what they need.
constexpr size_t kPrimitiveCacheCapacity = 64;

void write(std::FILE* file, std::string_view text) { std::fwrite(text.data(), 1, text.size(), file); }

int exit_code_of(ingot_status status) {
  const bool known = status >= 0 && status <= INGOT_INTERNAL;
  return error_exit_code(known ? static_cast<ErrorCode>(status) : ErrorCode::Internal);
}

bool is_assembly(const std::string& path) { return path.ends_with(".asm"); }

}  // namespace

Sources executable_sources() {
  return {[](const std::string& path, const api::LoadOptions& options) {
            if (!is_assembly(path)) return api::Executable::load(path, options);
            const std::vector<std::byte> bytes = vm::write_program(assemble_file(path));
            return api::Executable::load(bytes, options);
          },
          [](const std::string& path) { return is_assembly(path) ? assemble_file(path) : vm::load_program(path); }};
}

vm::Program assemble_file(const std::string& path) {
  const FileBytes file = read_file(path);
  try {
    return vm::assemble({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()});
  } catch (Error& error) {
    error.add_context(path);
    throw;
  }
}

Tool::Tool(std::string name, std::string description, Sources sources)
    : app_(std::move(description), std::move(name)), sources_(std::move(sources)) {
  app_.require_subcommand(1);
  app_.set_version_flag("--version", std::string(INGOT_VERSION));
}

void Tool::add(const std::string& name, const std::string& description, const Configure& configure) {
  CLI::App& command = *app_.add_subcommand(name, description);
  command.callback([this, run = configure(command, sources_)] { chosen_ = run; });
}

int Tool::main(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app_.exit(help);
  } catch (const CLI::ParseError& error) {
    report(error_name(ErrorCode::InvalidArgument), error.what(), "Run with --help for more information.\n");
    return kWrongCommandLine;
  }
  try {
    api::set_primitive_cache_capacity(kPrimitiveCacheCapacity);
    return chosen_();
  } catch (...) {
    return report_current_exception();
  }
}

void print_text(std::string_view text) { write(stdout, text); }

void print_line(std::string_view text) {
  write(stdout, text);
  write(stdout, "\n");
}

void report(std::string_view label, std::string_view message, std::string_view details) {
  std::fflush(stdout);
  write(stderr, fmt::format("error[{}]: {}\n{}", label, message, details));
}

int report_current_exception() {
  try {
    throw;
  } catch (const api::Error& error) {
    report(error.label(), error.what(), error.backtrace());
    return exit_code_of(error.status());
  } catch (const vm::Fault& error) {
    report(error.label(), error.what(), error.backtrace());
    return error_exit_code(error.code());
  } catch (const Error& error) {
    report(error.label(), error.what());
    return error_exit_code(error.code());
  } catch (const std::bad_alloc&) {
    report(error_name(ErrorCode::OutOfMemory), "the system has no memory left");
    return error_exit_code(ErrorCode::OutOfMemory);
  } catch (const std::exception& error) {
    report(error_name(ErrorCode::Internal), error.what());
    return error_exit_code(ErrorCode::Internal);
  }
}

}  // namespace ingot::tool
