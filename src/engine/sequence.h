// A prompt brought to its keys and values: stretches of text and bound chunks, in prompt order.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cache/chunk_cache.h"
#include "cache/prefix_cache.h"
#include "engine/core.h"
#include "engine/overlay.h"
#include "engine/prompt.h"
#include "repair/method.h"

namespace looseleaf {

// One occurrence of a chunk in one prompt. The chunk knows nothing of it.
struct Binding {
  ChunkHandle chunk;
  int position = 0;           // prompt position of the chunk's first token
  std::optional<KvRun> copy;  // `block`: this request's own, keys moved to `position`
  std::vector<float> turn;    // Segment::turn; empty where nothing is to turn

  Segment segment() const;
};

// Text tokens with keys and values at prompt positions.
struct TextRun {
  int position = 0;
  std::vector<int32_t> tokens;  // generated ones are appended to the last run
  KvRun kv;                     // room for all of `tokens`
  int computed = 0;             // tokens whose keys and values are there
  bool shared = false;          // whether its pages go to the prefix cache

  Segment segment() const { return kv.segment(position); }
};

// Everything that a request holds. Destroying it gives all of that back.
struct Sequence {
  std::vector<std::variant<TextRun, Binding>> parts;  // the last is text
  std::shared_ptr<const RopeRegime> rope;             // of the prompt's length, held through decode
  PrefixCache::Place root;                            // where the prompt begins in the prefix cache
  std::string method;                                 // canonical
  bool repairs = false;  // by its method: text behind documents is this request's own
  std::vector<ChunkUse> chunks;
  std::optional<Overlay> overlay;  // what a repair recomputed
  int prompt_tokens = 0;
  int cached_tokens = 0;
  double chunk_prefill_ms = 0;

  TextRun& tail() { return std::get<TextRun>(parts.back()); }
  KvBytes kv_bytes() const;  // a chunk that is bound twice counts once

  // The parts as segments, bindings with their stale bits; behind them the overlay where there is
  // one. The views hold until the sequence changes.
  std::vector<Segment> segments() const;
  // What text part `part` sees: all before it, the overlay, itself.
  std::vector<SegmentUse> uses_of_text(size_t part) const;
};

// Finds or computes the prompt's chunks, finds the text that the prefix cache holds, and makes room
// for the rest, which is not computed yet. `salt` separates tenants.
// Errors: kUnavailable (it does not fit the byte limit).
Expected<Sequence> bind_prompt(EngineCore& core, const Prompt& prompt, const Method& method,
                               const std::string& salt);

// Makes room for one more token at the end. Errors: kUnavailable; the sequence is as before.
Status append_token(EngineCore& core, Sequence& sequence, int32_t token);

// The tokens of text in parts [0, end) that are not computed yet, as rows in prompt order; with all
// parts the last one gives logits.
Pass pending_text(const Sequence& sequence, size_t end, int layers);

// Runs all tokens that are not computed yet. logits: [vocab] after the last token, may be empty;
// largest: the host's, becomes the token of the largest of them, or null. Errors: kUnavailable.
Status compute_text(EngineCore& core, Sequence& sequence, std::span<float> logits,
                    int32_t* largest = nullptr);

// Runs those of parts [0, end), which does not reach the last. Errors: kUnavailable.
Status compute_text_before(EngineCore& core, Sequence& sequence, size_t end);

// Gives what was computed to the prefix cache, as far as others may share it.
void publish(EngineCore& core, const Sequence& sequence);

}  // namespace looseleaf
