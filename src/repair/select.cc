#include "repair/select.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace looseleaf {

bool RepairPlan::empty() const {
  return std::none_of(depths.begin(), depths.end(), [](int32_t depth) { return depth > 0; });
}

int32_t count_for(double ratio, int32_t tokens) {
  if (ratio <= 0 || tokens == 0) return 0;
  return std::clamp(static_cast<int32_t>(std::llround(ratio * tokens)), 1, tokens);
}

std::vector<int32_t> top(std::span<const float> scores, int32_t count) {
  std::vector<int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min<std::ptrdiff_t>(count, std::ssize(order));
  const auto score = [&](int32_t i) { return scores[static_cast<size_t>(i)]; };
  if (end != order.end())
    std::nth_element(order.begin(), end, order.end(), [&](int32_t a, int32_t b) {
      return score(a) != score(b) ? score(a) > score(b) : a < b;
    });
  order.erase(end, order.end());
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<float> smoothed(std::span<const float> scores, const PromptShape& shape, int radius) {
  std::vector<float> out(scores.begin(), scores.end());
  if (radius == 0) return out;
  for (int32_t i = 0; i < shape.tokens(); ++i) {
    double sum = 0;
    int count = 0;
    for (int32_t j = std::max(0, i - radius); j <= std::min(shape.tokens() - 1, i + radius); ++j) {
      if (shape.chunks[static_cast<size_t>(j)] != shape.chunks[static_cast<size_t>(i)]) continue;
      sum += scores[static_cast<size_t>(j)];
      ++count;
    }
    out[static_cast<size_t>(i)] = static_cast<float>(sum / count);
  }
  return out;
}

std::vector<float> mean_over_layers(const RepairInput& input) {
  std::vector<double> sum(static_cast<size_t>(input.shape.tokens()));
  for (int layer = 0; layer < input.shape.layers; ++layer)
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += input.layer_scores(layer)[i];
  std::vector<float> mean;
  for (const double s : sum) mean.push_back(static_cast<float>(s / input.shape.layers));
  return mean;
}

std::vector<std::vector<int32_t>> anchors_by_layer(const RepairInput& input, double ratio,
                                                   int radius, int first_layer) {
  const int32_t count = count_for(ratio, input.shape.tokens());
  std::vector<std::vector<int32_t>> anchors(static_cast<size_t>(input.shape.layers));
  for (int layer = first_layer; layer < input.shape.layers; ++layer)
    anchors[static_cast<size_t>(layer)] =
        top(smoothed(input.layer_scores(layer), input.shape, radius), count);
  return anchors;
}

std::vector<int32_t> closure(const std::vector<std::vector<int32_t>>& anchors, int32_t tokens) {
  std::vector<int32_t> depths(static_cast<size_t>(tokens), RepairPlan::kOutside);
  for (int32_t layer = 0; layer < std::ssize(anchors); ++layer)
    for (const int32_t token : anchors[static_cast<size_t>(layer)])
      depths[static_cast<size_t>(token)] = layer;
  return depths;
}

std::vector<int32_t> one_set(std::span<const int32_t> set, const PromptShape& shape) {
  std::vector<int32_t> depths(static_cast<size_t>(shape.tokens()), RepairPlan::kOutside);
  for (const int32_t token : set) depths[static_cast<size_t>(token)] = shape.layers - 1;
  return depths;
}

void widen_context(const PromptShape& shape, int sinks, int local, std::vector<int32_t>& depths) {
  const std::vector<int32_t> targets = depths;
  for (size_t i = 0; i < depths.size(); ++i) {
    if (depths[i] == RepairPlan::kOutside && shape.places[i] < sinks) depths[i] = 0;
    if (targets[i] == RepairPlan::kOutside) continue;
    for (int32_t back = 1; back <= std::min(local, shape.places[i]); ++back) {
      int32_t& before = depths[i - static_cast<size_t>(back)];
      before = std::max(before, 0);
    }
  }
}

}  // namespace looseleaf
