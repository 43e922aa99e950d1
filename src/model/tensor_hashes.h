// XXH3 of ranges of a model's files, kept beside each file so that a big model is read only once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/mapped_file.h"

namespace looseleaf {

// The hashes of `model.gguf` stand in `model.gguf.looseleaf-hashes`, as text:
//   looseleaf-hashes 1
//   file SIZE MODIFIED             bytes; nanoseconds since the epoch
//   OFFSET BYTES HASH              one line a range; the hash in hex
//   check HASH                     XXH3 of everything above
// A sidecar that is stale (the file's size or time differ), corrupt or unreadable is ignored.
class TensorHashes {
 public:
  // Smaller files are hashed sooner than their sidecar is found.
  static constexpr size_t kWorthKeeping = size_t{16} << 20;

  // Files below `least_bytes` have no sidecar.
  explicit TensorHashes(std::span<const std::shared_ptr<const MappedFile>> files,
                        size_t least_bytes = kWorthKeeping);

  // REQUIRES: `data` lies in one of the files.
  uint64_t hash(std::span<const std::byte> data);

  // Writes the sidecars whose contents changed, each by renaming a new file over the old one. A
  // folder that cannot be written is no error: the hashes are computed again next time.
  void save() const;

 private:
  using Ranges = std::map<std::pair<uint64_t, uint64_t>, uint64_t>;  // (offset, bytes) -> hash
  struct File {
    const MappedFile* file = nullptr;
    int64_t modified = 0;  // nanoseconds; 0: unknown, so nothing is kept
    Ranges ranges;
    bool changed = false;
  };

  static bool read(File& file);
  static void write(const File& file);

  std::vector<File> files_;
};

}  // namespace looseleaf
