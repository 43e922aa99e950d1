// What rows attend over: ranges of cached keys and values, each bound at a place in a prompt.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "compute/kv_layout.h"

namespace looseleaf {

// Views only: the binding, run or overlay that made the segment owns everything it points to.
struct Segment {
  const KvLayout* layout = nullptr;
  std::span<std::byte* const> pages;  // [pages_for(count)] token i: pages[i / 32], slot i % 32
  int32_t count = 0;                  // tokens
  // Overlays hold fewer tokens with depth: the first count_by_layer[l]. Empty: count in each layer.
  std::span<const int32_t> count_by_layer;  // [layers]

  // Where the tokens stand in the prompt: token i at position + i, or at positions[i].
  int32_t position = 0;
  std::span<const int32_t> positions;  // [count] overlays and gathered tokens; else empty

  // cos and sin of the angles between prompt and stored position, one vector for the whole segment:
  // queries are turned back by it (R(-s) q), keys are read as stored. Empty: nothing to turn.
  std::span<const float> turn;  // [2][rotary dims / 2] cos, then sin

  // Bit i of layer l is set where an overlay replaces token i. Empty: no token is stale.
  std::span<const uint64_t> stale;  // [layers][stale_words(count)]

  int32_t tokens(int layer) const {
    return count_by_layer.empty() ? count : count_by_layer[static_cast<size_t>(layer)];
  }
  int32_t position_of(int32_t i) const {
    return positions.empty() ? position + i : positions[static_cast<size_t>(i)];
  }
  static constexpr int64_t stale_words(int64_t count) { return (count + 63) / 64; }
  bool is_stale(int layer, int32_t i) const {
    if (stale.empty()) return false;
    const auto word = static_cast<size_t>(layer * stale_words(count) + i / 64);
    return (stale[word] >> (i % 64)) & 1;
  }
};

inline constexpr int32_t kNoLimit = std::numeric_limits<int32_t>::max();

// A key is visible to a row of the group when key position <= row position, key position < limit,
// row position - key position < window (where there is one), and it is not stale.
struct SegmentUse {
  int32_t segment = 0;  // index into the pass's segments
  int32_t limit = kNoLimit;
  int32_t mass = -1;  // where its first key's mass is added (Device::attend_mass); -1: not wanted
};

// Rows that see the same segments: one sequence's part of a pass.
struct RowGroup {
  std::span<const int32_t> rows;     // row numbers, ascending
  std::span<const SegmentUse> uses;  // in prompt order: partial results are merged in this order
};

// Where a row's key and value go.
struct KvSlot {
  const KvLayout* layout = nullptr;
  std::byte* page = nullptr;  // null: nowhere
  int32_t slot = 0;           // [0, kPageTokens)
};

}  // namespace looseleaf
