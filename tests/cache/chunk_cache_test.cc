// Chunks by identity: what makes two of them differ, and which one gives way.
#include "test_pool.h"

namespace looseleaf {
namespace {

TEST(ChunkKeyTest, EveryFieldCounts) {
  const ChunkIdentity base{"model", "", KvType::kF32, {1}, "salt", "", {2, 3}};
  std::vector<ChunkIdentity> others(8, base);
  others[0].fingerprint = "mode";
  others[1].rope_regime = "long";
  others[2].kv_type = KvType::kF16;
  others[3].encoding_prefix = {};
  others[4].salt = "";
  others[5].variant = "block:inplace=1";
  others[6].tokens = {2};
  // The same numbers, otherwise divided.
  others[7].encoding_prefix = {1, 2};
  others[7].tokens = {3};
  std::set<ChunkKey> keys = {chunk_key(base)};
  for (const ChunkIdentity& other : others) keys.insert(chunk_key(other));
  EXPECT_EQ(keys.size(), 9u);
  EXPECT_EQ(chunk_key(base), chunk_key(ChunkIdentity(base)));
}

TEST(ChunkCacheTest, FindComparesTokensNotOnlyKeys) {
  Caches c(4);
  const ChunkHandle chunk = c.add({1, 2, 3});
  EXPECT_EQ(c.find({1, 2, 3}), chunk);
  EXPECT_EQ(c.find({1, 2, 4}), nullptr);
  EXPECT_EQ(c.chunks.find(c.identity({1, 2, 4}), chunk->key), nullptr) << "a forged key";
  EXPECT_EQ(c.chunks.find(c.identity({1, 2, 3}, "other"), chunk->key), nullptr);
}

TEST(ChunkCacheTest, HeldChunksStay) {
  Caches c(2);
  ChunkHandle held = c.add({1});
  c.add({2});
  EXPECT_EQ(c.chunks.pinned_bytes(), kPage);
  c.add({3});
  EXPECT_EQ(c.find({2}), nullptr);
  EXPECT_EQ(c.find({1}), held);
  ChunkHandle other = c.find({3});
  EXPECT_FALSE(c.chunks.lowest_priority().has_value());
  EXPECT_FALSE(c.pool.allocate(kLayout)) << "all is in use";
  held.reset();
  EXPECT_TRUE(c.pool.allocate(kLayout));
  EXPECT_EQ(c.find({1}), nullptr);
  other.reset();
  EXPECT_EQ(c.chunks.pinned_bytes(), 0);
  EXPECT_EQ(c.chunks.bytes(), c.pool.used_bytes());
}

TEST(ChunkCacheTest, PinnedChunksStay) {
  Caches c(2);
  const std::string id = c.add({1})->id();
  EXPECT_FALSE(c.chunks.pin("", true));
  EXPECT_FALSE(c.chunks.pin(std::string(64, '0'), true));
  ASSERT_TRUE(c.chunks.pin(id, true));
  EXPECT_EQ(c.chunks.pinned_bytes(), kPage);
  for (int i = 2; i < 10; ++i) c.add({i});
  EXPECT_NE(c.find({1}), nullptr);
  c.chunks.clear();
  EXPECT_EQ(c.chunks.count(), 1);
  ASSERT_TRUE(c.chunks.pin(id, false));
  EXPECT_EQ(c.chunks.pinned_bytes(), 0);
  c.chunks.clear();
  EXPECT_EQ(c.chunks.count(), 0);
  EXPECT_EQ(c.chunks.bytes(), 0);
  EXPECT_EQ(c.pool.used_bytes(), 0);
  EXPECT_FALSE(c.chunks.pin(id, true)) << "it is gone";
}

TEST(ChunkCacheTest, LeastUsedGoesFirst) {
  Caches c(3);
  for (int i = 1; i <= 3; ++i) c.add({i});
  for (int i = 0; i < 3; ++i) c.find({1});
  c.find({3});
  c.add({4});
  EXPECT_EQ(c.find({2}), nullptr);
  c.add({5});
  EXPECT_EQ(c.find({4}), nullptr) << "one use, at the clock of the first eviction";
  EXPECT_NE(c.find({1}), nullptr);
}

// LFU alone would keep yesterday's favourite for ever: the clock lets it fade.
TEST(ChunkCacheTest, OldFameFades) {
  Caches c(2);
  c.add({1});
  for (int i = 0; i < 20; ++i) c.find({1});
  int others = 0;
  while (true) {
    c.add({100 + others++});
    const ChunkIdentity famous = c.identity({1});
    if (c.chunks.was_evicted(chunk_key(famous))) break;  // asking by find() would be a use
    ASSERT_LT(others, 200);
  }
  EXPECT_GT(others, 15) << "but not at once";
}

TEST(ChunkCacheTest, RemembersWhatWasEvicted) {
  Caches c(1);
  const ChunkKey one = c.add({1})->key;
  EXPECT_FALSE(c.chunks.was_evicted(one));
  c.add({2});
  EXPECT_TRUE(c.chunks.was_evicted(one));
  EXPECT_EQ(c.pool.evictions(), 1);
  c.chunks.clear();
  EXPECT_FALSE(c.chunks.was_evicted(one)) << "clearing is no eviction";
}

TEST(ChunkCacheTest, ClearKeepsWhatIsHeld) {
  Caches c(3);
  ChunkHandle held = c.add({1});
  c.add({2});
  c.chunks.clear();
  EXPECT_EQ(c.chunks.count(), 1);
  EXPECT_EQ(c.chunks.bytes(), kPage);
  EXPECT_EQ(c.find({1}), held);
  held.reset();
  c.chunks.clear();
  EXPECT_EQ(c.pool.used_bytes(), 0);
}

}  // namespace
}  // namespace looseleaf
