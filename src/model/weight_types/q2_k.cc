// ggml's q2_K: 256 weights w = d * s * q - dmin * m, where each 16 weights have an s and an m.
//   bytes 0..15   group g: s in the low four bits, m in the high four
//   bytes 16..79  two halves of 32 bytes: byte i of a half holds q[i], q[i + 32], q[i + 64] and
//                 q[i + 96] of its 128 weights, two bits each from the low end
//   bytes 80..81  d, binary16
//   bytes 82..83  dmin, binary16
#include "model/weight_type.h"
#include "model/weight_types/half.h"

namespace looseleaf {
namespace {

constexpr int kBlock = 256;
constexpr int kBlockBytes = kBlock / 16 + kBlock / 4 + 4;

// Both products are exact (11 + 4 + 2 bits), so a fused multiply-add gives the same bits.
void dequantize(const std::byte* source, float* target, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b, source += kBlockBytes, target += kBlock) {
    const float d = half_to_float(load_u16(source + 80));
    const float dmin = half_to_float(load_u16(source + 82));
    for (int i = 0; i < kBlock; ++i) {
      const int group = std::to_integer<int>(source[i / 16]);
      const int codes = std::to_integer<int>(source[16 + i / 128 * 32 + i % 32]);
      const int q = codes >> (i % 128 / 32 * 2) & 3;
      target[i] = d * static_cast<float>(group & 15) * static_cast<float>(q) -
                  dmin * static_cast<float>(group >> 4);
    }
  }
}

}  // namespace

extern constinit const WeightType kQ2K = {"q2_K", 10, "", kBlock, kBlockBytes, dequantize};

}  // namespace looseleaf
