// The 16-bit floating-point formats as bits: exact conversion to float, and back.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace looseleaf {

// IEEE binary16. The mantissa is scaled as an integer, so that flushing subnormal floats to zero
// cannot change it; masks instead of branches let compilers vectorize loops over it.
inline float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u;
  const uint32_t mantissa = half & 1023u;
  const uint32_t is_small = 0u - static_cast<uint32_t>(exponent == 0);     // zero and subnormals
  const uint32_t is_special = 0u - static_cast<uint32_t>(exponent == 31);  // infinities and NaNs
  const uint32_t rebias = (127 - 15) + (is_special & (255 - 31 - (127 - 15)));
  const uint32_t large = ((exponent + rebias) << 23) | (mantissa << 13);
  const auto small =
      std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(mantissa)) * 0x1p-24f);
  return std::bit_cast<float>(sign | (small & is_small) | (large & ~is_small));
}

inline float bfloat16_to_float(uint16_t value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

// To the nearest, ties to even; a NaN keeps its sign and stays one.
inline uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const bool nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  return static_cast<uint16_t>(nan ? (bits >> 16) | 0x40u
                                   : (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

inline uint16_t load_u16(const std::byte* source) {
  uint16_t value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

}  // namespace looseleaf
