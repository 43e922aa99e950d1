// ggml's q8_0: 32 weights w = d * q.
//   bytes 0..1   d, binary16
//   bytes 2..33  q, int8
#include "model/weight_type.h"
#include "model/weight_types/half.h"

namespace looseleaf {
namespace {

constexpr int kBlock = 32;
constexpr int kBlockBytes = 2 + kBlock;

void dequantize(const std::byte* source, float* target, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b, source += kBlockBytes, target += kBlock) {
    const float d = half_to_float(load_u16(source));
    for (int i = 0; i < kBlock; ++i)
      target[i] = d * static_cast<float>(static_cast<int8_t>(source[2 + i]));
  }
}

}  // namespace

extern constinit const WeightType kQ8_0 = {"q8_0", 8, "", kBlock, kBlockBytes, dequantize};

}  // namespace looseleaf
