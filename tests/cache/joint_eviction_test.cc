// Chunks and pages of text under one limit.
#include "test_pool.h"

namespace looseleaf {
namespace {

// Both caches of a pool give way by one order.
TEST(JointEvictionTest, LowestPriorityOfBothGoes) {
  Caches c(4);
  c.add({1});
  c.add({2});
  const PrefixCache::Place root = c.prefixes.root("d");
  c.prefixes.insert(root, range(0, 32), c.page());
  c.prefixes.insert(root, range(100, 32), c.page());
  c.find({1});
  c.find({2});
  (void)c.prefixes.find(root, range(0, 32), true);
  c.add({3});
  EXPECT_EQ(c.prefixes.find(root, range(100, 32), true).tokens, 0) << "used once";
  EXPECT_EQ(c.prefixes.bytes(), kPage);
  EXPECT_EQ(c.chunks.count(), 3);
  // Chunks 1 and 2 and the page have two uses and more; 3 has one, at a later clock.
  for (int i = 0; i < 5; ++i) (void)c.prefixes.find(root, range(0, 32), true);
  for (int i = 0; i < 5; ++i) c.find({3});
  for (int i = 0; i < 5; ++i) c.find({2});
  c.prefixes.insert(root, range(200, 32), c.page());
  EXPECT_EQ(c.find({1}), nullptr);
  EXPECT_EQ(c.prefixes.find(root, range(0, 32), true).tokens, 32);
}

TEST(JointEvictionTest, WhatIsHeldInOneTakesFromTheOther) {
  Caches c(4);
  std::vector<ChunkHandle> held = {c.add({1}), c.add({2})};
  const PrefixCache::Place root = c.prefixes.root("d");
  for (int use = 0; use < 9; ++use) add(c, root, range(0, 64));
  held.push_back(c.add({3}));
  held.push_back(c.add({4}));
  EXPECT_EQ(c.prefixes.bytes(), 0);
  EXPECT_FALSE(c.pool.allocate(kLayout));
  held.clear();
  add(c, root, range(0, 128));
  EXPECT_EQ(c.chunks.count(), 0);
}

}  // namespace
}  // namespace looseleaf
