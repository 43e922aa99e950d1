// ggml's q5_K: 256 weights w = d * s * q - dmin * m, where each 32 weights have an s and an m.
//   bytes 0..1     d, binary16
//   bytes 2..3     dmin, binary16
//   bytes 4..15    the eight s and m (k_scales.h)
//   bytes 16..47   bit g of byte i: the fifth bit of q[32 g + i]
//   bytes 48..175  four quarters of 32 bytes: byte i of a quarter holds the low four bits of q[i]
//   of
//                  its 64 weights in its low half and those of q[i + 32] in its high half
#include "model/weight_type.h"
#include "model/weight_types/half.h"
#include "model/weight_types/k_scales.h"

namespace looseleaf {
namespace {

constexpr int kBlock = 256;
constexpr int kBlockBytes = 4 + 12 + kBlock / 8 + kBlock / 2;

// Both products are exact (11 + 6 + 5 bits), so a fused multiply-add gives the same bits.
void dequantize(const std::byte* source, float* target, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b, source += kBlockBytes, target += kBlock) {
    const float d = half_to_float(load_u16(source));
    const float dmin = half_to_float(load_u16(source + 2));
    for (int group = 0; group < 8; ++group) {
      const auto [s, m] = k_scale(source + 4, group);
      const float scale = d * static_cast<float>(s);
      const float minimum = dmin * static_cast<float>(m);
      const std::byte* codes = source + 48 + group / 2 * 32;
      const int shift = group % 2 * 4;
      for (int i = 0; i < 32; ++i) {
        const int low = std::to_integer<int>(codes[i]) >> shift & 15;
        const int high = std::to_integer<int>(source[16 + i]) >> group & 1;
        target[group * 32 + i] = scale * static_cast<float>(low | high << 4) - minimum;
      }
    }
  }
}

}  // namespace

extern constinit const WeightType kQ5K = {"q5_K", 13, "", kBlock, kBlockBytes, dequantize};

}  // namespace looseleaf
