// ggml's q4_0: 32 weights w = d * (q - 8).
//   bytes 0..1   d, binary16
//   bytes 2..17  byte i: q[i] in the low four bits, q[i + 16] in the high four
#include "model/weight_type.h"
#include "model/weight_types/half.h"

namespace looseleaf {
namespace {

constexpr int kBlock = 32;
constexpr int kBlockBytes = 2 + kBlock / 2;

void dequantize(const std::byte* source, float* target, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b, source += kBlockBytes, target += kBlock) {
    const float d = half_to_float(load_u16(source));
    for (int i = 0; i < kBlock / 2; ++i) {
      const int pair = std::to_integer<int>(source[2 + i]);
      target[i] = d * static_cast<float>((pair & 15) - 8);
      target[i + kBlock / 2] = d * static_cast<float>((pair >> 4) - 8);
    }
  }
}

}  // namespace

extern constinit const WeightType kQ4_0 = {"q4_0", 2, "", kBlock, kBlockBytes, dequantize};

}  // namespace looseleaf
