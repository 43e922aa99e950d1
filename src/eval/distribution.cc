#include "eval/distribution.h"

#include <algorithm>
#include <cmath>

namespace looseleaf {

std::vector<double> log_softmax(std::span<const float> logits) {
  const double peak = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - peak);
  const double normalizer = peak + std::log(sum);
  std::vector<double> logs(logits.size());
  std::ranges::transform(logits, logs.begin(), [&](float logit) { return logit - normalizer; });
  return logs;
}

double kl_divergence(std::span<const double> log_p, std::span<const double> log_q) {
  double sum = 0;
  for (size_t i = 0; i < log_p.size(); ++i) sum += std::exp(log_p[i]) * (log_p[i] - log_q[i]);
  return std::max(sum, 0.0);  // rounding can leave -1e-17
}

}  // namespace looseleaf
