// Looking for files that may be missing.
#pragma once

#include <filesystem>

namespace looseleaf {

// A link to nowhere counts as a file: it was meant to be there, so opening it must tell.
inline bool has_file(const std::filesystem::path& path) {
  std::error_code status;
  return std::filesystem::symlink_status(path, status).type() !=
         std::filesystem::file_type::not_found;
}

}  // namespace looseleaf
