#include "base/utf8.h"

#include <cstdint>

namespace looseleaf {

int utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (text.empty()) return -1;
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and values above U+10FFFF.
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size()) return -1;
    if (byte(i) < (i == 1 ? low : 0x80) || byte(i) > (i == 1 ? high : 0xBF)) return 0;
  }
  return static_cast<int>(length);
}

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const int length = utf8_length(text.substr(i));
    if (length <= 0) return i;
    i += static_cast<size_t>(length);
  }
  return std::nullopt;
}

std::string shown_as_utf8(std::string_view text) {
  std::string shown;
  while (const auto bad = find_invalid_utf8(text)) {
    shown.append(text.substr(0, *bad)).append("\xEF\xBF\xBD");
    text.remove_prefix(*bad + 1);
  }
  return shown.append(text);
}

}  // namespace looseleaf
