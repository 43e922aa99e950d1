#include "engine/chunk_prefill.h"

#include <algorithm>

namespace looseleaf {
namespace {

// Keys and values of `chunk`'s tokens at positions 0, 1, ..., seeing `prefix` (may be null) and
// themselves.
Status prefill(EngineCore& core, const RopeRegime& rope, Chunk& chunk, const Chunk* prefix) {
  const auto& tokens = chunk.identity.tokens;
  const auto count = static_cast<int>(tokens.size());
  LL_RETURN_IF_ERROR(chunk.kv.extend(core.pool, count));
  std::vector<float> turn;
  const int most = core.device->facts().pass_rows;
  for (int first = 0; first < count; first += most) {
    Pass pass;
    PassGroup group{.uses = {}, .rope = &rope};
    if (prefix != nullptr) {
      Segment segment = prefix->kv.segment(-prefix->tokens());
      turn = Forward::turn(rope, -prefix->tokens());
      segment.turn = turn;
      pass.segments.push_back(segment);
      group.uses.push_back({0});
    }
    pass.segments.push_back(chunk.kv.segment(0));
    group.uses.push_back({static_cast<int32_t>(pass.segments.size()) - 1});
    pass.groups.push_back(std::move(group));
    const int depth = core.model->config.layers - 1;
    for (int i = first; i < std::min(count, first + most); ++i)
      pass.rows.push_back({tokens[static_cast<size_t>(i)], i, depth, chunk.kv.slot(i), 0});
    LL_RETURN_IF_ERROR(core.forward.run(pass, {}));
  }
  return {};
}

}  // namespace

Expected<AcquiredChunk> acquire_chunk(EngineCore& core, const std::vector<int32_t>& tokens,
                                      const std::vector<int32_t>& encoding_prefix,
                                      const std::string& salt, const std::string& variant,
                                      const RopeRegime& rope) {
  if (!can_reuse_chunks(core.model->config.rope))
    return tl::unexpected(Error{
        ErrorCode::kUnsupported,
        "method: with dynamic NTK scaling keys depend on the prompt's length, so that no chunk "
        "can be reused: use method full or prefix",
        "method"});
  ChunkIdentity identity{
      .fingerprint = core.fingerprint,
      .rope_regime = rope.name,
      .kv_type = core.options.kv_type,
      .encoding_prefix = encoding_prefix,
      .salt = salt,
      .variant = variant,
      .tokens = tokens,
  };
  const ChunkKey key = chunk_key(identity);
  if (ChunkHandle found = core.chunks.find(identity, key)) return AcquiredChunk{found, false, ""};

  ChunkHandle prefix;
  if (!encoding_prefix.empty()) {
    LL_ASSIGN(const AcquiredChunk acquired,
              acquire_chunk(core, encoding_prefix, {}, salt, "", rope));
    prefix = acquired.chunk;
  }
  auto chunk = std::make_shared<Chunk>(Chunk{std::move(identity), key, KvRun(core.chunk_layout)});
  LL_RETURN_IF_ERROR(prefill(core, rope, *chunk, prefix.get()));
  const char* reason = core.chunks.was_evicted(key) ? "evicted" : "new";
  return AcquiredChunk{core.chunks.insert(std::move(chunk)), true, reason};
}

}  // namespace looseleaf
