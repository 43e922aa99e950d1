// Repairs of small prompts, for tests of the engine's inside.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "engine/repair.h"
#include "engine/sampler.h"
#include "engine/sequence.h"
#include "test_engine.h"

namespace looseleaf {

struct Repaired {
  Sequence sequence;
  RepairResult result;
  std::vector<float> logits;  // [vocab] after the prompt
};

inline Repaired repaired(EngineCore& core, const Prompt& prompt, const std::string& name,
                         const GivenTargets& given = {}) {
  const Method method = value_of(parse_method(name, prompt.has_documents()));
  Repaired out{value_of(bind_prompt(core, prompt, method, "")), {}, {}};
  out.logits.resize(static_cast<size_t>(core.model->config.vocab));
  if (method.repairs())
    out.result = value_of(repair(core, out.sequence, {method, &given}, out.logits));
  EXPECT_TRUE(compute_text(core, out.sequence, out.logits));
  return out;
}

// Largest difference of a log-probability among the `compared` best of `expected`.
inline double difference(const std::vector<float>& expected, const std::vector<float>& got,
                         int compared = 8) {
  double worst = 0;
  for (const auto& [token, logprob] : log_probability(expected, 0, compared).top)
    worst = std::max(worst, std::abs(log_probability(got, token, 0).logprob - logprob));
  return worst;
}

// Nested targets of a plan: which tokens layer l recomputes, in layer 0 all of U.
inline std::vector<std::vector<int32_t>> targets_of(const RepairResult& result) {
  std::vector<std::vector<int32_t>> targets(static_cast<size_t>(result.shape.layers));
  for (int32_t token = 0; token < result.shape.tokens(); ++token)
    for (int32_t layer = 0; layer <= result.depths[static_cast<size_t>(token)]; ++layer)
      targets[static_cast<size_t>(layer)].push_back(token);
  return targets;
}

}  // namespace looseleaf
