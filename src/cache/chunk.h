// A chunk: a document's keys and values, and its identity.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "cache/kv_run.h"

namespace looseleaf {

// Everything that a chunk's values depend on. Not the position, not the neighbours.
struct ChunkIdentity {
  std::string fingerprint;  // of the model and the numeric path
  std::string rope_regime;  // "" where the model has only one
  KvType kv_type = KvType::kF32;
  std::vector<int32_t> encoding_prefix;  // token ids that stood before it while it was computed
  std::string salt;                      // tenants share nothing
  std::string variant;                   // "" but for `block:inplace=1`, which writes to its chunks
  std::vector<int32_t> tokens;

  bool operator==(const ChunkIdentity&) const = default;
};

using ChunkKey = Sha256Digest;
ChunkKey chunk_key(const ChunkIdentity& identity);

// Keys are stored rotated at positions stored_at, stored_at + 1, ...; stored_at is 0 unless
// `block:inplace=1` moved the chunk.
struct Chunk {
  ChunkIdentity identity;
  ChunkKey key;
  KvRun kv;
  int stored_at = 0;

  int tokens() const { return kv.count(); }
  std::string id() const { return to_hex(key); }
};

}  // namespace looseleaf
