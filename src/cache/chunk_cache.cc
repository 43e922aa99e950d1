#include "cache/chunk_cache.h"

namespace looseleaf {
namespace {

constexpr size_t kRememberEvicted = 65536;

}  // namespace

void ChunkCache::touch(Entry& entry) {
  order_.erase({entry.priority, entry.chunk->key});
  entry.priority = pool_.priority(++entry.uses);
  order_.insert({entry.priority, entry.chunk->key});
}

ChunkHandle ChunkCache::find(const ChunkIdentity& identity, const ChunkKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.chunk->identity != identity) return nullptr;
  touch(found->second);
  return found->second.chunk;
}

ChunkHandle ChunkCache::insert(std::shared_ptr<Chunk> chunk) {
  Entry& entry = entries_[chunk->key];
  entry.chunk = std::move(chunk);
  bytes_ += entry.chunk->kv.bytes();
  touch(entry);
  return entry.chunk;
}

ChunkHandle ChunkCache::find_id(const std::string& id) const {
  for (const auto& [key, entry] : entries_)
    if (to_hex(key) == id) return entry.chunk;
  return nullptr;
}

bool ChunkCache::pin(const std::string& id, bool pinned) {
  for (auto& [key, entry] : entries_) {
    if (to_hex(key) != id) continue;
    entry.pinned = pinned;
    return true;
  }
  return false;
}

ChunkCache::Order::const_iterator ChunkCache::next_victim() const {
  auto it = order_.begin();
  while (it != order_.end() && entries_.at(it->second).held()) ++it;
  return it;
}

void ChunkCache::erase(Order::const_iterator victim) {
  const auto entry = entries_.find(victim->second);
  bytes_ -= entry->second.chunk->kv.bytes();
  if (evicted_.size() >= kRememberEvicted) evicted_.clear();
  evicted_.insert(victim->second);
  entries_.erase(entry);
  order_.erase(victim);
}

std::optional<double> ChunkCache::lowest_priority() const {
  const auto victim = next_victim();
  if (victim == order_.end()) return std::nullopt;
  return victim->first;
}

void ChunkCache::evict_lowest() { erase(next_victim()); }

void ChunkCache::clear() {
  for (auto it = next_victim(); it != order_.end(); it = next_victim()) erase(it);
  evicted_.clear();
}

int64_t ChunkCache::pinned_bytes() const {
  int64_t bytes = 0;
  for (const auto& [key, entry] : entries_)
    if (entry.held()) bytes += entry.chunk->kv.bytes();
  return bytes;
}

}  // namespace looseleaf
