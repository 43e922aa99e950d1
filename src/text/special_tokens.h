// Finds control and added tokens by their text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "text/byte_trie.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

// Immutable after creation and thread-safe.
class SpecialTokens {
 public:
  explicit SpecialTokens(const TokenizerSpec& spec);

  struct Match {
    int32_t id;
    size_t size;  // bytes, at least 1
  };
  // The longest token that `text` begins with. Control tokens count within the first
  // `control_bytes` bytes only, added tokens anywhere.
  std::optional<Match> longest(std::string_view text, size_t control_bytes) const;

  // The token whose text is exactly `text`.
  std::optional<int32_t> find(std::string_view text) const;

 private:
  ByteTrie trie_;
  std::vector<bool> control_;  // [vocab]
};

}  // namespace looseleaf
