// The 16-bit floating-point formats as bits: exact conversion to float.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace looseleaf {

// IEEE binary16. Integer work only, so that flushing subnormal floats to zero cannot change it.
inline float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u;
  const uint32_t mantissa = half & 1023u;
  const uint32_t normal = ((exponent + (127 - 15)) << 23) | (mantissa << 13);
  const uint32_t special = 0x7F800000u | (mantissa << 13);  // infinities and NaNs
  const auto small = std::bit_cast<uint32_t>(static_cast<float>(mantissa) * 0x1p-24f);
  const uint32_t magnitude = exponent == 0 ? small : exponent == 31 ? special : normal;
  return std::bit_cast<float>(sign | magnitude);
}

inline float bfloat16_to_float(uint16_t value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

inline uint16_t load_u16(const std::byte* source) {
  uint16_t value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

}  // namespace looseleaf
