#include "model/rope.h"

#include <cmath>
#include <numbers>

namespace looseleaf {
namespace {

double llama3_scaled(double frequency, const Llama3Scaling& s) {
  const double turns = s.original_context * frequency / (2 * std::numbers::pi);
  if (turns < s.low_frequency_factor) return frequency / s.factor;
  if (turns > s.high_frequency_factor) return frequency;
  const double keep =
      (turns - s.low_frequency_factor) / (s.high_frequency_factor - s.low_frequency_factor);
  return keep * frequency + (1 - keep) * frequency / s.factor;
}

}  // namespace

std::vector<double> rope_frequencies(const RopeConfig& rope) {
  std::vector<double> frequencies(static_cast<size_t>(rope.dims / 2));
  for (size_t j = 0; j < frequencies.size(); ++j) {
    double f = std::pow(rope.base, -2.0 * static_cast<double>(j) / rope.dims);
    if (rope.llama3) f = llama3_scaled(f, rope.llama3_scaling);
    if (!rope.divisors.empty()) f /= static_cast<double>(rope.divisors[j]);
    frequencies[j] = f;
  }
  return frequencies;
}

}  // namespace looseleaf
