// ggml's q6_K: 256 weights w = d * s * (q - 32), where each 16 weights have an s.
//   bytes 0..127    two halves of 64 bytes: byte i of a half holds the low four bits of q[i] of its
//                   128 weights in its low half and those of q[i + 64] in its high half
//   bytes 128..191  two halves of 32 bytes: byte i of a half holds the high two bits of q[i],
//                   q[i + 32], q[i + 64] and q[i + 96], from the low end
//   bytes 192..207  the sixteen s, int8
//   bytes 208..209  d, binary16
#include "model/weight_type.h"
#include "model/weight_types/half.h"

namespace looseleaf {
namespace {

constexpr int kBlock = 256;
constexpr int kBlockBytes = kBlock / 2 + kBlock / 4 + kBlock / 16 + 2;

void dequantize(const std::byte* source, float* target, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b, source += kBlockBytes, target += kBlock) {
    const float d = half_to_float(load_u16(source + 208));
    for (int i = 0; i < kBlock; ++i) {
      const int half = i / 128, at = i % 128;
      const auto s = static_cast<int8_t>(std::to_integer<uint8_t>(source[192 + i / 16]));
      const int low = std::to_integer<int>(source[half * 64 + at % 64]) >> (at / 64 * 4) & 15;
      const int high = std::to_integer<int>(source[128 + half * 32 + at % 32]) >> (at / 32 * 2) & 3;
      target[i] = d * static_cast<float>(s) * static_cast<float>((low | high << 4) - 32);
    }
  }
}

}  // namespace

extern constinit const WeightType kQ6K = {"q6_K", 14, "", kBlock, kBlockBytes, dequantize};

}  // namespace looseleaf
