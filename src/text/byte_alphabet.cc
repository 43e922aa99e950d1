#include "text/byte_alphabet.h"

#include <array>

namespace looseleaf {
namespace {

struct Alphabet {
  std::array<std::string, 256> spelling;
  // [code point]: its byte, or -1. The 68 bytes without a printable form end at U+0143.
  std::array<int16_t, 0x144> byte;
};

constexpr bool is_printable_latin1(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.byte.fill(-1);
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const int code_point = is_printable_latin1(byte) ? byte : next++;
    alphabet.byte[static_cast<size_t>(code_point)] = static_cast<int16_t>(byte);
    std::string& spelling = alphabet.spelling[static_cast<size_t>(byte)];
    if (code_point < 0x80) {
      spelling = {static_cast<char>(code_point)};
    } else {
      spelling = {static_cast<char>(0xC0 | code_point >> 6),
                  static_cast<char>(0x80 | (code_point & 0x3F))};
    }
  }
  return alphabet;
}

const Alphabet& alphabet() {
  static const Alphabet instance = make_alphabet();
  return instance;
}

}  // namespace

std::string_view spell_byte(uint8_t byte) { return alphabet().spelling[byte]; }

std::optional<std::string> unspell_bytes(std::string_view spelling) {
  const Alphabet& table = alphabet();
  std::string bytes;
  bytes.reserve(spelling.size());
  for (size_t i = 0; i < spelling.size(); ++i) {
    const auto lead = static_cast<uint8_t>(spelling[i]);
    size_t code_point = lead;
    if (lead >= 0x80) {
      // U+0080 to U+017F, which holds the rest of the alphabet.
      if (lead < 0xC2 || lead > 0xC5 || i + 1 == spelling.size()) return std::nullopt;
      const auto trail = static_cast<uint8_t>(spelling[++i]);
      if ((trail & 0xC0) != 0x80) return std::nullopt;
      code_point = static_cast<size_t>((lead & 0x1F) << 6 | (trail & 0x3F));
    }
    if (code_point >= table.byte.size() || table.byte[code_point] < 0) return std::nullopt;
    bytes += static_cast<char>(table.byte[code_point]);
  }
  return bytes;
}

}  // namespace looseleaf
