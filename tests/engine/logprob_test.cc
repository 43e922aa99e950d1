// Log-probabilities of a step.
#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>

namespace looseleaf {
namespace {

using Floats = std::vector<float>;

TEST(LogprobTest, SumToOne) {
  const Floats logits = {5, -3, 88, 87.5f, -1000, 0.25f};
  double sum = 0;
  const TokenLogprob all = log_probability(logits, 3, static_cast<int>(logits.size()));
  ASSERT_EQ(all.top.size(), logits.size());
  for (const auto& [token, logprob] : all.top) {
    sum += std::exp(logprob);
    EXPECT_EQ(logprob, log_probability(logits, token, 0).logprob);
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(all.token, 3);
  for (size_t i = 1; i < all.top.size(); ++i) EXPECT_GE(all.top[i - 1].second, all.top[i].second);
}

TEST(LogprobTest, KnownValues) {
  // Of 0.1, 0.4, 0.05, 0.25 and 0.2, up to a constant.
  Floats logits;
  for (const double p : {0.1, 0.4, 0.05, 0.25, 0.2})
    logits.push_back(static_cast<float>(std::log(p)) + 3);
  const TokenLogprob p = log_probability(logits, 4, 3);
  EXPECT_NEAR(p.logprob, std::log(0.2), 1e-6);
  ASSERT_EQ(p.top.size(), 3u);
  EXPECT_EQ(p.top[0].first, 1);
  EXPECT_EQ(p.top[1].first, 3);
  EXPECT_EQ(p.top[2].first, 4);
  EXPECT_EQ(log_probability(Floats{1, 1, 1}, 2, 2).top[0].first, 0) << "the lower id in a tie";
  EXPECT_EQ(log_probability(Floats{1, 1}, 0, 9).top.size(), 2u) << "no more than there are";
}

}  // namespace
}  // namespace looseleaf
