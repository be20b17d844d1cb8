#pragma once
#include "vm/tool/tool.h"

// The subcommands of a deployment, one file each.
namespace ingot::tool {

Tool::Command configure_run(CLI::App& command, const Sources& sources);
Tool::Command configure_bench(CLI::App& command, const Sources& sources);
Tool::Command configure_inspect(CLI::App& command, const Sources& sources);
Tool::Command configure_asm(CLI::App& command, const Sources& sources);
Tool::Command configure_disasm(CLI::App& command, const Sources& sources);
Tool::Command configure_profile(CLI::App& command, const Sources& sources);
Tool::Command configure_verify(CLI::App& command, const Sources& sources);

}  // namespace ingot::tool
