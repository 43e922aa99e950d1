// Which keys of a page a row may see, and the page's keys as floats: what all sweeps over segments
// share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compute/cpu/kv_codec.h"
#include "compute/segment.h"

namespace looseleaf {

static_assert(kPageTokens == 32, "a page's visible keys are one 32-bit mask");

inline uint32_t bits_below(int64_t n) { return n <= 0 ? 0 : n >= 32 ? ~0u : (1u << n) - 1; }

// The keys of page `page` that a row at `position` may see.
inline uint32_t visible_keys(const Segment& s, int layer, int limit, int window, int32_t position,
                             int page) {
  const int32_t first = page * kPageTokens;
  const int count = std::min(kPageTokens, s.tokens(layer) - first);
  uint32_t mask = 0;
  if (s.positions.empty()) {
    const int64_t start = int64_t{s.position} + first;
    mask = bits_below(count) & bits_below(std::min<int64_t>(int64_t{position} + 1, limit) - start);
    if (window > 0) mask &= ~bits_below(int64_t{position} - window + 1 - start);
  } else {
    for (int j = 0; j < count; ++j) {
      const int64_t key = s.position_of(first + j);
      const bool see =
          key <= position && key < limit && (window == 0 || int64_t{position} - key < window);
      mask |= static_cast<uint32_t>(see) << j;
    }
  }
  if (!s.stale.empty()) {
    const auto word = static_cast<size_t>(layer * Segment::stale_words(s.count) + first / 64);
    mask &= ~static_cast<uint32_t>(s.stale[word] >> (first % 64));
  }
  return mask;
}

// A page's K or V as floats: in place where it is stored so, else widened into `scratch`.
inline const float* widen(const Segment& s, int page, int64_t offset, int count, float* scratch) {
  const std::byte* head = s.pages[static_cast<size_t>(page)] + offset;
  if (s.layout->type == KvType::kF32) return reinterpret_cast<const float*>(head);
  load_kv(*s.layout, head, 0, count, scratch);
  return scratch;
}

}  // namespace looseleaf
