// Loops over a pool of threads: every index once, whatever the numbers, from several threads too.
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace looseleaf {
namespace {

class ThreadPoolTest : public testing::TestWithParam<int> {};

// Plain integers: when parallel_for returns, all that its bodies wrote is seen.
void expect_each_once(ThreadPool& pool, int64_t count) {
  std::vector<int> calls(static_cast<size_t>(count));
  pool.parallel_for(count, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
  for (const int n : calls) ASSERT_EQ(n, 1);
}

TEST_P(ThreadPoolTest, EveryIndexOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  for (const int64_t count : {0, 1, 2, 3, 4, 5, 100, 10000}) expect_each_once(pool, count);
}

TEST_P(ThreadPoolTest, NoIndexBelowZero) {
  ThreadPool pool(GetParam());
  pool.parallel_for(-1, [](int64_t) { FAIL(); });
}

TEST_P(ThreadPoolTest, ManyShortLoops) {
  ThreadPool pool(GetParam());
  for (int i = 0; i < 500; ++i) expect_each_once(pool, 7);
}

TEST_P(ThreadPoolTest, TwoCallersAtOnce) {
  ThreadPool pool(GetParam());
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) expect_each_once(pool, 20);
  });
  for (int i = 0; i < 200; ++i) expect_each_once(pool, 30);
  other.join();
}

// A body may use another pool, as two engines of one process do.
TEST_P(ThreadPoolTest, LoopsOfTwoPoolsNest) {
  ThreadPool outer(GetParam()), inner(2);
  std::atomic<int64_t> sum{0};
  outer.parallel_for(8,
                     [&](int64_t i) { inner.parallel_for(8, [&](int64_t j) { sum += i * j; }); });
  EXPECT_EQ(sum, 28 * 28);
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1, 2, 4));

}  // namespace
}  // namespace looseleaf
