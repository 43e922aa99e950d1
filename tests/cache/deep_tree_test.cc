// Trees as deep as the longest contexts: what walks them must not do so by calling itself.
#include <pthread.h>

#include "test_pool.h"

namespace looseleaf {
namespace {

// A context of a million tokens is a path of so many pages.
constexpr int kDepth = 32768;

PrefixCache::Place add_path(PrefixCache& prefixes, KvPool& pool) {
  const KvLayout layout{KvType::kF16, 1, 1, 1};
  PrefixCache::Place place = prefixes.root("d");
  for (int i = 0; i < kDepth; ++i) {
    const Ids tokens(kPageTokens, i);
    auto page = pool.allocate(layout);
    EXPECT_TRUE(page);
    place = prefixes.insert(place, tokens, std::move(*page));
  }
  return place;
}

// Runs `body` with the stack of a small thread.
void with_small_stack(void (*body)()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  const auto run = [](void* f) -> void* {
    reinterpret_cast<void (*)()>(f)();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, reinterpret_cast<void*>(body)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(DeepTreeTest, IsDestroyed) {
  with_small_stack([] {
    const auto device = make_cpu_device({.threads = 1});
    KvPool pool(*device, int64_t{1} << 30);
    {
      PrefixCache prefixes(pool);
      add_path(prefixes, pool);
      EXPECT_GT(pool.used_bytes(), 0);
    }
    EXPECT_EQ(pool.used_bytes(), 0);
  });
}

TEST(DeepTreeTest, IsClearedAndFound) {
  with_small_stack([] {
    const auto device = make_cpu_device({.threads = 1});
    KvPool pool(*device, int64_t{1} << 30);
    PrefixCache prefixes(pool);
    PrefixCache::Place end = add_path(prefixes, pool);
    Ids tokens;
    for (int i = 0; i < kDepth; ++i) tokens.insert(tokens.end(), kPageTokens, i);
    EXPECT_EQ(prefixes.find(prefixes.root("d"), tokens, true).tokens, kDepth * kPageTokens);
    end.reset();
    prefixes.clear();
    EXPECT_EQ(pool.used_bytes(), 0);
  });
}

}  // namespace
}  // namespace looseleaf
