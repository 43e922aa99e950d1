#include "engine/sequence.h"

#include <algorithm>
#include <set>

namespace looseleaf {

Segment Binding::segment() const {
  if (copy) return copy->segment(position);
  Segment segment = chunk->kv.segment(position);
  segment.turn = turn;
  return segment;
}

KvBytes Sequence::kv_bytes() const {
  KvBytes bytes;
  std::set<const Chunk*> counted;
  for (const auto& part : parts) {
    if (const auto* run = std::get_if<TextRun>(&part)) {
      bytes.private_pages += run->kv.bytes();
      continue;
    }
    const auto& binding = std::get<Binding>(part);
    if (counted.insert(binding.chunk.get()).second) bytes.chunks += binding.chunk->kv.bytes();
    if (binding.copy) bytes.private_pages += binding.copy->bytes();
  }
  return bytes;
}

Status append_token(EngineCore& core, Sequence& sequence, int32_t token) {
  TextRun& tail = sequence.tail();
  LL_RETURN_IF_ERROR(tail.kv.extend(core.pool, 1));
  tail.tokens.push_back(token);
  return {};
}

Status compute_text(EngineCore& core, Sequence& sequence, std::span<float> logits) {
  const int layers = core.model->config.layers;
  // One group a text: it sees all parts up to itself.
  struct Pending {
    TextRun* run;
    int32_t group;
    int token;
  };
  std::vector<Pending> pending;
  Pass base;
  std::vector<SegmentUse> before;
  for (auto& part : sequence.parts) {
    before.push_back({static_cast<int32_t>(base.segments.size())});
    if (auto* run = std::get_if<TextRun>(&part)) {
      base.segments.push_back(run->segment());
      for (int i = run->computed; i < static_cast<int>(run->tokens.size()); ++i)
        pending.push_back({run, static_cast<int32_t>(base.groups.size()), i});
      base.groups.push_back({before, sequence.rope.get()});
    } else {
      base.segments.push_back(std::get<Binding>(part).segment());
    }
  }

  for (size_t first = 0; first < pending.size(); first += kPassRows) {
    const size_t end = std::min(pending.size(), first + kPassRows);
    Pass pass = base;
    for (size_t i = first; i < end; ++i) {
      const auto& [run, group, token] = pending[i];
      const bool output = i + 1 == pending.size();
      pass.rows.push_back({run->tokens[static_cast<size_t>(token)], run->position + token,
                           output ? layers : layers - 1, run->kv.slot(token), group});
      if (output) pass.outputs = 1;
    }
    pass.sort_rows();
    LL_RETURN_IF_ERROR(core.forward.run(pass, logits));
    for (size_t i = first; i < end; ++i) pending[i].run->computed = pending[i].token + 1;
  }
  return {};
}

void publish(EngineCore& core, const Sequence& sequence) {
  PrefixCache::Place place = sequence.root;
  for (const auto& part : sequence.parts) {
    if (const auto* binding = std::get_if<Binding>(&part)) {
      place = core.prefixes.insert_chunk(place, binding->chunk->key, sequence.method);
      continue;
    }
    const auto& run = std::get<TextRun>(part);
    if (!run.shared) return;
    for (int first = 0; first < run.computed; first += kPageTokens) {
      const int count = std::min(kPageTokens, run.computed - first);
      place = core.prefixes.insert(
          place,
          std::span(run.tokens).subspan(static_cast<size_t>(first), static_cast<size_t>(count)),
          run.kv.pages()[static_cast<size_t>(first / kPageTokens)]);
    }
    if (run.computed < static_cast<int>(run.tokens.size())) return;
  }
}

}  // namespace looseleaf
