// From logits to tokens: exact distributions, and formulas.
#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace looseleaf {
namespace {

using Floats = std::vector<float>;
using Probabilities = std::vector<double>;

Floats logits_of(const Probabilities& probabilities) {
  Floats logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

int32_t first(const SamplingParams& params, const Floats& logits,
              const std::vector<int32_t>& prompt = {}) {
  return Sampler(params, prompt).sample(logits);
}

// Draws kDraws tokens and compares with `expected` by Pearson's chi-squared. Tokens of probability
// 0 must never come. The bound is the 1 - 1e-9 quantile of chi-squared with at most 4 degrees of
// freedom (47.6); seeds are fixed, so the test is not a matter of luck twice.
void expect_distribution(SamplingParams params, const Floats& logits,
                         const Probabilities& expected) {
  constexpr int kDraws = 20000;
  params.seed = 12345;
  Sampler sampler(params, {});
  std::vector<int> counts(logits.size());
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<size_t>(sampler.sample(logits))];
  double chi_squared = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (expected[i] == 0) {
      EXPECT_EQ(counts[i], 0) << "token " << i;
      continue;
    }
    const double mean = expected[i] * kDraws;
    chi_squared += (counts[i] - mean) * (counts[i] - mean) / mean;
  }
  EXPECT_LT(chi_squared, 47.6);
}

const Probabilities kFive = {0.1, 0.4, 0.05, 0.25, 0.2};

TEST(SamplerTest, GreedyTakesTheLargestAndTheLowerIdInATie) {
  EXPECT_EQ(first({.temperature = 0}, {1, 3, 2}), 1);
  EXPECT_EQ(first({.temperature = 0}, {1, 3, 3, 3}), 1);
  EXPECT_EQ(first({.temperature = 0}, {-5, -5}), 0);
}

TEST(SamplerTest, TopOneIsGreedy) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(first({.temperature = 3, .top_k = 1, .seed = seed}, logits_of(kFive)), 1);
    EXPECT_EQ(first({.temperature = 1, .top_k = 1, .seed = seed}, {2, 5, 5}), 1) << "a tie";
  }
}

TEST(SamplerTest, TinyTemperatureIsGreedy) {
  for (uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(first({.temperature = 1e-38f, .seed = seed}, logits_of(kFive)), 1);
}

TEST(SamplerTest, SeedsRepeat) {
  const auto draw = [](uint64_t seed) {
    Sampler sampler({.seed = seed}, {});
    std::vector<int32_t> tokens;
    for (int i = 0; i < 50; ++i) tokens.push_back(sampler.sample(logits_of(kFive)));
    return tokens;
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7), draw(8));
}

TEST(SamplerTest, Softmax) { expect_distribution({}, logits_of(kFive), kFive); }

TEST(SamplerTest, Temperature) {
  Probabilities expected;
  double sum = 0;
  for (const double p : kFive) sum += std::pow(p, 1 / 0.7);
  for (const double p : kFive) expected.push_back(std::pow(p, 1 / 0.7) / sum);
  expect_distribution({.temperature = 0.7f}, logits_of(kFive), expected);
}

TEST(SamplerTest, TopK) {
  expect_distribution({.top_k = 2}, logits_of(kFive), {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
  expect_distribution({.top_k = 5}, logits_of(kFive), kFive);
  expect_distribution({.top_k = 1000}, logits_of(kFive), kFive);
}

TEST(SamplerTest, TopP) {
  // 0.4 + 0.25 = 0.65 reaches 0.6; the one that reaches it stays.
  expect_distribution({.top_p = 0.6f}, logits_of(kFive), {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
  expect_distribution({.top_p = 0.7f}, logits_of(kFive),
                      {0, 0.4 / 0.85, 0, 0.25 / 0.85, 0.2 / 0.85});
  expect_distribution({.top_p = 1e-6f}, logits_of(kFive), {0, 1, 0, 0, 0});
  expect_distribution({.top_p = 1}, logits_of(kFive), kFive);
}

TEST(SamplerTest, MinP) {
  // Of the best one's 0.4: 0.5 keeps 0.2 and more, were it not for rounding; 0.45 does.
  expect_distribution({.min_p = 0.45f}, logits_of(kFive),
                      {0, 0.4 / 0.85, 0, 0.25 / 0.85, 0.2 / 0.85});
  expect_distribution({.min_p = 0.6f}, logits_of(kFive), {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
  expect_distribution({.min_p = 1}, logits_of(kFive), {0, 1, 0, 0, 0});
}

TEST(SamplerTest, TopKThenTopP) {
  // Of the three best (0.4, 0.25, 0.2) renormalized, 0.47 + 0.29 reaches 0.75.
  expect_distribution({.top_k = 3, .top_p = 0.75f}, logits_of(kFive),
                      {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
}

TEST(SamplerTest, RepetitionPenaltyKnowsThePrompt) {
  const SamplingParams params{.temperature = 0, .repetition_penalty = 2};
  EXPECT_EQ(first(params, {4, 3}, {}), 0);
  EXPECT_EQ(first(params, {4, 3}, {0}), 1) << "4 / 2 is less than 3";
  EXPECT_EQ(first(params, {4, 1.9f}, {0}), 0) << "once, however often it came";
  EXPECT_EQ(first(params, {4, 1.9f}, {0, 0, 0}), 0);
  EXPECT_EQ(first(params, {-1, -1.5f}, {0}), 1) << "-1 * 2 is less than -1.5";
  Sampler sampler(params, {});
  EXPECT_EQ(sampler.sample(Floats{4, 3}), 0);
  EXPECT_EQ(sampler.sample(Floats{4, 3}), 1) << "generated tokens count too";
}

TEST(SamplerTest, PresenceAndFrequencyCountGeneratedTokens) {
  const SamplingParams presence{.temperature = 0, .presence_penalty = 1.5f};
  EXPECT_EQ(first(presence, {4, 3}, {0, 0}), 0) << "the prompt does not count";
  Sampler once(presence, {});
  EXPECT_EQ(once.sample(Floats{4, 3}), 0);
  EXPECT_EQ(once.sample(Floats{4, 3}), 1);
  EXPECT_EQ(once.sample(Floats{4, 3}), 0) << "both came: 2.5 and 1.5";
  Sampler often({.temperature = 0, .frequency_penalty = 0.6f}, {});
  EXPECT_EQ(often.sample(Floats{4, 2.9f}), 0);
  EXPECT_EQ(often.sample(Floats{4, 2.9f}), 0) << "4 - 0.6";
  EXPECT_EQ(often.sample(Floats{4, 2.9f}), 1) << "4 - 1.2";
}

TEST(SamplerTest, LogitBias) {
  EXPECT_EQ(first({.temperature = 0, .logit_bias = {{2, 10.0f}}}, {1, 3, 2}), 2);
  EXPECT_EQ(first({.temperature = 0, .logit_bias = {{1, -10.0f}}}, {1, 3, 2}), 2);
  expect_distribution({.logit_bias = {{1, -100.0f}}}, logits_of(kFive),
                      {0.1 / 0.6, 0, 0.05 / 0.6, 0.25 / 0.6, 0.2 / 0.6});
}

TEST(SamplerTest, ExtremesGiveATokenOfTheVocabulary) {
  const SamplingParams params{.temperature = 100, .logit_bias = {{0, 3.4e38f}, {1, -3.4e38f}}};
  EXPECT_EQ(first(params, {50, -50, 50, 0}), 0);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const Floats& broken : {Floats{kNan, 1, 2}, {1, kInf, kNan}, {-kInf, -kInf, -kInf}})
    for (const float temperature : {0.0f, 1.0f}) {
      const int32_t token = first({.temperature = temperature, .top_k = 2, .top_p = 0.5f}, broken);
      EXPECT_TRUE(token >= 0 && token < 3) << token;
    }
}

}  // namespace
}  // namespace looseleaf
