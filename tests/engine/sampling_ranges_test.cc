// What sampling parameters may be, and whose value counts.
#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <limits>

namespace looseleaf {
namespace {

// A sampling with one field set.
template <typename Field, typename Value>
Sampling with(Field Sampling::*field, Value value) {
  Sampling sampling;
  sampling.*field = value;
  return sampling;
}

std::string refused(const Sampling& sampling, const GenerationDefaults& defaults = {}) {
  const auto params = resolve_sampling(sampling, defaults, 10);
  return params ? "" : params.error().param;
}

TEST(SamplingRangesTest, OutOfRange) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float bad : {-0.1f, kNan, kInf, -kInf}) {
    EXPECT_EQ(refused(with(&Sampling::temperature, bad)), "temperature") << bad;
    EXPECT_EQ(refused(with(&Sampling::top_p, bad)), "top_p") << bad;
    EXPECT_EQ(refused(with(&Sampling::min_p, bad)), "min_p") << bad;
    EXPECT_EQ(refused(with(&Sampling::repetition_penalty, bad)), "repetition_penalty") << bad;
  }
  EXPECT_EQ(refused(with(&Sampling::top_p, 0.0f)), "top_p");
  EXPECT_EQ(refused(with(&Sampling::top_p, 1.1f)), "top_p");
  EXPECT_EQ(refused(with(&Sampling::min_p, 1.1f)), "min_p");
  EXPECT_EQ(refused(with(&Sampling::top_k, -1)), "top_k");
  EXPECT_EQ(refused(with(&Sampling::repetition_penalty, 0.0f)), "repetition_penalty");
  for (const float bad : {-2.1f, 2.1f, kNan}) {
    EXPECT_EQ(refused(with(&Sampling::presence_penalty, bad)), "presence_penalty");
    EXPECT_EQ(refused(with(&Sampling::frequency_penalty, bad)), "frequency_penalty");
  }
  EXPECT_EQ(refused(with(&Sampling::logit_bias, std::map<int32_t, float>{{-1, 0.0f}})),
            "logit_bias.-1");
  EXPECT_EQ(refused(with(&Sampling::logit_bias, std::map<int32_t, float>{{10, 0.0f}})),
            "logit_bias.10");
  EXPECT_EQ(refused(with(&Sampling::logit_bias, std::map<int32_t, float>{{1, kNan}})),
            "logit_bias.1");
  EXPECT_EQ(refused(with(&Sampling::logit_bias, std::map<int32_t, float>{{1, kInf}})),
            "logit_bias.1");
}

TEST(SamplingRangesTest, EdgesAreIn) {
  EXPECT_EQ(refused(with(&Sampling::temperature, 0.0f)), "");
  EXPECT_EQ(refused(with(&Sampling::top_k, 0)), "");
  EXPECT_EQ(refused(with(&Sampling::top_p, 1.0f)), "");
  EXPECT_EQ(refused(with(&Sampling::min_p, 0.0f)), "");
  EXPECT_EQ(refused(with(&Sampling::presence_penalty, -2.0f)), "");
  EXPECT_EQ(refused(with(&Sampling::frequency_penalty, 2.0f)), "");
  EXPECT_EQ(refused(with(&Sampling::logit_bias, std::map<int32_t, float>{{0, -1.0f}, {9, 1.0f}})),
            "");
  EXPECT_EQ(refused(with(&Sampling::min_p, 1.0f)), "");
}

TEST(SamplingRangesTest, RequestThenModelThenNeutral) {
  const GenerationDefaults model{
      .temperature = 0.6f, .top_p = 0.9f, .min_p = {}, .repetition_penalty = 1.2f, .top_k = 20};
  const auto params = resolve_sampling(with(&Sampling::top_p, 0.5f), model, 10);
  ASSERT_TRUE(params);
  EXPECT_EQ(params->temperature, 0.6f);
  EXPECT_EQ(params->top_k, 20);
  EXPECT_EQ(params->top_p, 0.5f);
  EXPECT_EQ(params->min_p, 0);
  EXPECT_EQ(params->repetition_penalty, 1.2f);
  EXPECT_EQ(resolve_sampling({}, {}, 10)->temperature, 1);
}

}  // namespace
}  // namespace looseleaf
