#include "model/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace looseleaf {
namespace {

TEST(Rope, PlainFrequenciesArePowersOfTheBase) {
  RopeConfig rope;
  rope.dims = 8;
  const auto f = rope_regime(rope, 1).frequencies;
  ASSERT_EQ(f.size(), 4u);
  const double expected[] = {1, 0.1, 0.01, 0.001};
  for (int j = 0; j < 4; ++j) EXPECT_NEAR(f[j], expected[j], 1e-15);
}

// Llama 3.1's own numbers: base 500000, factor 8, low 1, high 4, original context 8192.
TEST(Rope, Llama3KeepsShortBlendsMiddleAndSlowsLongWaves) {
  RopeConfig rope;
  rope.base = 500000;
  rope.dims = 128;
  rope.scaling = RopeScaling::kLlama3;
  rope.factor = 8;
  rope.low_frequency_factor = 1;
  rope.high_frequency_factor = 4;
  rope.original_context = 8192;
  const auto f = rope_regime(rope, 1).frequencies;
  const auto plain = [](int j) { return std::pow(500000.0, -j / 64.0); };
  // Wavelength 2 pi / f: below 8192 / 4 kept, above 8192 / 1 slowed.
  EXPECT_EQ(f[0], 1);
  EXPECT_NEAR(f[28], plain(28), 1e-12);      // wavelength 1956
  EXPECT_NEAR(f[35], plain(35) / 8, 1e-12);  // wavelength 8218
  EXPECT_NEAR(f[63], plain(63) / 8, 1e-15);
  // Between: wavelength 2401 makes 3.41 turns in 8192, so (3.41 - 1) / 3 of it is kept.
  const double turns = 8192 * plain(29) / (2 * std::numbers::pi);
  ASSERT_GT(turns, 1);
  ASSERT_LT(turns, 4);
  const double keep = (turns - 1) / 3;
  EXPECT_NEAR(f[29], keep * plain(29) + (1 - keep) * plain(29) / 8, 1e-12);
  EXPECT_NEAR(f[29] / plain(29), 0.828168, 1e-6);
}

TEST(Rope, DivisorsDivide) {
  RopeConfig rope;
  rope.dims = 4;
  rope.divisors = {1, 8};
  const auto f = rope_regime(rope, 1).frequencies;
  EXPECT_EQ(f[0], 1);
  EXPECT_NEAR(f[1], 0.01 / 8, 1e-15);
}

}  // namespace
}  // namespace looseleaf
