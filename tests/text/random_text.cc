#include "text/random_text.h"

#include <array>
#include <string_view>

namespace looseleaf {
namespace {

constexpr std::array<std::string_view, 24> kParts = {
    "the",  " hello", "WORLD",  "it's", " I'LL",  "42",    "3.14", "_x",
    " == ", "\n",     "\r\n",   "\t",   "  ",     "     ", "é",    "e\u0301",
    "世界", "한",     "\u200D", "🦙", "\u3000", "<|",    "|>",   "<think>"};

void append_utf8(std::string& text, uint32_t code_point) {
  const auto trail = [&](int shift) {
    text += static_cast<char>(0x80 | (code_point >> shift & 0x3F));
  };
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += static_cast<char>(0xC0 | code_point >> 6);
    trail(0);
  } else if (code_point < 0x10000) {
    text += static_cast<char>(0xE0 | code_point >> 12);
    trail(6);
    trail(0);
  } else {
    text += static_cast<char>(0xF0 | code_point >> 18);
    trail(12);
    trail(6);
    trail(0);
  }
}

}  // namespace

std::string random_text(std::mt19937& random, size_t max_parts) {
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  std::string text;
  for (size_t n = below(max_parts + 1); n > 0; --n) {
    if (below(3) != 0) {
      text += kParts[below(kParts.size())];
      continue;
    }
    constexpr std::array<size_t, 4> kEnds = {0x80, 0x800, 0x10000, 0x110000};
    auto code_point = static_cast<uint32_t>(below(kEnds[below(kEnds.size())]));
    if (code_point >= 0xD800 && code_point < 0xE000) code_point -= 0x800;
    append_utf8(text, code_point);
  }
  return text;
}

}  // namespace looseleaf
