// Distributions over the vocabulary, compared.
#pragma once

#include <span>
#include <vector>

namespace looseleaf {

// log softmax in float64. logits, result: [vocab].
std::vector<double> log_softmax(std::span<const float> logits);

// KL(p || q) = sum p (log p - log q), in nats; never below 0. Both: log-probabilities [vocab].
// REQUIRES: equal sizes.
double kl_divergence(std::span<const double> log_p, std::span<const double> log_q);

}  // namespace looseleaf
