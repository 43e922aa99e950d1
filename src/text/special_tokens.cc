#include "text/special_tokens.h"

namespace looseleaf {
namespace {

uint64_t edge(uint32_t node, char byte) {
  return static_cast<uint64_t>(node) << 8 | static_cast<uint8_t>(byte);
}

}  // namespace

SpecialTokens::SpecialTokens(const TokenizerSpec& spec) {
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const bool control = spec.kinds[id] == TokenKind::kControl;
    if (!control && spec.kinds[id] != TokenKind::kAdded) continue;
    if (spec.tokens[id].empty()) continue;  // matches no text
    uint32_t node = 0;
    for (const char byte : spec.tokens[id]) {
      uint32_t& next = node == 0 ? first_[static_cast<uint8_t>(byte)] : children_[edge(node, byte)];
      if (next == 0) {
        next = static_cast<uint32_t>(nodes_.size());
        nodes_.emplace_back();
      }
      node = next;
    }
    nodes_[node] = {static_cast<int32_t>(id), control};
  }
}

uint32_t SpecialTokens::child(uint32_t node, char byte) const {
  if (node == 0) return first_[static_cast<uint8_t>(byte)];
  const auto found = children_.find(edge(node, byte));
  return found == children_.end() ? 0 : found->second;
}

std::optional<SpecialTokens::Match> SpecialTokens::longest(std::string_view text,
                                                           size_t control_bytes) const {
  std::optional<Match> best;
  uint32_t node = 0;
  for (size_t size = 1; size <= text.size(); ++size) {
    node = child(node, text[size - 1]);
    if (node == 0) break;
    if (nodes_[node].id >= 0 && (!nodes_[node].control || size <= control_bytes))
      best = Match{nodes_[node].id, size};
  }
  return best;
}

std::optional<int32_t> SpecialTokens::find(std::string_view text) const {
  uint32_t node = 0;
  for (const char byte : text) {
    node = child(node, byte);
    if (node == 0) return std::nullopt;
  }
  if (nodes_[node].id < 0) return std::nullopt;
  return nodes_[node].id;
}

}  // namespace looseleaf
