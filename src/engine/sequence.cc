#include "engine/sequence.h"

#include <algorithm>
#include <set>

#include "engine/run_pieces.h"

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
  if (overlay) bytes.overlay = overlay->bytes();
  return bytes;
}

std::vector<Segment> Sequence::segments() const {
  std::vector<Segment> segments;
  size_t bindings = 0;
  for (const auto& part : parts) {
    if (const auto* run = std::get_if<TextRun>(&part)) {
      segments.push_back(run->segment());
      continue;
    }
    segments.push_back(std::get<Binding>(part).segment());
    if (overlay) segments.back().stale = overlay->stale(bindings);
    ++bindings;
  }
  if (overlay) segments.push_back(overlay->segment());
  return segments;
}

std::vector<SegmentUse> Sequence::uses_of_text(size_t part) const {
  std::vector<SegmentUse> uses;
  for (size_t p = 0; p < part; ++p) uses.push_back({static_cast<int32_t>(p)});
  if (overlay) uses.push_back({static_cast<int32_t>(parts.size())});
  uses.push_back({static_cast<int32_t>(part)});
  return uses;
}

Status append_token(EngineCore& core, Sequence& sequence, int32_t token) {
  TextRun& tail = sequence.tail();
  LL_RETURN_IF_ERROR(tail.kv.extend(core.pool, 1));
  tail.tokens.push_back(token);
  return {};
}

Pass pending_text(const Sequence& sequence, size_t end, int layers) {
  Pass pass;
  pass.segments = sequence.segments();
  for (size_t part = 0; part < end; ++part) {
    const auto* run = std::get_if<TextRun>(&sequence.parts[part]);
    if (run == nullptr) continue;
    for (int i = run->computed; i < static_cast<int>(run->tokens.size()); ++i)
      pass.rows.push_back({run->tokens[static_cast<size_t>(i)], run->position + i, layers - 1,
                           run->kv.slot(i), static_cast<int32_t>(pass.groups.size())});
    pass.groups.push_back({sequence.uses_of_text(part), sequence.rope.get()});
  }
  if (end < sequence.parts.size() || pass.rows.empty()) return pass;
  pass.rows.back().depth = layers;
  pass.outputs = 1;
  return pass;
}

namespace {

Status compute_parts(EngineCore& core, Sequence& sequence, size_t end, std::span<float> logits,
                     int32_t* largest) {
  const Pass pass = pending_text(sequence, end, core.model->config.layers);
  LL_RETURN_IF_ERROR(run_in_pieces(core, pass, logits, {.largest = largest}));
  for (size_t part = 0; part < end; ++part)
    if (auto* run = std::get_if<TextRun>(&sequence.parts[part]))
      run->computed = static_cast<int>(run->tokens.size());
  return {};
}

}  // namespace

Status compute_text(EngineCore& core, Sequence& sequence, std::span<float> logits,
                    int32_t* largest) {
  return compute_parts(core, sequence, sequence.parts.size(), logits, largest);
}

Status compute_text_before(EngineCore& core, Sequence& sequence, size_t end) {
  return compute_parts(core, sequence, end, {}, nullptr);
}

void publish(EngineCore& core, const Sequence& sequence) {
  PrefixCache::Place place = sequence.root;
  for (const auto& part : sequence.parts) {
    if (const auto* binding = std::get_if<Binding>(&part)) {
      if (sequence.repairs) return;  // what follows depends on the question too
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
