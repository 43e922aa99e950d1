// A chunk's keys and values, for people to look at.
#pragma once

#include <string>

#include "engine/core.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// See Engine::chunk_kv.
Expected<ChunkKv> read_chunk_kv(EngineCore& core, const std::string& chunk_id, int layer);

}  // namespace looseleaf
