// IEEE binary16.
#include "model/weight_type.h"
#include "model/weight_types/half.h"

namespace looseleaf {
namespace {

void dequantize(const std::byte* source, float* target, int64_t blocks) {
  for (int64_t i = 0; i < blocks; ++i) target[i] = half_to_float(load_u16(source + 2 * i));
}

}  // namespace

extern constinit const WeightType kF16 = {"f16", 1, "F16", 1, 2, dequantize};

}  // namespace looseleaf
