// Pages of text, found by everything that stood before them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "cache/chunk.h"

namespace looseleaf {

// A tree over the pieces of prompts. An edge is a page of tokens (the last page of a stretch of
// text may be partial) or a chunk; a path from the root spells what stood before, so tokens are
// compared and never only hashed. Not thread-safe: guarded by the engine.
class PrefixCache final : public Evictable {
 public:
  class Node;
  // Holding one keeps its node, and so all that leads to it, from eviction.
  using Place = std::shared_ptr<Node>;

  struct Match {
    std::vector<KvPageRef> pages;  // whole edges, in order; all but the last are full
    int tokens = 0;                // that `pages` hold
    Place place;                   // where they end
    KvPageRef partial;             // a page whose first `partial_tokens` come next, or null
    int partial_tokens = 0;
  };

  explicit PrefixCache(KvPool& pool);
  ~PrefixCache() override;

  // `domain` holds all that pages' values depend on besides the tokens before them.
  Place root(const std::string& domain);
  // The longest cached beginning of `tokens` after `place`. Counts as a use. Where tokens may be
  // appended later, a partial page is never matched whole.
  Match find(const Place& place, std::span<const int32_t> tokens, bool appendable);
  // Adds a page after `place`, or finds the one that is there with the same tokens.
  // REQUIRES: 1 to kPageTokens tokens.
  Place insert(const Place& place, std::span<const int32_t> tokens, KvPageRef page);
  // The place after a chunk: found (null where there is none), or added. `how`: the method, since
  // it decides what later text saw.
  Place find_chunk(const Place& place, const ChunkKey& key, const std::string& how);
  Place insert_chunk(const Place& place, const ChunkKey& key, const std::string& how);
  void clear();  // all that is not held

  int64_t bytes() const { return bytes_; }
  int64_t pinned_bytes() const;  // of pages that someone holds

  std::optional<double> lowest_priority() const override;
  void evict_lowest() override;

 private:
  using Order = std::set<std::tuple<double, int, Node*>>;  // priority, -depth, node
  static Order::value_type order_of(Node& node);
  void touch(Node& node);
  void drop_empty_roots();
  Order::const_iterator next_victim() const;
  void erase(Order::const_iterator victim);
  Place child(const Place& parent, std::string label);

  KvPool& pool_;
  std::map<std::string, Place> roots_;
  Order order_;  // of nodes below the roots, lowest priority first, of equals the deepest
  int64_t bytes_ = 0;
};

}  // namespace looseleaf
