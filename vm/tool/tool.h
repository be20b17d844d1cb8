#pragma once
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "vm/executable/program.h"
#include <ingot/ingot.hpp>

namespace ingot::tool {

// How a command gets at what FILE names. The defaults read executables, and assemble files that end in .asm; `ingot`
// compiles sources on the way.
struct Sources {
  std::function<api::Executable(const std::string& path, const api::LoadOptions&)> load;
  std::function<vm::Program(const std::string& path)> program;  // not verified
  // Prints what is in a file that is no executable, as JSON or for people, and gives true; false for executables. May
  // be empty.
  std::function<bool(const std::string& path, bool json)> inspect = {};
};
Sources executable_sources();

// A command-line program made of subcommands. A subcommand's function gives the exit code; what it throws becomes
// "error[CODE]: message" on stderr and the code's exit code, a wrong command line exit code 2.
class Tool {
 public:
  Tool(std::string name, std::string description, Sources sources);

  // `configure` adds options and gives the function to run; both live as long as the tool.
  using Command = std::function<int()>;
  using Configure = std::function<Command(CLI::App& command, const Sources& sources)>;
  void add(const std::string& name, const std::string& description, const Configure& configure);

  int main(int argc, char** argv);

 private:
  CLI::App app_;
  Sources sources_;
  Command chosen_;
};

// run, bench, profile, inspect, verify, asm and disasm: what a deployment needs.
void add_runtime_commands(Tool& tool);

// "error[ShapeMismatch]: ..." and the backtrace, on stderr; gives the exit code. Call it in a handler of the exception.
int report_current_exception();
// One line on stderr, in the same form.
void report(std::string_view label, std::string_view message, std::string_view details = {});
// On stdout; print_line adds a line end.
void print_text(std::string_view text);
void print_line(std::string_view text);

// The program that an assembly text says, not verified. Errors begin with the path.
vm::Program assemble_file(const std::string& path);

}  // namespace ingot::tool
