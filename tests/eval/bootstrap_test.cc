#include "eval/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "eval/random.h"

namespace looseleaf {
namespace {

std::vector<double> gaussians(int count, uint64_t seed) {
  EvalRandom random(seed, 1);
  const auto uniform = [&] { return static_cast<double>((random.next() >> 11) + 1) * 0x1p-53; };
  std::vector<double> values;
  for (int i = 0; i < count; ++i)
    values.push_back(std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()));
  return values;
}

TEST(Bootstrap, IntervalHasTheWidthOfTheStandardError) {
  const auto values = gaussians(400, 3);
  double sum = 0, squares = 0;
  for (const double x : values) sum += x, squares += x * x;
  const double mean = sum / 400, error = std::sqrt((squares / 400 - mean * mean) / 400);
  const Estimate estimate = bootstrap_mean(values, 0);
  EXPECT_NEAR(estimate.value, mean, 1e-12);
  // 2,000 resamplings place a 2.5 % quantile within about 6 % of the half width.
  EXPECT_NEAR(estimate.lo, mean - 1.96 * error, 0.2 * error);
  EXPECT_NEAR(estimate.hi, mean + 1.96 * error, 0.2 * error);
}

TEST(Bootstrap, CoversTheTruthAsOftenAsItSays) {
  int covered = 0;
  for (uint64_t trial = 0; trial < 200; ++trial) {
    const Estimate estimate = bootstrap_mean(gaussians(40, 100 + trial), trial);
    covered += estimate.lo <= 0 && 0 <= estimate.hi;
  }
  // Percentile intervals of 40 samples cover about 94 %: 188 +- 3.4.
  EXPECT_GE(covered, 175);
  EXPECT_LE(covered, 198);
}

TEST(Bootstrap, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(bootstrap_median(std::vector<double>{5, 1, 3}, 0).value, 3);
  EXPECT_EQ(bootstrap_median(std::vector<double>{5, 1, 3, 4}, 0).value, 3.5);
  EXPECT_EQ(bootstrap_median(std::vector<double>{7}, 0).value, 7);
}

TEST(Bootstrap, ConstantsHaveNoWidthAndSeedsRepeat) {
  const std::vector<double> constant(9, 0.25);
  const Estimate estimate = bootstrap_mean(constant, 0);
  EXPECT_EQ(estimate.lo, 0.25);
  EXPECT_EQ(estimate.hi, 0.25);
  const auto values = gaussians(30, 5);
  EXPECT_EQ(bootstrap_mean(values, 4).lo, bootstrap_mean(values, 4).lo);
  EXPECT_NE(bootstrap_mean(values, 4).lo, bootstrap_mean(values, 5).lo);
}

TEST(Random, StreamsDifferAndStayInRange) {
  EvalRandom a(0, 0), b(0, 1), again(0, 0);
  EXPECT_NE(a.next(), b.next());
  EvalRandom fresh(0, 0);
  EXPECT_EQ(again.next(), fresh.next());
  std::vector<int> counts(7);
  for (int i = 0; i < 7000; ++i) ++counts[fresh.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);  // 5 standard deviations
  std::vector<int> items = {1, 2, 3, 4, 5};
  fresh.shuffle(items);
  std::ranges::sort(items);
  EXPECT_EQ(items, (std::vector<int>{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace looseleaf
