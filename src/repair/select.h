// Choosing tokens by score: what the methods share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "repair/plan.h"

namespace looseleaf {

// 0 for a ratio of 0, else max(1, round(ratio * tokens)).
int32_t count_for(double ratio, int32_t tokens);

// The `count` tokens with the highest scores, rising; ties go to the lower index.
std::vector<int32_t> top(std::span<const float> scores, int32_t count);

// Each score averaged with those of up to `radius` tokens on both sides in the same chunk.
std::vector<float> smoothed(std::span<const float> scores, const PromptShape& shape, int radius);

// Mean over layers: [tokens].
std::vector<float> mean_over_layers(const RepairInput& input);

// Each layer's own anchors: the top of its (smoothed) scores, from `first_layer` on; layers below
// that have none. [layers][anchors]
std::vector<std::vector<int32_t>> anchors_by_layer(const RepairInput& input, double ratio,
                                                   int radius, int first_layer);

// A token is recomputed from layer 0 down to the deepest layer that wants it (RelaxKV, 2609.33503,
// dependency closure).
std::vector<int32_t> closure(const std::vector<std::vector<int32_t>>& anchors, int32_t tokens);

// The same set in every layer.
std::vector<int32_t> one_set(std::span<const int32_t> set, const PromptShape& shape);

// Takes tokens into U that are not there yet, with nothing to recompute: the first `sinks` of every
// document, and the `local` ones before each target in its document.
void widen_context(const PromptShape& shape, int sinks, int local, std::vector<int32_t>& depths);

}  // namespace looseleaf
