#include "engine/read_chunk.h"

#include <cstring>
#include <numeric>

namespace looseleaf {

Expected<ChunkKv> read_chunk_kv(EngineCore& core, const std::string& chunk_id, int layer) {
  // Other devices arrange pages in ways of their own.
  if (core.device->name() != "cpu")
    return error(ErrorCode::kUnsupported,
                 "a chunk's keys and values are read on the CPU only; load the engine with device "
                 "cpu");
  const ChunkHandle chunk = core.chunks.find_id(chunk_id);
  if (!chunk) return error(ErrorCode::kNotFound, "no chunk has the id '{}'", chunk_id);
  const ModelConfig& config = core.model->config;
  if (layer < 0 || layer >= config.layers)
    return field_error("layer", "{} is not one of the {} layers (0 to {})", layer, config.layers,
                       config.layers - 1);
  // A copy in f32, by the operation that knows every stored type.
  const KvLayout layout{KvType::kF32, 1, config.kv_heads, config.head_dim};
  KvRun copy(layout);
  const int tokens = chunk->tokens();
  LL_RETURN_IF_ERROR(copy.extend(core.pool, tokens));
  const Segment source = chunk->kv.segment(0);
  std::vector<int32_t> all(static_cast<size_t>(tokens));
  std::iota(all.begin(), all.end(), 0);
  std::vector<KvSlot> slots;
  for (const int32_t token : all) slots.push_back(copy.slot(token));
  core.device->gather({layer, config.rope.dims, config.rope.pairs, &source, all, slots});
  LL_RETURN_IF_ERROR(core.device->wait());

  ChunkKv kv{tokens, config.kv_heads, config.head_dim, {}, {}};
  const auto row = static_cast<size_t>(config.head_dim);
  kv.keys.resize(static_cast<size_t>(tokens) * static_cast<size_t>(config.kv_heads) * row);
  kv.values.resize(kv.keys.size());
  size_t at = 0;
  for (const KvSlot& slot : slots)
    for (int head = 0; head < config.kv_heads; ++head, at += row) {
      const size_t within = static_cast<size_t>(slot.slot) * row * sizeof(float);
      std::memcpy(&kv.keys[at], slot.page + layout.key_offset(layer, head) + within,
                  row * sizeof(float));
      std::memcpy(&kv.values[at], slot.page + layout.value_offset(layer, head) + within,
                  row * sizeof(float));
    }
  return kv;
}

}  // namespace looseleaf
