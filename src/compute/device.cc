#include "compute/device.h"

#include <cmath>

namespace looseleaf {

void rotary_angles(std::span<const double> frequencies, double position, double factor,
                   float* out) {
  const size_t half = frequencies.size();
  for (size_t j = 0; j < half; ++j) {
    out[j] = static_cast<float>(factor * std::cos(position * frequencies[j]));
    out[half + j] = static_cast<float>(factor * std::sin(position * frequencies[j]));
  }
}

}  // namespace looseleaf
