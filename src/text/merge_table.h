// Byte pair encoding proper: which neighbours merge, and in which order.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace looseleaf {

// Working memory of merging, reused from piece to piece.
struct MergeScratch {
  struct Symbol {
    int32_t id;  // -1: merged into the symbol before it
    uint32_t previous, next;
  };
  std::vector<int32_t> ids;     // the symbols of a piece; afterwards what they became
  std::vector<Symbol> symbols;  // [ids before merging]
  std::vector<uint64_t> queue;  // a heap of rank << 32 | position, the smallest on top
};

// Thread-safe once built.
class MergeTable {
 public:
  void reserve(size_t merges) { merges_.reserve(merges); }
  // `left` and `right` become `result`. The lowest rank comes first, and of merges that have the
  // same rank the leftmost place in the text. The rank of an earlier merge of the pair, which then
  // stays.
  std::optional<uint32_t> add(int32_t left, int32_t right, int32_t result, uint32_t rank);

  // Merges scratch.ids until nothing merges: O(n log n), no recursion.
  // REQUIRES: fewer than 2^32 - 1 ids.
  void apply(MergeScratch& scratch) const;

 private:
  struct Merge {
    uint32_t rank;
    int32_t result;
  };
  const Merge* find(int32_t left, int32_t right) const;

  boost::unordered_flat_map<uint64_t, Merge> merges_;  // by left << 32 | right
};

}  // namespace looseleaf
