// A small pool, chunks of made-up tokens, and the caches over it.
#pragma once

#include <gtest/gtest.h>

#include <numeric>

#include "cache/chunk_cache.h"
#include "cache/prefix_cache.h"
#include "compute/cpu/cpu_device.h"

namespace looseleaf {

inline constexpr KvLayout kLayout{KvType::kF32, 1, 1, 16};
inline constexpr int64_t kPage = 2 * 32 * 16 * 4;

using Ids = std::vector<int32_t>;

inline Ids range(int first, int count) {
  Ids tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

// Fixture: a pool of `pages` pages with both caches.
struct Caches {
  explicit Caches(int64_t pages)
      : device(make_cpu_device({.threads = 1})),
        pool(*device, pages * kPage),
        chunks(pool),
        prefixes(pool) {}

  KvPageRef page() {
    auto page = pool.allocate(kLayout);
    EXPECT_TRUE(page) << page.error().message;
    return *page;
  }

  ChunkIdentity identity(Ids tokens, const std::string& salt = "") const {
    ChunkIdentity identity;
    identity.fingerprint = "model";
    identity.salt = salt;
    identity.tokens = std::move(tokens);
    return identity;
  }
  ChunkHandle add(Ids tokens) {
    auto chunk = std::make_shared<Chunk>(Chunk{identity(std::move(tokens)), {}, KvRun(kLayout)});
    chunk->key = chunk_key(chunk->identity);
    EXPECT_TRUE(chunk->kv.extend(pool, static_cast<int>(chunk->identity.tokens.size())));
    return chunks.insert(chunk);
  }
  ChunkHandle find(Ids tokens) {
    const ChunkIdentity wanted = identity(std::move(tokens));
    return chunks.find(wanted, chunk_key(wanted));
  }

  std::unique_ptr<Device> device;
  KvPool pool;
  ChunkCache chunks;
  PrefixCache prefixes;
};

// Adds `tokens` page by page behind `place`.
inline PrefixCache::Place add(Caches& c, PrefixCache::Place place, const Ids& tokens) {
  for (size_t first = 0; first < tokens.size(); first += kPageTokens) {
    const size_t count = std::min<size_t>(kPageTokens, tokens.size() - first);
    place = c.prefixes.insert(place, std::span(tokens).subspan(first, count), c.page());
  }
  return place;
}

}  // namespace looseleaf
