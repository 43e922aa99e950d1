#include "compute/page_region.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace looseleaf {
namespace {

TEST(PageRegion, PiecesNeverOverlapAndGapsGrowTogether) {
  constexpr size_t kBytes = 10000;
  std::mt19937 random(std::random_device{}());
  PageRegion region(kBytes);
  std::map<size_t, size_t> taken;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0) {
      const size_t bytes = random() % 3 == 0 ? 136 : 256;
      const auto at = region.take(bytes);
      if (!at) continue;
      const auto next = taken.lower_bound(*at);
      if (next != taken.end()) {
        ASSERT_LE(*at + bytes, next->first);
      }
      if (next != taken.begin()) {
        ASSERT_LE(std::prev(next)->first + std::prev(next)->second, *at);
      }
      ASSERT_LE(*at + bytes, kBytes);
      taken[*at] = bytes;
    } else if (!taken.empty()) {
      const auto one = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      region.give_back(one->first);
      taken.erase(one);
    }
  }
  for (const auto& [at, bytes] : taken) region.give_back(at);
  const auto all = region.take(kBytes);
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, 0u);
  EXPECT_FALSE(region.take(1));
}

TEST(PageRegion, TakesTheSmallestGapThatFits) {
  PageRegion region(100);
  const size_t a = *region.take(30), b = *region.take(10), c = *region.take(20);
  (void)b;
  region.give_back(a);
  region.give_back(c);  // gaps: 30 at 0, 60 at 40
  EXPECT_EQ(region.take(30), a);
  EXPECT_EQ(region.take(61), std::nullopt);
}

}  // namespace
}  // namespace looseleaf
