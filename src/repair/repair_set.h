// A repair recorded on one prompt and model, brought to others of any size. Benches on random
// weights need it: there no two layers agree on a token, so that no method chooses as it would on a
// trained model.
#pragma once

#include <cstdint>
#include <vector>

#include "repair/plan.h"

namespace looseleaf {

struct RepairSet {
  int layers = 0;
  std::vector<int32_t> depths;  // [tokens] RepairPlan::depths
  std::vector<int32_t> chunks;  // [tokens] which document, from 0, in prompt order
};

// RepairPlan::depths for the documents of `shape`.
//
// Depths are scaled from layers 0..L-1 to 0..L'-1: what is recomputed stays recomputed, the deepest
// layer stays the deepest. Each token stands for the recorded one at the same share of the way
// through the document at the same share of the way through the prompt, so that clusters and heavy
// documents stay what they are. Depths go down that order: of n' tokens round(c n' / n) reach a
// layer that c of n did.
// REQUIRES: set.depths in [-1, set.layers) and not empty, set.chunks rising from 0 without gaps.
std::vector<int32_t> map_repair_set(const RepairSet& set, const PromptShape& shape);

// The same as lists of tokens, each in its deepest layer's. [shape.layers][targets]
std::vector<std::vector<int32_t>> targets_of_depths(const std::vector<int32_t>& depths, int layers);

}  // namespace looseleaf
