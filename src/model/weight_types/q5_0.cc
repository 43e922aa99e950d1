// ggml's q5_0: 32 weights w = d * (q - 16).
//   bytes 0..1   d, binary16
//   bytes 2..5   bit i: the fifth bit of q[i]
//   bytes 6..21  byte i: q[i] in the low four bits, q[i + 16] in the high four
#include "model/weight_type.h"
#include "model/weight_types/half.h"

namespace looseleaf {
namespace {

constexpr int kBlock = 32;
constexpr int kBlockBytes = 2 + kBlock / 8 + kBlock / 2;

void dequantize(const std::byte* source, float* target, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b, source += kBlockBytes, target += kBlock) {
    const float d = half_to_float(load_u16(source));
    uint32_t high = 0;
    std::memcpy(&high, source + 2, sizeof high);
    for (int i = 0; i < kBlock / 2; ++i) {
      const int pair = std::to_integer<int>(source[6 + i]);
      const int low_code = (pair & 15) | static_cast<int>((high >> i) & 1) << 4;
      const int high_code = pair >> 4 | static_cast<int>((high >> (i + 16)) & 1) << 4;
      target[i] = d * static_cast<float>(low_code - 16);
      target[i + kBlock / 2] = d * static_cast<float>(high_code - 16);
    }
  }
}

}  // namespace

extern constinit const WeightType kQ5_0 = {"q5_0", 6, "", kBlock, kBlockBytes, dequantize};

}  // namespace looseleaf
