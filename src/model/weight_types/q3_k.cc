// ggml's q3_K: 256 weights w = d * (s - 32) * (q - 4), where each 16 weights have an s.
//   bytes 0..31    bit b of byte i: the third bit of q[32 b + i]
//   bytes 32..95   two halves of 32 bytes: byte i of a half holds the low two bits of q[i],
//                  q[i + 32], q[i + 64] and q[i + 96] of its 128 weights, from the low end
//   bytes 96..107  the sixteen s (k_scales.h)
//   bytes 108..109 d, binary16
#include "model/weight_type.h"
#include "model/weight_types/half.h"
#include "model/weight_types/k_scales.h"

namespace looseleaf {
namespace {

constexpr int kBlock = 256;
constexpr int kBlockBytes = kBlock / 8 + kBlock / 4 + 12 + 2;

void dequantize(const std::byte* source, float* target, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b, source += kBlockBytes, target += kBlock) {
    const float d = half_to_float(load_u16(source + 108));
    for (int i = 0; i < kBlock; ++i) {
      const float scale = d * static_cast<float>(q3_k_scale(source + 96, i / 16));
      const int codes = std::to_integer<int>(source[32 + i / 128 * 32 + i % 32]);
      const int low = codes >> (i % 128 / 32 * 2) & 3;
      const int high = std::to_integer<int>(source[i % 32]) >> (i / 32) & 1;
      target[i] = scale * static_cast<float>((low | high << 2) - 4);
    }
  }
}

}  // namespace

extern constinit const WeightType kQ3K = {"q3_K", 11, "", kBlock, kBlockBytes, dequantize};

}  // namespace looseleaf
