// Chunks: found in the cache, or computed alone behind their encoding prefix.
#pragma once

#include <string>

#include "cache/chunk_cache.h"
#include "engine/core.h"

namespace looseleaf {

struct AcquiredChunk {
  ChunkHandle chunk;
  bool computed = false;    // now, not found
  std::string miss_reason;  // new | evicted; "" on a hit
};

// `encoding_prefix`: token ids that the chunk is computed behind; their own keys and values are a
// chunk too, bound at position -size. `variant`: see ChunkIdentity. `rope`: of the prompt that the
// chunk is wanted for.
// Errors: kUnavailable (no room for its pages: nothing is kept), kUnsupported (see
// can_reuse_chunks).
Expected<AcquiredChunk> acquire_chunk(EngineCore& core, const std::vector<int32_t>& tokens,
                                      const std::vector<int32_t>& encoding_prefix,
                                      const std::string& salt, const std::string& variant,
                                      const RopeRegime& rope);

}  // namespace looseleaf
