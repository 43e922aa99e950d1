// The twelve bytes in which q4_K and q5_K keep eight scales and eight minima of six bits each.
#pragma once

#include <cstddef>

namespace looseleaf {

struct ScaleAndMinimum {
  int scale = 0;    // [0, 64)
  int minimum = 0;  // [0, 64)
};

// Groups 0..3: bytes g and g + 4, low six bits. Groups 4..7: byte g + 4 has the low four bits of
// scale (low half) and minimum (high half), the high two bits of bytes g - 4 and g the rest.
inline ScaleAndMinimum k_scale(const std::byte* packed, int group) {
  const auto byte = [packed](int i) { return std::to_integer<int>(packed[i]); };
  if (group < 4) return {byte(group) & 63, byte(group + 4) & 63};
  return {(byte(group + 4) & 15) | byte(group - 4) >> 6 << 4,
          byte(group + 4) >> 4 | byte(group) >> 6 << 4};
}

}  // namespace looseleaf
