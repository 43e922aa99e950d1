// A trie over the bytes of tokens.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string_view>
#include <vector>

namespace looseleaf {

// Thread-safe once built.
class ByteTrie {
 public:
  static constexpr uint32_t kRoot = 0;

  // A text that is there already gets the new value. REQUIRES: value >= 0, `text` is not empty.
  void insert(std::string_view text, int32_t value);

  // The node behind `byte`; kRoot if there is none (the root is nobody's child).
  uint32_t child(uint32_t node, char byte) const {
    if (node == kRoot) return first_[static_cast<uint8_t>(byte)];
    const auto found = children_.find(edge(node, byte));
    return found == children_.end() ? kRoot : found->second;
  }
  // Of the text that ends here; -1: none does.
  int32_t value(uint32_t node) const { return values_[node]; }
  // Of exactly `text`; -1: not there.
  int32_t find(std::string_view text) const;

 private:
  static uint64_t edge(uint32_t node, char byte) {
    return static_cast<uint64_t>(node) << 8 | static_cast<uint8_t>(byte);
  }

  std::vector<int32_t> values_ = {-1};  // [nodes]
  std::array<uint32_t, 256> first_{};   // the root's children, asked for at every byte of a text
  boost::unordered_flat_map<uint64_t, uint32_t> children_;  // the others', by node << 8 | byte
};

}  // namespace looseleaf
