// Finds control and added tokens by their text.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/tokenizer_spec.h"

namespace looseleaf {

// A trie over the bytes of the tokens. Immutable after creation and thread-safe.
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
  struct Node {
    int32_t id = -1;  // the token that ends here
    bool control = false;
  };
  uint32_t child(uint32_t node, char byte) const;  // 0: none (the root is nobody's child)

  std::vector<Node> nodes_ = {{}};
  std::array<uint32_t, 256> first_{};  // the root's children, asked for at every byte of a text
  boost::unordered_flat_map<uint64_t, uint32_t> children_;  // the others', by node << 8 | byte
};

}  // namespace looseleaf
