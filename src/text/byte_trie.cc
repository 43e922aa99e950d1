#include "text/byte_trie.h"

namespace looseleaf {

void ByteTrie::insert(std::string_view text, int32_t value) {
  uint32_t node = kRoot;
  for (const char byte : text) {
    uint32_t& next =
        node == kRoot ? first_[static_cast<uint8_t>(byte)] : children_[edge(node, byte)];
    if (next == kRoot) {
      next = static_cast<uint32_t>(values_.size());
      values_.push_back(-1);
    }
    node = next;
  }
  values_[node] = value;
}

int32_t ByteTrie::find(std::string_view text) const {
  uint32_t node = kRoot;
  for (const char byte : text) {
    node = child(node, byte);
    if (node == kRoot) return -1;
  }
  return values_[node];
}

}  // namespace looseleaf
