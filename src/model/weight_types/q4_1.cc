// ggml's q4_1: 32 weights w = d * q + m.
//   bytes 0..1   d, binary16
//   bytes 2..3   m, binary16
//   bytes 4..19  byte i: q[i] in the low four bits, q[i + 16] in the high four
#include "model/weight_type.h"
#include "model/weight_types/half.h"

namespace looseleaf {
namespace {

constexpr int kBlock = 32;
constexpr int kBlockBytes = 4 + kBlock / 2;

// d * q is exact (11 + 4 bits), so a fused multiply-add gives the same bits.
void dequantize(const std::byte* source, float* target, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b, source += kBlockBytes, target += kBlock) {
    const float d = half_to_float(load_u16(source));
    const float m = half_to_float(load_u16(source + 2));
    for (int i = 0; i < kBlock / 2; ++i) {
      const int pair = std::to_integer<int>(source[4 + i]);
      target[i] = d * static_cast<float>(pair & 15) + m;
      target[i + kBlock / 2] = d * static_cast<float>(pair >> 4) + m;
    }
  }
}

}  // namespace

extern constinit const WeightType kQ4_1 = {"q4_1", 3, "", kBlock, kBlockBytes, dequantize};

}  // namespace looseleaf
