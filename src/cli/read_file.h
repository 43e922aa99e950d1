// Reading a whole text file, or standard input, with errors that name it.
#pragma once

#include <string>

#include "base/status.h"

namespace looseleaf {

// What errors call `path`: "standard input" for "-".
std::string shown_path(const std::string& path);

// The file's bytes, "-" being standard input, without a UTF-8 byte order mark. Checked to be UTF-8.
// Errors: kNotFound (missing, not readable), kInvalidArgument (a folder, too large, not UTF-8 with
// its offset, standard input for the second time).
Expected<std::string> read_text_file(const std::string& path);

}  // namespace looseleaf
