#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::generated {

// A well-typed program and arguments for its @main, in the forms of the language and of --input.
struct Program {
  std::string text;
  std::vector<std::string> inputs;
};

// Lists of choices: the first is that of @main, each other one that of a function (and its partner, if it has one).
using Recipe = std::vector<std::vector<uint8_t>>;

// Any recipe stands for a program. It always ends, with a value or an error.
Program generate(const Recipe& recipe);

}  // namespace ingot::generated
