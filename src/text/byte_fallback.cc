#include "text/byte_fallback.h"

#include <algorithm>
#include <charconv>

namespace looseleaf {

std::optional<uint8_t> read_byte_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || !text.ends_with('>')) return std::nullopt;
  uint8_t byte = 0;
  const auto [end, code] = std::from_chars(text.data() + 3, text.data() + 5, byte, 16);
  if (code != std::errc() || end != text.data() + 5) return std::nullopt;
  return byte;
}

ByteFallback::ByteFallback(const TokenizerSpec& spec) {
  ids_.fill(-1);
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.kinds[id] != TokenKind::kByte) continue;
    const auto byte = read_byte_token(spec.tokens[id]);
    if (!byte || ids_[*byte] >= 0) continue;
    ids_[*byte] = static_cast<int32_t>(id);
    --missing_;
  }
}

bool ByteFallback::append(std::string_view text, std::vector<int32_t>& ids) const {
  const auto has_token = [&](char byte) { return ids_[static_cast<uint8_t>(byte)] >= 0; };
  if (!std::all_of(text.begin(), text.end(), has_token)) return false;
  for (const char byte : text) ids.push_back(ids_[static_cast<uint8_t>(byte)]);
  return true;
}

}  // namespace looseleaf
