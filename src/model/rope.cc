#include "model/rope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace looseleaf {
namespace {

double llama3_scaled(double frequency, const RopeConfig& rope) {
  const double turns = rope.original_context * frequency / (2 * std::numbers::pi);
  if (turns < rope.low_frequency_factor) return frequency / rope.factor;
  if (turns > rope.high_frequency_factor) return frequency;
  const double keep = (turns - rope.low_frequency_factor) /
                      (rope.high_frequency_factor - rope.low_frequency_factor);
  return keep * frequency + (1 - keep) * frequency / rope.factor;
}

// The pair, as a real number, that makes so many turns in the original context.
double yarn_pair(double turns, const RopeConfig& rope) {
  return rope.dims * std::log(rope.original_context / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(rope.base));
}

// How much of pair j is divided by the factor: 0 to 1.
double yarn_slowed(size_t pair, const RopeConfig& rope) {
  double low = yarn_pair(rope.beta_fast, rope), high = yarn_pair(rope.beta_slow, rope);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, rope.dims - 1.0);
  if (low == high) high += 0.001;
  return std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
}

}  // namespace

std::string_view rope_scaling_name(RopeScaling scaling) {
  static constexpr std::string_view kNames[] = {"none", "linear",   "llama3",
                                                "yarn", "longrope", "dynamic"};
  return kNames[static_cast<size_t>(scaling)];
}

RopeRegime rope_regime(const RopeConfig& rope, int prompt_tokens) {
  RopeRegime regime;
  regime.attention_factor = rope.attention_factor;
  const bool beyond = prompt_tokens > rope.original_context;
  const std::vector<float>* divisors = &rope.divisors;
  double base = rope.base;
  if (rope.scaling == RopeScaling::kLongRope) {
    regime.name = beyond ? "long" : "short";
    if (beyond) divisors = &rope.long_divisors;
  } else if (rope.scaling == RopeScaling::kDynamicNtk && beyond) {
    regime.name = fmt::format("dynamic {}", prompt_tokens);
    base *= std::pow(rope.factor * prompt_tokens / rope.original_context - (rope.factor - 1),
                     rope.dims / (rope.dims - 2.0));
  }
  regime.frequencies.resize(static_cast<size_t>(rope.dims / 2));
  for (size_t j = 0; j < regime.frequencies.size(); ++j) {
    double f = std::pow(base, -2.0 * static_cast<double>(j) / rope.dims);
    if (rope.scaling == RopeScaling::kLinear) f /= rope.factor;
    if (rope.scaling == RopeScaling::kLlama3) f = llama3_scaled(f, rope);
    if (rope.scaling == RopeScaling::kYarn) {
      const double slowed = yarn_slowed(j, rope);
      f = f * (1 - slowed) + f / rope.factor * slowed;
    }
    if (!divisors->empty()) f /= static_cast<double>((*divisors)[j]);
    regime.frequencies[j] = f;
  }
  return regime;
}

}  // namespace looseleaf
