#include "text/special_tokens.h"

namespace looseleaf {

SpecialTokens::SpecialTokens(const TokenizerSpec& spec) : control_(spec.tokens.size()) {
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    control_[id] = spec.kinds[id] == TokenKind::kControl;
    if (!control_[id] && spec.kinds[id] != TokenKind::kAdded) continue;
    if (spec.tokens[id].empty()) continue;  // matches no text
    trie_.insert(spec.tokens[id], static_cast<int32_t>(id));
  }
}

std::optional<SpecialTokens::Match> SpecialTokens::longest(std::string_view text,
                                                           size_t control_bytes) const {
  std::optional<Match> best;
  uint32_t node = ByteTrie::kRoot;
  for (size_t size = 1; size <= text.size(); ++size) {
    node = trie_.child(node, text[size - 1]);
    if (node == ByteTrie::kRoot) break;
    const int32_t id = trie_.value(node);
    if (id >= 0 && (!control_[static_cast<size_t>(id)] || size <= control_bytes))
      best = Match{id, size};
  }
  return best;
}

std::optional<int32_t> SpecialTokens::find(std::string_view text) const {
  if (text.empty()) return std::nullopt;
  const int32_t id = trie_.find(text);
  if (id < 0) return std::nullopt;
  return id;
}

}  // namespace looseleaf
