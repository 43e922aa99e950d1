// How this process was called.
#pragma once

#include <string>

namespace looseleaf {

// The words as a shell would take them. "" where the system does not say.
std::string command_line();

// A word in single quotes where a shell needs them.
std::string shell_word(const std::string& word);

}  // namespace looseleaf
