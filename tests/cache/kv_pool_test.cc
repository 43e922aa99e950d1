// The byte limit is hard, and a run that cannot grow stays as it was.
#include "test_pool.h"

namespace looseleaf {
namespace {

TEST(KvPoolTest, LimitIsNeverExceeded) {
  Caches c(3);
  std::vector<KvPageRef> pages;
  for (int i = 0; i < 3; ++i) pages.push_back(c.page());
  EXPECT_EQ(c.pool.used_bytes(), 3 * kPage);
  const auto refused = c.pool.allocate(kLayout);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  for (const int64_t number : {3 * kPage, kPage})
    EXPECT_NE(refused.error().message.find(std::to_string(number)), std::string::npos)
        << refused.error().message;
  pages.pop_back();
  EXPECT_EQ(c.pool.used_bytes(), 2 * kPage);
  EXPECT_TRUE(c.pool.allocate(kLayout));
}

TEST(KvPoolTest, LimitThatIsNoMultipleOfAPage) {
  Caches c(0);
  KvPool pool(*c.device, 2 * kPage + kPage / 2);
  const auto a = pool.allocate(kLayout), b = pool.allocate(kLayout);
  EXPECT_TRUE(a && b);
  EXPECT_FALSE(pool.allocate(kLayout));
  EXPECT_LE(pool.used_bytes(), pool.limit_bytes());
}

TEST(KvPoolTest, LayoutsShareOneLimit) {
  Caches c(2);
  const KvLayout half{KvType::kF16, 1, 1, 16};
  const KvPageRef whole = c.page();
  const auto a = c.pool.allocate(half), b = c.pool.allocate(half);
  EXPECT_TRUE(a && b);
  EXPECT_EQ(c.pool.used_bytes(), 2 * kPage);
  EXPECT_FALSE(c.pool.allocate(half));
}

TEST(KvPoolTest, PagesAreAligned) {
  Caches c(2);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(c.page()->data()) % 64, 0u);
}

TEST(KvRunTest, ExtendsPageByPage) {
  Caches c(4);
  KvRun run(kLayout);
  ASSERT_TRUE(run.extend(c.pool, 31));
  EXPECT_EQ(run.pages().size(), 1u);
  ASSERT_TRUE(run.extend(c.pool, 1));
  EXPECT_EQ(run.pages().size(), 1u);
  ASSERT_TRUE(run.extend(c.pool, 1));
  EXPECT_EQ(run.pages().size(), 2u);
  ASSERT_TRUE(run.extend(c.pool, 0));
  EXPECT_EQ(run.count(), 33);
  EXPECT_EQ(run.bytes(), 2 * kPage);
  EXPECT_EQ(run.slot(32).page, run.pages()[1]->data());
  EXPECT_EQ(run.slot(32).slot, 0);
  const Segment segment = run.segment(7);
  EXPECT_EQ(segment.count, 33);
  EXPECT_EQ(segment.position, 7);
  EXPECT_EQ(segment.pages.size(), 2u);
}

TEST(KvRunTest, FailingMidwayLeavesItAsBefore) {
  Caches c(3);
  KvRun run(kLayout);
  ASSERT_TRUE(run.extend(c.pool, 40));
  const auto pages = run.pages();
  EXPECT_FALSE(run.extend(c.pool, 80)) << "the third page fits, the fourth does not";
  EXPECT_EQ(run.count(), 40);
  EXPECT_EQ(run.pages(), pages);
  EXPECT_EQ(run.segment(0).pages.size(), 2u);
  EXPECT_EQ(c.pool.used_bytes(), 2 * kPage);
  EXPECT_TRUE(run.extend(c.pool, 56)) << "to the end of the third page";
}

TEST(KvRunTest, SharedPagesAreNotAllocated) {
  Caches c(2);
  const KvPageRef page = c.page();
  KvRun run(kLayout);
  run.share(page, kPageTokens);
  EXPECT_EQ(c.pool.used_bytes(), kPage);
  ASSERT_TRUE(run.extend(c.pool, 1));
  EXPECT_EQ(run.count(), 33);
  EXPECT_EQ(run.slot(0).page, page->data());
  EXPECT_NE(run.slot(32).page, page->data());
}

}  // namespace
}  // namespace looseleaf
