// Depths chosen for all layers at once, against the best of all depths by enumeration.
#include "repair/joint_depths.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace looseleaf {
namespace {

using Depths = std::vector<int32_t>;
using Scores = std::vector<std::vector<float>>;

PromptShape shape_of(const Scores& scores) {
  PromptShape shape;
  shape.layers = static_cast<int>(scores.size());
  shape.positions.resize(scores[0].size());
  std::iota(shape.positions.begin(), shape.positions.end(), 0);
  return shape;
}

Depths joint(const Scores& scores, double ratio) {
  return joint_depths(scores, shape_of(scores), ratio);
}

int layers_of(const Depths& depths) {
  return std::accumulate(depths.begin(), depths.end(), 0,
                         [](int sum, int32_t depth) { return sum + std::max(0, depth); });
}

double worth(const Scores& scores, const Depths& depths) {
  double sum = 0;
  for (size_t i = 0; i < depths.size(); ++i)
    for (int32_t layer = 1; layer <= depths[i]; ++layer) {
      const double score = scores[static_cast<size_t>(layer)][i];
      sum += score * score;
    }
  return sum;
}

// The most that depths of no more than `layers` layers are worth, trying all.
double most_worth(const Scores& scores, int layers, Depths depths = {}) {
  if (depths.size() == scores[0].size()) return worth(scores, depths);
  double most = 0;
  for (int32_t depth = 0; depth < std::ssize(scores) && depth <= layers; ++depth) {
    depths.push_back(depth);
    most = std::max(most, most_worth(scores, layers - depth, depths));
    depths.pop_back();
  }
  return most;
}

TEST(JointDepths, ALayerIsTakenWithThoseBeforeIt) {
  // Token 0 is looked at in layer 3 alone, token 1 in layer 1: a layer of it is worth more.
  const Scores scores = {{0, 0}, {0, 2}, {0, 0}, {3, 0}};
  EXPECT_EQ(joint(scores, 1.0 / 6), (Depths{-1, 1}));
  EXPECT_EQ(joint(scores, 3.0 / 6), (Depths{-1, 1})) << "three more layers do not fit";
  EXPECT_EQ(joint(scores, 4.0 / 6), (Depths{3, 1}));
  EXPECT_EQ(joint(scores, 1), (Depths{3, 3}));
  EXPECT_EQ(joint(scores, 0), (Depths{-1, -1}));
}

TEST(JointDepths, AttentionOfTheFirstLayerIsWorthNothing) {
  EXPECT_EQ(joint({{9, 0}, {0, 1}}, 0.5), (Depths{-1, 1}));
}

TEST(JointDepths, EqualsGoToTheLowerIndex) {
  EXPECT_EQ(joint({{0, 0, 0}, {1, 1, 1}, {1, 1, 1}}, 2.0 / 3), (Depths{2, 2, -1}));
  EXPECT_EQ(joint({{0, 0, 0}, {0, 0, 0}}, 0.34), (Depths{1, -1, -1}));
}

// Nothing of the same cost is worth more, no larger share takes less, and none is overdrawn.
TEST(JointDepths, NoDepthsOfTheSameCostAreWorthMore) {
  std::mt19937 random(5);
  std::exponential_distribution<float> score;
  for (int trial = 0; trial < 60; ++trial) {
    Scores scores(5, std::vector<float>(5));
    for (auto& layer : scores)
      for (float& s : layer) s = score(random);
    Depths before(5, -1);
    for (int layers = 0; layers <= 20; ++layers) {
      const Depths depths = joint(scores, layers / 20.0);
      ASSERT_LE(layers_of(depths), layers);
      ASSERT_NEAR(worth(scores, depths), most_worth(scores, layers_of(depths)), 1e-6);
      for (size_t i = 0; i < 5; ++i) ASSERT_GE(depths[i], before[i]);
      before = depths;
    }
    ASSERT_EQ(layers_of(before), 20);
  }
}

}  // namespace
}  // namespace looseleaf
