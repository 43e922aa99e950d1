// Depths chosen for all layers at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "repair/plan.h"

namespace looseleaf {

// Fresh keys and values in layers 1 to h cost h layers of a token, and serve the question in these.
// What is wrong with a token's value enters a layer's output times the attention to the token, so
// that depth h is worth the sum of its squared attention in layers 1 to h. Chosen are, token by
// token, the depths that are worth most at a price for each layer: the lowest price at which they
// are no more than the share `ratio` of all tokens' layers.
//
// scores: [layers] of [tokens]. Gives RepairPlan::depths. What would be worth as much a layer as
// the last one taken is taken by lower index, as far as it fits.
std::vector<int32_t> joint_depths(std::span<const std::vector<float>> scores,
                                  const PromptShape& shape, double ratio);

}  // namespace looseleaf
