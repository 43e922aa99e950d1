// How methods choose: counts, ties, spans, closure.
#include "repair/select.h"

#include <gtest/gtest.h>

#include "repair/method.h"

namespace looseleaf {
namespace {

using Tokens = std::vector<int32_t>;

PromptShape shape_of_chunks(const std::vector<int>& lengths, int layers) {
  PromptShape shape;
  shape.layers = layers;
  int32_t chunk = 0;
  for (const int length : lengths) {
    for (int32_t place = 0; place < length; ++place) {
      shape.positions.push_back(10 + shape.tokens());
      shape.chunks.push_back(chunk);
      shape.places.push_back(place);
    }
    ++chunk;
  }
  shape.prompt_tokens = 10 + shape.tokens() + 5;
  return shape;
}

TEST(Select, Counts) {
  EXPECT_EQ(count_for(0, 100), 0);
  EXPECT_EQ(count_for(1e-9, 100), 1);
  EXPECT_EQ(count_for(0.15, 100), 15);
  EXPECT_EQ(count_for(0.125, 20), 3) << "2.5 is rounded up";
  EXPECT_EQ(count_for(1, 100), 100);
  EXPECT_EQ(count_for(0.5, 0), 0);
}

TEST(Select, TiesGoToTheLowerIndex) {
  const std::vector<float> scores = {1, 3, 2, 3, 2, 2};
  EXPECT_EQ(top(scores, 0), Tokens{});
  EXPECT_EQ(top(scores, 1), Tokens{1});
  EXPECT_EQ(top(scores, 3), (Tokens{1, 2, 3}));
  EXPECT_EQ(top(scores, 6), (Tokens{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(top(std::vector<float>(9, 0.0f), 4), (Tokens{0, 1, 2, 3}));
}

TEST(Select, SpansStayInTheirDocument) {
  const PromptShape shape = shape_of_chunks({3, 2}, 1);
  const std::vector<float> scores = {0, 0, 6, 100, 0};
  EXPECT_EQ(smoothed(scores, shape, 1), (std::vector<float>{0, 2, 3, 50, 50}));
  EXPECT_EQ(smoothed(scores, shape, 0), scores);
  EXPECT_EQ(smoothed(scores, shape, 9), (std::vector<float>{2, 2, 2, 50, 50}));
}

TEST(Select, ClosureIsTheDeepestLayerThatWantsAToken) {
  const std::vector<Tokens> anchors = {{0, 1}, {1}, {3, 0}};
  EXPECT_EQ(closure(anchors, 5), (Tokens{2, 1, -1, 2, -1}));
}

TEST(Select, WiderContextsHaveNothingToRecompute) {
  const PromptShape shape = shape_of_chunks({4, 4}, 3);
  Tokens depths = {-1, -1, -1, 2, -1, 1, -1, -1};
  widen_context(shape, 1, 2, depths);
  EXPECT_EQ(depths, (Tokens{0, 0, 0, 2, 0, 1, -1, -1}));
}

RepairPlan plan_of(const char* name, const RepairInput& input) {
  const auto method = parse_method(name, true);
  return method->info->plan(*method, input, method->number.value_or(0));
}

TEST(Plans, EpicLeavesTheFirstDocument) {
  const PromptShape shape = shape_of_chunks({3, 3, 1}, 4);
  EXPECT_EQ(plan_of("epic:2", {shape, {}, {}}).depths, (Tokens{-1, -1, -1, 3, 3, -1, 3}));
  EXPECT_TRUE(plan_of("epic:0", {shape, {}, {}}).empty());
}

TEST(Plans, RandomKeepsASmallerChoice) {
  const PromptShape shape = shape_of_chunks({50, 50}, 2);
  const auto small = plan_of("random:0.1", {shape, {}, {}}).depths;
  const auto large = plan_of("random:0.3", {shape, {}, {}}).depths;
  EXPECT_EQ(std::count(small.begin(), small.end(), 1), 10);
  EXPECT_EQ(std::count(large.begin(), large.end(), 1), 30);
  for (size_t i = 0; i < 100; ++i) EXPECT_GE(large[i], small[i]);
  EXPECT_NE(plan_of("random:0.1:seed=1", {shape, {}, {}}).depths, small);
}

// Scores and a layer each of [tokens], through a method.
TEST(Plans, AnchorsOfEveryDocumentButTheFirst) {
  const PromptShape shape = shape_of_chunks({3, 3, 1}, 2);
  const std::vector<float> scores = {0, 9, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 1, 0};
  const RepairInput input{shape, scores, {}};
  EXPECT_EQ(plan_of("weave:0.14:layers=all", input).depths, (Tokens{-1, 0, 1, -1, -1, -1, -1}));
  for (const char* name : {"weave:0.14:anchors=2:layers=all", "relaxkv:0.14:anchors=2"})
    EXPECT_EQ(plan_of(name, input).depths, (Tokens{-1, 0, 1, 1, 1, -1, 1})) << name;
  EXPECT_EQ(plan_of("prophetkv:0.14:anchors=1", input).depths, (Tokens{-1, 1, -1, 1, -1, -1, 1}));
  EXPECT_TRUE(plan_of("weave:0:anchors=2", input).empty());
  EXPECT_TRUE(plan_of("prophetkv:0:anchors=2", input).empty());
}

TEST(Plans, LaterLayersWeighMore) {
  const PromptShape shape = shape_of_chunks({2}, 4);
  const std::vector<float> scores = {0, 0, 1, 0, 0, 0, 0, 1.5f};
  const RepairInput input{shape, scores, {}};
  EXPECT_EQ(plan_of("weave:0.5:layers=joint", input).depths, (Tokens{1, -1}))
      << "1 against 2.25 / 3";
  EXPECT_EQ(plan_of("weave:0.5:layers=joint-late", input).depths, (Tokens{-1, 3}));
}

TEST(Plans, NotNestedIsAllTheWay) {
  const PromptShape shape = shape_of_chunks({3}, 3);
  const std::vector<float> scores = {1, 0, 0, 0, 1, 0, 0, 1, 0};
  const RepairInput input{shape, scores, {}};
  EXPECT_EQ(plan_of("weave:0.3:layers=all", input).depths, (Tokens{0, 2, -1}));
  EXPECT_EQ(plan_of("weave:0.3:nested=0:layers=all", input).depths, (Tokens{2, 2, -1}));
  EXPECT_EQ(plan_of("weave:0.2:layers=joint", input).depths, (Tokens{-1, 1, -1}));
  EXPECT_EQ(plan_of("weave:0.34:layers=joint", input).depths, (Tokens{-1, 2, -1}));
  EXPECT_EQ(plan_of("relaxkv:0.2:layers=joint:nested=0", input).depths, (Tokens{-1, 2, -1}));
}

// The documents' shares of attention, over the upper half of the layers.
TEST(Plans, WeaveSkipsWhereOneDocumentHasTheAttention) {
  const PromptShape shape = shape_of_chunks({2, 2}, 2);
  const std::vector<float> scores = {0.1f, 0.1f, 0.3f, 0.3f, 0.3f, 0.3f, 0.1f, 0.1f};
  const RepairInput input{shape, scores, {}};
  EXPECT_TRUE(plan_of("weave:0.5:skip=0.7", input).empty()) << "the share is 0.75";
  EXPECT_FALSE(plan_of("weave:0.5:skip=0.8", input).empty());
  EXPECT_FALSE(plan_of("weave:0.5", input).empty());
}

TEST(Plans, AutomaticContextGoesByThePromptsLength) {
  PromptShape shape = shape_of_chunks({2, 2}, 2);
  const std::vector<float> scores(8, 0.1f);
  EXPECT_EQ(plan_of("weave", {shape, scores, {}}).context, RepairContext::kCausal);
  shape.prompt_tokens = 4000;
  EXPECT_EQ(plan_of("weave", {shape, scores, {}}).context, RepairContext::kOwnUnion);
}

}  // namespace
}  // namespace looseleaf
