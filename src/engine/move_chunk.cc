#include "engine/move_chunk.h"

#include <numeric>

namespace looseleaf {

Status move_chunk(EngineCore& core, const RopeRegime& rope, Binding& binding, bool inplace) {
  Chunk& chunk = *binding.chunk;
  const int count = chunk.tokens();
  const bool alone = binding.chunk.use_count() == 2;
  const bool rewrite = inplace && alone;
  if (rewrite && chunk.stored_at == binding.position) return {};
  KvRun* target = &chunk.kv;
  if (!rewrite) {
    target = &binding.copy.emplace(core.chunk_layout);
    LL_RETURN_IF_ERROR(target->extend(core.pool, count));
  }

  const std::vector<float> turn = Forward::turn(rope, binding.position - chunk.stored_at);
  Segment source = chunk.kv.segment(chunk.stored_at);
  source.turn = turn;
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  std::vector<KvSlot> slots;
  for (const int32_t token : tokens) slots.push_back(target->slot(token));
  const ModelConfig& config = core.model->config;
  for (int layer = 0; layer < config.layers; ++layer)
    core.device->gather({layer, config.rope.dims, config.rope.pairs, &source, tokens, slots});
  if (rewrite) chunk.stored_at = binding.position;
  return {};
}

}  // namespace looseleaf
