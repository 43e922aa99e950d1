#include "cli/command_line.h"

#include <algorithm>
#include <cctype>
#include <fstream>

namespace looseleaf {

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("-_=+./:,@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string line, word;
  while (std::getline(file, word, '\0')) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

}  // namespace looseleaf
