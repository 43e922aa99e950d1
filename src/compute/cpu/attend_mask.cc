#include "compute/cpu/attend_mask.h"

#include <algorithm>

#include "compute/cpu/visible.h"

namespace looseleaf {
PageRange visible_pages(std::span<const AttendEntry> entries, int layer, int window,
                        PageRange within) {
  int64_t first = within.end, end = within.first;
  for (const AttendEntry& entry : entries) {
    const Segment& s = *entry.segment;
    int64_t low = 0, high = s.tokens(layer);
    if (s.positions.empty()) {
      const int64_t row = entry.position;
      high = std::min(high, std::min<int64_t>(row + 1, entry.limit) - s.position);
      if (window > 0) low = std::max<int64_t>(0, row - window + 1 - s.position);
    }
    if (low >= high) continue;
    first = std::min(first, low / kPageTokens);
    end = std::max(end, (high + kPageTokens - 1) / kPageTokens);
  }
  return {static_cast<int>(std::max<int64_t>(within.first, first)),
          static_cast<int>(std::min<int64_t>(within.end, end))};
}

uint32_t visible_masks(std::span<const AttendEntry> entries, int layer, int window, int page,
                       std::span<uint32_t> visible) {
  uint32_t any = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto& [row, position, segment, limit] = entries[i];
    // Of segments over one memory some may end before this page.
    const bool there = page * kPageTokens < segment->tokens(layer);
    visible[i] = there ? visible_keys(*segment, layer, limit, window, position, page) : 0;
    any |= visible[i];
  }
  return any;
}

}  // namespace looseleaf
