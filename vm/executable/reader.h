#pragma once
#include <filesystem>
#include <span>

#include "runtime/base/file.h"
#include "vm/executable/program.h"

namespace ingot::vm {

// The program that an executable file says (docs/executable_format.md). Every number is checked as far as reading needs
// it, memory stays within a small multiple of the file's size; what the program means is the verifier's to check.
//
// Everything but the elements of constants is copied before it is checked; constants point into `file` and keep its
// owner. Throws CorruptFile that names section, byte and both numbers, and Unsupported for other format versions and
// for features that this build does not have, by name.
Program read_program(const FileBytes& file);

// From a file, mapped or (`copy`) read. Errors begin with the path. Throws Io as well.
Program load_program(const std::filesystem::path& path, bool copy = false);

}  // namespace ingot::vm
