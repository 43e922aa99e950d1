// Byte-level BPE proper: the tokens of one piece of text.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

// Immutable after creation and thread-safe.
class BpeMerges {
 public:
  // REQUIRES: check_spec(spec).
  // Errors: kCorrupt (a merge whose parts or result are no normal tokens, a merge given twice, a
  // vocabulary that cannot spell printable ASCII).
  static Expected<BpeMerges> create(const TokenizerSpec& spec);

  // Working memory, reused from piece to piece.
  struct Scratch {
    struct Symbol {
      int32_t id;  // -1: merged into the symbol before it
      uint32_t previous, next;
    };
    std::vector<Symbol> symbols;  // [bytes of the piece]
    std::vector<uint64_t> queue;  // a heap of rank << 32 | position, the smallest on top
  };

  // Offset of the first byte that the vocabulary has no token for, or nothing: a few real
  // vocabularies lack control bytes and the lead bytes of unassigned planes.
  std::optional<size_t> find_unknown_byte(std::string_view text) const;

  // Appends the tokens of `piece`: O(n log n), no recursion.
  // REQUIRES: no unknown byte, piece.size() < 2^32 - 1.
  void encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const;

 private:
  struct Merge {
    int32_t left, right, result;
  };

  std::array<int32_t, 256> byte_ids_;                      // -1: no token
  std::vector<Merge> merges_;                              // by rank
  boost::unordered_flat_map<uint64_t, uint32_t> rank_of_;  // by left << 32 | right
};

}  // namespace looseleaf
