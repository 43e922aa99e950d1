// Which keys the rows of a tile may see.
#pragma once

#include <cstdint>
#include <span>

#include "compute/segment.h"

namespace looseleaf {

// A row that attends to a segment. Rows of different requests may see the same memory, each bound
// at its own place.
struct AttendEntry {
  int32_t row = 0;
  int32_t position = 0;  // of the row
  const Segment* segment = nullptr;
  int32_t limit = kNoLimit;
};

// Pages [first, end) of [first, end) that hold all keys which any of the entries may see.
struct PageRange {
  int first = 0;
  int end = 0;
};
PageRange visible_pages(std::span<const AttendEntry> entries, int layer, int window,
                        PageRange within);

// visible: [entries] a bit a key. Returns all of them together.
uint32_t visible_masks(std::span<const AttendEntry> entries, int layer, int window, int page,
                       std::span<uint32_t> visible);

}  // namespace looseleaf
