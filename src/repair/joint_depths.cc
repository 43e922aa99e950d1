#include "repair/joint_depths.h"

#include <algorithm>
#include <cmath>

namespace looseleaf {
namespace {

// From one depth that some price makes the best to the next such one.
struct Step {
  double worth;  // a layer
  int32_t layers;
  int32_t token, depth;  // the depth behind it
};

// The concave hull of worth over depth, by falling worth a layer: a layer worth more than the one
// before it is taken with that one or not at all.
void add_steps(std::span<const std::vector<float>> scores, int32_t token,
               std::vector<Step>& steps) {
  const size_t first = steps.size();
  for (size_t layer = 1; layer < scores.size(); ++layer) {
    const double score = scores[layer][static_cast<size_t>(token)];
    Step step{score * score, 1, token, static_cast<int32_t>(layer)};
    while (steps.size() > first && steps.back().worth < step.worth) {
      const Step& before = steps.back();
      step.worth = before.worth * before.layers + step.worth * step.layers;
      step.layers += before.layers;
      step.worth /= step.layers;
      steps.pop_back();
    }
    steps.push_back(step);
  }
}

}  // namespace

std::vector<int32_t> joint_depths(std::span<const std::vector<float>> scores,
                                  const PromptShape& shape, double ratio) {
  std::vector<Step> steps;
  for (int32_t token = 0; token < shape.tokens(); ++token) add_steps(scores, token, steps);
  std::ranges::stable_sort(steps, std::ranges::greater(), &Step::worth);
  std::vector<int32_t> depths(static_cast<size_t>(shape.tokens()), RepairPlan::kOutside);
  int64_t left = std::llround(ratio * shape.tokens() * (shape.layers - 1));
  for (const Step& step : steps) {
    left -= step.layers;
    if (left < 0) break;
    depths[static_cast<size_t>(step.token)] = step.depth;
  }
  return depths;
}

}  // namespace looseleaf
