// Recomputed keys and values of one prompt's document tokens. Chunks are never written: attention
// passes over a chunk's stale tokens and reads the overlay in their place.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/kv_pool.h"
#include "compute/segment.h"
#include "repair/plan.h"

namespace looseleaf {

// Every entry belongs to one binding (an occurrence of a chunk), so that in [X, Y, X] both X have
// repairs of their own. Entries are stored deepest first, in prompt order among equals: layer l's
// overlay is the first counts[l] of them, and a page holds layers 1 to the depth of its first
// entry. Layer 0 has none: its keys and values depend on the token alone.
class Overlay {
 public:
  // Works out entries, counts and stale bits for what `plan` recomputes; no memory yet.
  // `chunk_tokens`: [bindings]. `layout`: of private pages.
  Overlay(const KvLayout& layout, const PromptShape& shape, const RepairPlan& plan,
          const std::vector<int32_t>& chunk_tokens);

  // Errors: kUnavailable (no room; nothing is kept).
  Status allocate(KvPool& pool);

  int32_t count() const { return static_cast<int32_t>(tokens_.size()); }
  const std::vector<int32_t>& tokens() const { return tokens_; }  // [count] of the PromptShape
  const std::vector<int32_t>& depths() const { return depths_; }  // [count] falling, >= 1
  KvSlot slot(int32_t entry) const {
    return {&layout_, data_[static_cast<size_t>(entry / kPageTokens)], entry % kPageTokens};
  }
  // Keys rotated at prompt positions. The view holds as long as the overlay stays where it is.
  Segment segment() const;
  std::span<const uint64_t> stale(size_t binding) const { return stale_[binding]; }
  // Sum over entries of depth x bytes of a token in a layer.
  int64_t bytes() const;

 private:
  KvLayout layout_;
  std::vector<int32_t> tokens_, depths_;
  std::vector<int32_t> positions_;            // [count] in the prompt
  std::vector<int32_t> counts_;               // [layers]
  std::vector<std::vector<uint64_t>> stale_;  // [bindings] of [layers][stale_words]
  std::vector<KvPageRef> pages_;
  std::vector<std::byte*> data_;  // [pages] null before allocate()
};

}  // namespace looseleaf
