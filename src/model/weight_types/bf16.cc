// bfloat16: the upper half of a binary32.
#include "model/weight_type.h"
#include "model/weight_types/half.h"

namespace looseleaf {
namespace {

void dequantize(const std::byte* source, float* target, int64_t blocks) {
  for (int64_t i = 0; i < blocks; ++i) target[i] = bfloat16_to_float(load_u16(source + 2 * i));
}

}  // namespace

extern constinit const WeightType kBf16 = {"bf16", 30, "BF16", 1, 2, dequantize};

}  // namespace looseleaf
