#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace looseleaf {
namespace {

struct Candidate {
  int32_t token;
  float logit;
  double probability = 0;
};

bool better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

int32_t largest(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

template <typename T>
Status check_range(const char* field, T value, T low, T high) {
  if (value >= low && value <= high) return {};  // false for NaN too
  return field_error(field, "{} is not between {} and {}", value, low, high);
}

// Keeps the best candidates whose probabilities reach `top_p`, one at least.
void keep_top_p(std::vector<Candidate>& candidates, float top_p) {
  double sum = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    sum += candidates[i].probability;
    if (sum >= top_p) {
      candidates.resize(i + 1);
      return;
    }
  }
}

}  // namespace

Expected<SamplingParams> resolve_sampling(const Sampling& sampling,
                                          const GenerationDefaults& defaults, int vocab) {
  constexpr float kMax = 3.4e38f;
  SamplingParams params;
  params.temperature = sampling.temperature.value_or(defaults.temperature.value_or(1));
  params.top_k = sampling.top_k.value_or(defaults.top_k.value_or(0));
  params.top_p = sampling.top_p.value_or(defaults.top_p.value_or(1));
  params.min_p = sampling.min_p.value_or(defaults.min_p.value_or(0));
  params.repetition_penalty =
      sampling.repetition_penalty.value_or(defaults.repetition_penalty.value_or(1));
  params.presence_penalty = sampling.presence_penalty;
  params.frequency_penalty = sampling.frequency_penalty;
  params.seed = sampling.seed;
  LL_RETURN_IF_ERROR(check_range("temperature", params.temperature, 0.0f, 100.0f));
  LL_RETURN_IF_ERROR(check_range("top_k", params.top_k, 0, 1 << 30));
  LL_RETURN_IF_ERROR(check_range("top_p", params.top_p, 1e-9f, 1.0f));
  LL_RETURN_IF_ERROR(check_range("min_p", params.min_p, 0.0f, 1.0f));
  LL_RETURN_IF_ERROR(check_range("repetition_penalty", params.repetition_penalty, 1e-3f, 1e3f));
  LL_RETURN_IF_ERROR(check_range("presence_penalty", params.presence_penalty, -2.0f, 2.0f));
  LL_RETURN_IF_ERROR(check_range("frequency_penalty", params.frequency_penalty, -2.0f, 2.0f));
  for (const auto& [token, bias] : sampling.logit_bias) {
    const std::string field = fmt::format("logit_bias.{}", token);
    if (token < 0 || token >= vocab)
      return field_error(field, "the token is outside the vocabulary of {}", vocab);
    LL_RETURN_IF_ERROR(check_range(field.c_str(), bias, -kMax, kMax));
    params.logit_bias.emplace_back(token, bias);
  }
  return params;
}

Sampler::Sampler(SamplingParams params, std::span<const int32_t> prompt)
    : params_(std::move(params)), random_(params_.seed) {
  if (params_.repetition_penalty != 1) seen_.insert(prompt.begin(), prompt.end());
}

void Sampler::adjust(std::vector<float>& logits) const {
  if (params_.repetition_penalty != 1) {
    for (const int32_t token : seen_) {
      float& logit = logits[static_cast<size_t>(token)];
      logit = logit > 0 ? logit / params_.repetition_penalty : logit * params_.repetition_penalty;
    }
  }
  for (const auto& [token, count] : generated_)
    logits[static_cast<size_t>(token)] -=
        params_.presence_penalty + params_.frequency_penalty * static_cast<float>(count);
  for (const auto& [token, bias] : params_.logit_bias) logits[static_cast<size_t>(token)] += bias;
}

bool Sampler::takes_largest() const {
  return params_.temperature == 0 && params_.repetition_penalty == 1 &&
         params_.presence_penalty == 0 && params_.frequency_penalty == 0 &&
         params_.logit_bias.empty();
}

int32_t Sampler::sample(std::span<const float> raw) {
  std::vector<float> logits(raw.begin(), raw.end());
  adjust(logits);
  int32_t token = largest(logits);
  if (params_.temperature > 0) {
    std::vector<Candidate> candidates(logits.size());
    for (size_t i = 0; i < logits.size(); ++i) candidates[i] = {static_cast<int32_t>(i), logits[i]};
    const size_t keep = params_.top_k > 0
                            ? std::min(candidates.size(), static_cast<size_t>(params_.top_k))
                            : candidates.size();
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(keep),
                      candidates.end(), better);
    candidates.resize(keep);
    double sum = 0;
    for (Candidate& c : candidates)
      sum += c.probability =
          std::exp((static_cast<double>(c.logit) - candidates[0].logit) / params_.temperature);
    for (Candidate& c : candidates) c.probability /= sum;
    keep_top_p(candidates, params_.top_p);
    std::erase_if(candidates, [floor = params_.min_p * candidates[0].probability](
                                  const Candidate& c) { return c.probability < floor; });
    sum = 0;
    for (const Candidate& c : candidates) sum += c.probability;
    // 53 random bits, made by hand: the standard's distributions differ between libraries.
    double left = static_cast<double>(random_() >> 11) * 0x1p-53 * sum;
    token = candidates.back().token;
    for (const Candidate& c : candidates) {
      left -= c.probability;
      if (left < 0) {
        token = c.token;
        break;
      }
    }
  }
  ++generated_[token];
  seen_.insert(token);
  return token;
}

TokenLogprob log_probability(std::span<const float> logits, int32_t token, int top) {
  const double peak = logits[static_cast<size_t>(largest(logits))];
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - peak);
  const double normalizer = peak + std::log(sum);
  TokenLogprob result{token, logits[static_cast<size_t>(token)] - normalizer, {}};
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end =
      order.begin() + std::min<std::ptrdiff_t>(top, static_cast<std::ptrdiff_t>(order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](int32_t a, int32_t b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  for (auto it = order.begin(); it != end; ++it)
    result.top.emplace_back(*it, logits[static_cast<size_t>(*it)] - normalizer);
  return result;
}

}  // namespace looseleaf
