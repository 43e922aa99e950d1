// The twelve bytes in which q4_K and q5_K keep eight scales and eight minima of six bits each, and
// q3_K sixteen scales.
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

// q3_K, [-32, 32). The low four bits of groups g and g + 8 are the two halves of byte g (g < 8);
// bits 2 j and up of byte 8 + g % 4 (j = g / 4) are the high two of group g.
inline int q3_k_scale(const std::byte* packed, int group) {
  const int low = std::to_integer<int>(packed[group % 8]) >> (group / 8 * 4) & 15;
  const int high = std::to_integer<int>(packed[8 + group % 4]) >> (group / 4 * 2) & 3;
  return (low | high << 4) - 32;
}

}  // namespace looseleaf
