// A recorded repair brought to other numbers of layers, documents and tokens.
#include "repair/repair_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace looseleaf {
namespace {

using Tokens = std::vector<int32_t>;

Tokens numbered(const std::vector<int>& lengths) {
  Tokens chunks;
  for (size_t d = 0; d < lengths.size(); ++d)
    chunks.insert(chunks.end(), static_cast<size_t>(lengths[d]), static_cast<int32_t>(d));
  return chunks;
}

PromptShape shape_of_chunks(const std::vector<int>& lengths, int layers) {
  PromptShape shape;
  shape.layers = layers;
  shape.chunks = numbered(lengths);
  for (const int length : lengths)
    for (int32_t place = 0; place < length; ++place) {
      shape.positions.push_back(shape.tokens());
      shape.places.push_back(place);
    }
  shape.prompt_tokens = shape.tokens();
  return shape;
}

// Clusters in a few documents, as repairs have them: most tokens are outside.
RepairSet random_set(std::mt19937& random, int layers, const std::vector<int>& lengths) {
  RepairSet set{.layers = layers, .depths = {}, .chunks = numbered(lengths)};
  int32_t depth = RepairPlan::kOutside;
  for (size_t i = 0; i < set.chunks.size(); ++i) {
    if (random() % 4 == 0)
      depth = random() % 3 == 0 ? static_cast<int32_t>(random() % static_cast<uint32_t>(layers))
                                : RepairPlan::kOutside;
    set.depths.push_back(depth);
  }
  set.depths[0] = layers - 1;
  return set;
}

std::vector<int> random_lengths(std::mt19937& random, int documents, int most) {
  std::vector<int> lengths;
  for (int d = 0; d < documents; ++d)
    lengths.push_back(1 + static_cast<int>(random() % static_cast<uint32_t>(most)));
  return lengths;
}

int64_t reaching(const Tokens& depths, int32_t depth) {
  return std::ranges::count_if(depths, [&](int32_t d) { return d >= depth; });
}

TEST(RepairSet, TheSameShapeIsTheSameRepair) {
  std::mt19937 random(1);
  const std::vector<int> lengths = {40, 3, 57};
  const RepairSet set = random_set(random, 12, lengths);
  EXPECT_EQ(map_repair_set(set, shape_of_chunks(lengths, 12)), set.depths);
}

TEST(RepairSet, ClustersAndHeavyDocumentsStayWhatTheyAre) {
  const RepairSet set{
      .layers = 3, .depths = {-1, -1, -1, -1, -1, 2, 1, -1}, .chunks = {0, 0, 0, 0, 1, 1, 1, 1}};
  EXPECT_EQ(map_repair_set(set, shape_of_chunks({8, 8}, 3)),
            (Tokens{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 2, 1, 1, -1, -1}));
  EXPECT_EQ(map_repair_set(set, shape_of_chunks({4, 4, 4, 4}, 5)),
            (Tokens{-1, -1, -1, -1, -1, -1, -1, -1, -1, 4, 2, -1, -1, 4, 2, -1}));
}

TEST(RepairSet, WhatIsRecomputedStaysSoInFewLayers) {
  const RepairSet set{.layers = 31, .depths = {30, 1, 0, -1}, .chunks = {0, 0, 0, 0}};
  EXPECT_EQ(map_repair_set(set, shape_of_chunks({4}, 2)), (Tokens{1, 1, 0, -1}));
  EXPECT_EQ(map_repair_set(set, shape_of_chunks({4}, 1)), (Tokens{0, 0, 0, -1}));
  EXPECT_EQ(map_repair_set(set, shape_of_chunks({4}, 61)), (Tokens{60, 2, 0, -1}));
  EXPECT_TRUE(map_repair_set(set, shape_of_chunks({}, 4)).empty());
}

// Of n' tokens round(c n' / n) reach the layers that c of n did, and deeper layers are reached by
// fewer, whatever the sizes.
TEST(RepairSet, SharesAreKeptWithinRounding) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const int layers = 2 + static_cast<int>(random() % 40);
    const auto lengths = random_lengths(random, 1 + static_cast<int>(random() % 12), 90);
    const RepairSet set = random_set(random, layers, lengths);
    const auto wanted = random_lengths(random, 1 + static_cast<int>(random() % 20), 150);
    const auto n = static_cast<double>(set.depths.size());

    const PromptShape same_layers = shape_of_chunks(wanted, layers);
    const Tokens depths = map_repair_set(set, same_layers);
    ASSERT_EQ(std::ssize(depths), same_layers.tokens());
    for (int32_t depth = 0; depth < layers; ++depth) {
      const auto share = static_cast<double>(reaching(set.depths, depth)) / n;
      ASSERT_LE(
          std::abs(static_cast<double>(reaching(depths, depth)) - share * same_layers.tokens()),
          0.5 + 1e-6)
          << "layer " << depth << " of " << layers;
    }

    const int other = 2 + static_cast<int>(random() % 80);
    const Tokens scaled = map_repair_set(set, shape_of_chunks(wanted, other));
    ASSERT_EQ(reaching(scaled, 0), reaching(depths, 0)) << "U";
    ASSERT_EQ(reaching(scaled, 1), reaching(depths, 1)) << "what is recomputed";
    if (reaching(depths, layers - 1) > 0) {
      ASSERT_GT(reaching(scaled, other - 1), 0);
    }
    for (size_t i = 0; i < scaled.size(); ++i) {
      const double exact = std::max(0, depths[i]) * double(other - 1) / (layers - 1);
      ASSERT_LE(std::abs(std::max(0, scaled[i]) - exact), depths[i] > 0 ? 1.0 : 0.0);
    }
  }
}

TEST(RepairSet, TargetsAreOfTheirDeepestLayer) {
  EXPECT_EQ(targets_of_depths({2, -1, 0, 2, 1}, 3), (std::vector<Tokens>{{2}, {4}, {0, 3}}));
}

}  // namespace
}  // namespace looseleaf
