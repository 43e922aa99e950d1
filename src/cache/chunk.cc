#include "cache/chunk.h"

namespace looseleaf {

ChunkKey chunk_key(const ChunkIdentity& identity) {
  return Sha256()
      .field("looseleaf chunk 1")
      .field(identity.fingerprint)
      .field(identity.rope_regime)
      .field(kv_type_name(identity.kv_type))
      .field(std::span<const int32_t>(identity.encoding_prefix))
      .field(identity.salt)
      .field(identity.variant)
      .field(std::span<const int32_t>(identity.tokens))
      .finish();
}

}  // namespace looseleaf
