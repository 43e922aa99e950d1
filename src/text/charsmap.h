// SentencePiece's compiled normalization rules ("precompiled_charsmap").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace looseleaf {

// A double-array trie of what is replaced (Darts-clone's units of 32 bits) and the replacements,
// each ended by a NUL:
//   u32 bytes of the trie | trie | replacements            all little-endian
// Immutable after creation and thread-safe.
class Charsmap {
 public:
  // Errors: kCorrupt (sizes that contradict each other). Broken units match nothing.
  static Expected<Charsmap> create(std::string bytes);

  struct Match {
    size_t size;  // bytes of the text that are replaced, at least 1
    std::string_view replacement;
  };
  // The longest rule that `text` begins with, or the shortest.
  std::optional<Match> longest(std::string_view text) const { return match(text, false); }
  std::optional<Match> shortest(std::string_view text) const { return match(text, true); }

 private:
  Charsmap(std::string bytes, size_t units) : bytes_(std::move(bytes)), units_(units) {}
  std::optional<uint32_t> unit(size_t index) const;
  std::optional<Match> match(std::string_view text, bool first) const;

  std::string bytes_;
  size_t units_;  // of the trie
};

}  // namespace looseleaf
