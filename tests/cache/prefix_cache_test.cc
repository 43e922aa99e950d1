// The tree of pages: what is found after what, how far, and what may go.
#include <random>

#include "test_pool.h"

namespace looseleaf {
namespace {

using Place = PrefixCache::Place;

TEST(PrefixCacheTest, FullPages) {
  Caches c(10);
  const Place end = add(c, c.prefixes.root("d"), range(0, 64));
  auto match = c.prefixes.find(c.prefixes.root("d"), range(0, 100), true);
  EXPECT_EQ(match.tokens, 64);
  EXPECT_EQ(match.pages.size(), 2u);
  EXPECT_EQ(match.place, end);
  EXPECT_EQ(match.partial, nullptr);
  match = c.prefixes.find(c.prefixes.root("d"), range(0, 64), true);
  EXPECT_EQ(match.tokens, 64) << "a full page is never appended to";
  EXPECT_EQ(c.prefixes.find(c.prefixes.root("other"), range(0, 64), true).tokens, 0);
  EXPECT_EQ(c.prefixes.find(c.prefixes.root("d"), {}, true).tokens, 0);
}

TEST(PrefixCacheTest, PartOfAPage) {
  Caches c(10);
  const Place root = c.prefixes.root("d");
  add(c, root, range(0, 64));
  Ids wanted = range(0, 70);
  wanted[40] = 9999;
  auto match = c.prefixes.find(root, wanted, true);
  EXPECT_EQ(match.tokens, 32);
  EXPECT_EQ(match.partial_tokens, 8);
  EXPECT_NE(match.partial, nullptr);
  match = c.prefixes.find(root, range(0, 5), true);
  EXPECT_EQ(match.tokens, 0);
  EXPECT_EQ(match.partial_tokens, 5);
  EXPECT_EQ(match.place, root);
  match = c.prefixes.find(root, range(1, 5), true);
  EXPECT_EQ(match.partial_tokens, 0);
  EXPECT_EQ(match.partial, nullptr);
}

// Where several pages begin alike, the one that agrees longest is taken. Checked against trying
// all.
TEST(PrefixCacheTest, LongestCommonBeginningOfManySiblings) {
  std::mt19937 random(1);
  const auto draw = [&] {
    Ids tokens(1 + random() % kPageTokens);
    for (int32_t& token : tokens) {
      // Ids that differ in one byte only, high and low: labels compare bytes.
      constexpr int32_t kIds[] = {0, 1, 255, 256, 65536, 0x01000000};
      token = random() % 3 == 0 ? kIds[random() % 6] : 0;
    }
    return tokens;
  };
  for (int round = 0; round < 200; ++round) {
    Caches c(40);
    const Place root = c.prefixes.root("d");
    std::vector<Ids> siblings;
    for (int i = 0; i < 8; ++i) {
      siblings.push_back(draw());
      c.prefixes.insert(root, siblings.back(), c.page());
    }
    c.prefixes.insert_chunk(root, ChunkKey{}, "reuse");
    const Ids wanted = draw();
    size_t best = 0;
    bool exact_page = false;
    for (const Ids& s : siblings) {
      const auto end = std::mismatch(s.begin(), s.end(), wanted.begin(), wanted.end()).first;
      best = std::max(best, static_cast<size_t>(end - s.begin()));
      exact_page |= s == wanted && s.size() == kPageTokens;
    }
    const auto match = c.prefixes.find(root, wanted, true);
    EXPECT_EQ(match.tokens + match.partial_tokens, static_cast<int>(best));
    EXPECT_EQ(match.tokens, exact_page ? kPageTokens : 0);
  }
}

TEST(PrefixCacheTest, PartialPagesAreSharedWholeOnlyWhereNothingIsAppended) {
  Caches c(10);
  const Place root = c.prefixes.root("d");
  const Place end = add(c, root, range(0, 40));
  auto match = c.prefixes.find(root, range(0, 40), true);
  EXPECT_EQ(match.tokens, 32);
  EXPECT_EQ(match.partial_tokens, 8);
  match = c.prefixes.find(root, range(0, 40), false);
  EXPECT_EQ(match.tokens, 40);
  EXPECT_EQ(match.pages.size(), 2u);
  EXPECT_EQ(match.place, end);
  EXPECT_EQ(match.partial, nullptr);
  // A shorter text is not that edge: what follows it follows other text.
  match = c.prefixes.find(root, range(0, 39), false);
  EXPECT_EQ(match.tokens, 32);
  EXPECT_EQ(match.partial_tokens, 7);
}

TEST(PrefixCacheTest, InsertFindsTheSameTokens) {
  Caches c(10);
  const Place root = c.prefixes.root("d");
  const Ids tokens = range(0, 20);
  const KvPageRef first = c.page();
  const Place place = c.prefixes.insert(root, tokens, first);
  EXPECT_EQ(c.prefixes.insert(root, tokens, c.page()), place);
  EXPECT_EQ(c.prefixes.bytes(), kPage);
  EXPECT_EQ(c.prefixes.find(root, tokens, false).pages[0], first);
}

TEST(PrefixCacheTest, ChunkEdges) {
  Caches c(10);
  const Place root = c.prefixes.root("d");
  const ChunkKey a{1}, b{2};
  EXPECT_EQ(c.prefixes.find_chunk(root, a, "reuse"), nullptr);
  const Place after = c.prefixes.insert_chunk(root, a, "reuse");
  EXPECT_EQ(c.prefixes.find_chunk(root, a, "reuse"), after);
  EXPECT_EQ(c.prefixes.insert_chunk(root, a, "reuse"), after);
  EXPECT_EQ(c.prefixes.find_chunk(root, b, "reuse"), nullptr);
  EXPECT_EQ(c.prefixes.find_chunk(root, a, "block"), nullptr);
  EXPECT_EQ(c.prefixes.find_chunk(after, a, "reuse"), nullptr) << "not twice";
  add(c, after, range(0, 10));
  EXPECT_EQ(c.prefixes.find(after, range(0, 10), false).tokens, 10);
  EXPECT_EQ(c.prefixes.find(root, range(0, 10), false).tokens, 0);
  EXPECT_EQ(c.prefixes.bytes(), kPage) << "a chunk's edge has none";
}

TEST(PrefixCacheTest, OnlyLeavesGo) {
  Caches c(4);
  const Place root = c.prefixes.root("d");
  add(c, root, range(0, 128));
  for (int left = 3; left >= 0; --left) {
    c.prefixes.evict_lowest();
    EXPECT_EQ(c.prefixes.bytes(), left * kPage);
    EXPECT_EQ(c.pool.used_bytes(), left * kPage);
    // Looking is a use, but the path keeps its order.
    EXPECT_EQ(c.prefixes.find(root, range(0, 128), true).tokens, left * kPageTokens);
  }
  EXPECT_FALSE(c.prefixes.lowest_priority().has_value());
}

TEST(PrefixCacheTest, HeldPagesAndPlacesStay) {
  Caches c(4);
  Place root = c.prefixes.root("d");
  add(c, root, range(0, 64));
  auto match = c.prefixes.find(root, range(0, 64), true);
  match.place.reset();
  match.pages.erase(match.pages.begin());  // the last page alone
  EXPECT_EQ(c.prefixes.pinned_bytes(), kPage);
  EXPECT_FALSE(c.prefixes.lowest_priority().has_value());
  match.pages.clear();
  EXPECT_EQ(c.prefixes.pinned_bytes(), 0);
  Place place = c.prefixes.insert_chunk(root, ChunkKey{1}, "reuse");
  c.prefixes.clear();
  EXPECT_EQ(c.prefixes.bytes(), 0);
  EXPECT_EQ(c.prefixes.find_chunk(root, ChunkKey{1}, "reuse"), place) << "a place is held";
  place.reset();
  c.prefixes.clear();
  EXPECT_EQ(c.prefixes.find_chunk(root, ChunkKey{1}, "reuse"), nullptr);
  // The root that is held is still the one that others find.
  add(c, root, range(0, 32));
  EXPECT_EQ(c.prefixes.find(c.prefixes.root("d"), range(0, 32), true).tokens, 32);
  root.reset();
  c.prefixes.clear();
  EXPECT_EQ(c.pool.used_bytes(), 0);
}

TEST(PrefixCacheTest, EvictionMakesRoom) {
  Caches c(4);
  for (int i = 0; i < 50; ++i) {
    add(c, c.prefixes.root(std::to_string(i % 3)), range(i * 100, 40));
    EXPECT_LE(c.pool.used_bytes(), c.pool.limit_bytes());
    EXPECT_EQ(c.pool.used_bytes(), c.prefixes.bytes());
    EXPECT_EQ(c.prefixes.pinned_bytes(), 0);
  }
}

}  // namespace
}  // namespace looseleaf
