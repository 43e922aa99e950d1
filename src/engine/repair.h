// A repair from its method to its overlay.
#pragma once

#include <vector>

#include "engine/sequence.h"
#include "repair/method.h"

namespace looseleaf {

struct RepairRequest {
  const Method& method;       // REQUIRES: repairs()
  const GivenTargets* given;  // of `plan`; else null
  bool want_scores = false;   // also where the method needs none
};

struct RepairResult {
  double score_flops = 0, repair_flops = 0;
  std::vector<float> scores;  // [layers, tokens] where they were computed
  PromptShape shape;
  std::vector<int32_t> depths;  // [tokens] RepairPlan::depths
};

// Brings `sequence` to where compute_text goes on: scores its documents, chooses, and recomputes
// into its overlay. Where nothing is to be repaired, the question may be computed too: then nothing
// is pending and `logits` ([vocab]) are those after the prompt.
// Errors: kInvalidArgument (targets that do not fit the prompt), kUnavailable (no room).
Expected<RepairResult> repair(EngineCore& core, Sequence& sequence, const RepairRequest& request,
                              std::span<float> logits);

}  // namespace looseleaf
