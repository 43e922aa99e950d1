// Chunks by key: found, kept, given up when others are worth more.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "cache/chunk.h"

namespace looseleaf {

// Holding one keeps the chunk from eviction.
using ChunkHandle = std::shared_ptr<Chunk>;

// Not thread-safe: guarded by the engine.
class ChunkCache final : public Evictable {
 public:
  explicit ChunkCache(KvPool& pool) : pool_(pool) { pool.add_evictable(this); }

  // The chunk with this identity (the tokens are compared, not only the key), or null. Counts as a
  // use.
  ChunkHandle find(const ChunkIdentity& identity, const ChunkKey& key);
  // REQUIRES: no chunk has this key.
  ChunkHandle insert(std::shared_ptr<Chunk> chunk);

  // Whether a chunk of this key was here and has been evicted (of the last 64K evicted).
  bool was_evicted(const ChunkKey& key) const { return evicted_.contains(key); }

  // The chunk with this id, or null. Does not count as a use.
  ChunkHandle find_id(const std::string& id) const;

  // A pinned chunk is never evicted. False: no such chunk.
  bool pin(const std::string& id, bool pinned);
  void clear();  // all that is neither held nor pinned

  int64_t bytes() const { return bytes_; }
  int64_t pinned_bytes() const;  // held by someone, or pinned
  int64_t count() const { return static_cast<int64_t>(entries_.size()); }

  std::optional<double> lowest_priority() const override;
  void evict_lowest() override;

 private:
  struct Entry {
    ChunkHandle chunk;
    int64_t uses = 0;
    double priority = 0;
    bool pinned = false;
    bool held() const { return pinned || chunk.use_count() > 1; }
  };
  using Order = std::set<std::pair<double, ChunkKey>>;
  void touch(Entry& entry);
  Order::const_iterator next_victim() const;
  void erase(Order::const_iterator victim);

  KvPool& pool_;
  std::map<ChunkKey, Entry> entries_;
  Order order_;  // lowest priority first
  std::set<ChunkKey> evicted_;
  int64_t bytes_ = 0;
};

}  // namespace looseleaf
