// Which files are texts that can be read as documents, and which are in a folder.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace looseleaf {

// ".md" of "notes/A.MD"; "" without one.
std::string lower_suffix(const std::string& path);

// Errors: kNotFound.
Status check_exists(const std::string& path);

// Errors: kNotFound; kUnsupported for anything but text and Markdown, with what to do about it.
Status check_text_format(const std::string& path);

// Paths of the files in it, relative to it, recursive and sorted, without dot files and anything
// that is not a regular file. Links to folders are not followed, so the walk ends.
// Errors: kNotFound, kInvalidArgument (a folder in it cannot be read).
Expected<std::vector<std::string>> list_folder(const std::string& path);

}  // namespace looseleaf
