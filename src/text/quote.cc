#include "text/quote.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/utf8.h"

namespace looseleaf {

std::string quote(std::string_view text) {
  constexpr size_t kShown = 48;
  std::string out = "'";
  size_t i = 0;
  while (i < text.size() && i < kShown) {
    const int length = utf8_length(text.substr(i));
    const auto byte = static_cast<uint8_t>(text[i]);
    if (length <= 0 || byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
      ++i;
    } else {
      out += text.substr(i, static_cast<size_t>(length));
      i += static_cast<size_t>(length);
    }
  }
  out += i < text.size() ? "...'" : "'";
  return out;
}

}  // namespace looseleaf
