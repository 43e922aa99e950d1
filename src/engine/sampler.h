// From logits to the next token.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "looseleaf/looseleaf.h"
#include "model/model.h"

namespace looseleaf {

// Sampling with every default filled in: the request's value, else the model's, else neutral.
struct SamplingParams {
  float temperature = 1;
  int top_k = 0;
  float top_p = 1;
  float min_p = 0;
  float repetition_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  std::vector<std::pair<int32_t, float>> logit_bias = {};
  uint64_t seed = 0;
};

// Errors: kInvalidArgument (a value out of its range, a biased token outside the vocabulary).
Expected<SamplingParams> resolve_sampling(const Sampling& sampling,
                                          const GenerationDefaults& defaults, int vocab);

// One request's sampler. The same seed and logits give the same tokens.
class Sampler {
 public:
  // The repetition penalty knows the prompt; the other two count generated tokens only.
  Sampler(SamplingParams params, std::span<const int32_t> prompt);

  // Order: penalties, bias, temperature, top-k, top-p, min-p, draw. Greedy takes the largest logit,
  // the lower id in a tie. logits: [vocab], left as they are.
  int32_t sample(std::span<const float> logits);

  // Whether every sample is the largest logit, whatever came before: a device can find it.
  bool takes_largest() const;

 private:
  void adjust(std::vector<float>& logits) const;

  SamplingParams params_;
  std::mt19937_64 random_;
  std::unordered_map<int32_t, int> generated_;  // times each token was generated
  std::unordered_set<int32_t> seen_;            // in the prompt or generated
};

// Natural logarithms of the softmax of `logits`: of `token`, and of the `top` largest.
TokenLogprob log_probability(std::span<const float> logits, int32_t token, int top);

}  // namespace looseleaf
