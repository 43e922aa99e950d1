// ggml's iq4_nl: 32 weights w = d * level[q], sixteen levels that are denser near zero.
//   bytes 0..1   d, binary16
//   bytes 2..17  byte i: q[i] in the low four bits, q[i + 16] in the high four
#include "model/weight_type.h"
#include "model/weight_types/half.h"

namespace looseleaf {
namespace {

constexpr int kBlock = 32;
constexpr int kBlockBytes = 2 + kBlock / 2;
constexpr float kLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                               1,    13,   25,  38,  53,  69,  89,  113};

void dequantize(const std::byte* source, float* target, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b, source += kBlockBytes, target += kBlock) {
    const float d = half_to_float(load_u16(source));
    for (int i = 0; i < kBlock / 2; ++i) {
      const int pair = std::to_integer<int>(source[2 + i]);
      target[i] = d * kLevels[pair & 15];
      target[i + kBlock / 2] = d * kLevels[pair >> 4];
    }
  }
}

}  // namespace

extern constinit const WeightType kIq4Nl = {"iq4_nl", 20, "", kBlock, kBlockBytes, dequantize};

}  // namespace looseleaf
