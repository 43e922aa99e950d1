#include "text/charsmap.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace looseleaf {
namespace {

constexpr size_t kHeader = sizeof(uint32_t);

static_assert(std::endian::native == std::endian::little);

uint32_t load(std::string_view bytes, size_t offset) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

Expected<Charsmap> Charsmap::create(std::string bytes) {
  const size_t trie = bytes.size() < kHeader ? 0 : load(bytes, 0);
  if (bytes.size() < kHeader || trie % sizeof(uint32_t) != 0 || trie > bytes.size() - kHeader)
    return error(ErrorCode::kCorrupt,
                 "tokenizer: a charsmap of {} bytes whose trie has {}; convert the model again",
                 bytes.size(), trie);
  return Charsmap(std::move(bytes), trie / sizeof(uint32_t));
}

std::optional<uint32_t> Charsmap::unit(size_t index) const {
  if (index >= units_) return std::nullopt;
  return load(bytes_, kHeader + index * sizeof(uint32_t));
}

// A unit has the byte that leads to it in bits 0 to 7, in bit 8 whether a rule ends at it, and in
// bits 10 to 30 the distance to its children (shifted by 8 where bit 9 is set), which is combined
// with the index by exclusive or; the child for byte 0 is a value, marked by bit 31: an offset in
// the replacements.
std::optional<Charsmap::Match> Charsmap::match(std::string_view text, bool first) const {
  const auto distance = [](uint32_t unit) {
    return static_cast<size_t>(unit >> 10) << ((unit & 1u << 9) >> 6);
  };
  constexpr uint32_t kValue = 1u << 31;
  const std::string_view replacements =
      std::string_view(bytes_).substr(kHeader + units_ * sizeof(uint32_t));
  std::optional<Match> best;
  const auto root = unit(0);
  if (!root) return best;
  size_t index = distance(*root);
  for (size_t size = 1; size <= text.size(); ++size) {
    const auto byte = static_cast<uint8_t>(text[size - 1]);
    if (byte == 0) break;
    index ^= byte;
    const auto node = unit(index);
    if (!node || (*node & (kValue | 0xFF)) != byte) break;
    index ^= distance(*node);
    if ((*node & 1u << 8) == 0) continue;
    const auto value = unit(index);
    if (!value) break;
    const size_t offset = *value & ~kValue;
    if (offset >= replacements.size()) break;
    const std::string_view rest = replacements.substr(offset);
    best = Match{size, rest.substr(0, rest.find('\0'))};
    if (first) break;
  }
  return best;
}

}  // namespace looseleaf
