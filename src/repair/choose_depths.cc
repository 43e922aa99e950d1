#include "repair/choose_depths.h"

#include <cmath>

#include "repair/joint_depths.h"
#include "repair/select.h"

namespace looseleaf {
namespace {

// As EPIC does, beside what was chosen.
void add_anchors(const Method& method, const PromptShape& shape, std::vector<int32_t>& depths) {
  const int count = method.integer("anchors");
  for (size_t i = 0; i < depths.size(); ++i)
    if (shape.chunks[i] > 0 && shape.places[i] < count) depths[i] = shape.layers - 1;
}

// What joint_depths squares. `late`: values are taken to be further off in later layers, their
// squared error growing as a random walk's, by the same amount a layer.
std::vector<std::vector<float>> joint_scores(const RepairInput& input, int radius, bool late) {
  std::vector<std::vector<float>> scores;
  for (int layer = 0; layer < input.shape.layers; ++layer) {
    scores.push_back(smoothed(input.layer_scores(layer), input.shape, radius));
    if (late)
      for (float& score : scores.back()) score *= std::sqrt(static_cast<float>(layer));
  }
  return scores;
}

}  // namespace

std::vector<int32_t> choose_one_set(const Method& method, const RepairInput& input, double ratio) {
  const PromptShape& shape = input.shape;
  const auto scores = smoothed(mean_over_layers(input), shape, method.integer("spans"));
  std::vector<int32_t> depths = one_set(top(scores, count_for(ratio, shape.tokens())), shape);
  if (ratio > 0) add_anchors(method, shape, depths);
  return depths;
}

std::vector<int32_t> choose_by_layer(const Method& method, const RepairInput& input, double ratio) {
  const PromptShape& shape = input.shape;
  const std::string& layers = method.option("layers");
  const int radius = method.integer("spans");
  const int first = layers == "upper" ? shape.layers / 2 : 0;
  std::vector<int32_t> depths =
      layers.starts_with("joint")
          ? joint_depths(joint_scores(input, radius, layers == "joint-late"), shape, ratio)
          : closure(anchors_by_layer(input, ratio, radius, first), shape.tokens());
  if (!method.flag("nested"))
    for (int32_t& depth : depths)
      if (depth != RepairPlan::kOutside) depth = shape.layers - 1;
  if (ratio > 0) add_anchors(method, shape, depths);
  return depths;
}

}  // namespace looseleaf
