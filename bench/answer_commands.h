#pragma once
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>

namespace ingot::bench {

// The main loop of a runner (bench/runner.py): a line `ok`, with the words of `answer(line)` if there are any, or
// `error` and the exception's text in one line, for each line of stdin until `quit` or its end.
template <typename Answer>
void answer_commands(const Answer& answer) {
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    try {
      const std::string words = answer(line);
      std::cout << "ok" << (words.empty() ? "" : " ") << words << std::endl;
    } catch (const std::exception& error) {
      std::string text = error.what();
      std::replace(text.begin(), text.end(), '\n', ' ');
      std::cout << "error " << text << std::endl;
    }
  }
}

}  // namespace ingot::bench
