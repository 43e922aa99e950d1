// What makes tokens of a piece of text: the part in which tokenizers really differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/merge_table.h"

namespace looseleaf {

// Immutable after creation and thread-safe.
class SubwordModel {
 public:
  // Working memory, reused from piece to piece.
  struct Scratch {
    struct Node {
      double score;    // of the best way to get here
      uint32_t begin;  // of its last token
      int32_t id;      // of its last token; -1: none leads here yet
    };
    MergeScratch merges;
    std::vector<Node> nodes;  // [bytes of the piece + 1]
  };
  virtual ~SubwordModel() = default;

  // Offset of the first byte that the vocabulary has no token for and no way around, or nothing.
  virtual std::optional<size_t> find_unknown_byte(std::string_view text) const = 0;

  // Appends the tokens of `piece`: O(n log n) or O(n * longest token), no recursion.
  // REQUIRES: UTF-8 without unknown bytes, piece.size() < 2^32 - 1.
  virtual void encode(std::string_view piece, Scratch& scratch,
                      std::vector<int32_t>& ids) const = 0;
};

}  // namespace looseleaf
