// IEEE binary32.
#include <cstring>

#include "model/weight_type.h"

namespace looseleaf {
namespace {

void dequantize(const std::byte* source, float* target, int64_t blocks) {
  std::memcpy(target, source, static_cast<size_t>(blocks) * sizeof(float));
}

}  // namespace

extern constinit const WeightType kF32 = {"f32", 0, "F32", 1, 4, dequantize};

}  // namespace looseleaf
