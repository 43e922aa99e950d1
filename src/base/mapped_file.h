// A file mapped read-only into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "base/status.h"

namespace looseleaf {

// The mapping lives as long as the object. Thread-safe: it never changes.
// A file that another process truncates while it is mapped raises SIGBUS: models are replaced by
// renaming a new file over the old one, never by writing into it.
class MappedFile {
 public:
  // Errors: kNotFound (no such file, not a regular file, no permission), kCorrupt (empty file).
  static Expected<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }
  // When the mapped file was last written: nanoseconds since the epoch.
  int64_t modified_ns() const { return modified_ns_; }

 private:
  MappedFile(std::filesystem::path path, std::span<const std::byte> bytes, int64_t modified_ns);
  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
  int64_t modified_ns_;
};

}  // namespace looseleaf
